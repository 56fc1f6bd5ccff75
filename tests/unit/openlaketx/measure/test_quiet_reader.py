"""What DuckDB has to say while it works never gets among the answers of a command."""

from __future__ import annotations

import pytest

from openlaketx.engine.duckdb_reader import duckdb_reader

SLOW = "SELECT count(DISTINCT hash(i)) FROM range(5000000) t(i)"


def test_a_slow_question_writes_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Answers for programs stand on standard output; a progress bar there would break them."""
    with duckdb_reader() as reader:
        reader.rows("SET progress_bar_time = 1", {})
        assert reader.row(SLOW, {}) == (5_000_000,)
    reported = capfd.readouterr()
    assert (reported.out, reported.err) == ("", "")
