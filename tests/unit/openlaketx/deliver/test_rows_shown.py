"""Reading what a version shows: questions first, then all rows, on one connection."""

from __future__ import annotations

from openlaketx.engine.duckdb_reader import duckdb_reader


def test_a_question_does_not_stand_in_the_way_of_the_rows() -> None:
    with duckdb_reader() as reader:
        assert reader.row("SELECT count(*) FROM range(5) WHERE range < $most", {"most": 3}) == (3,)
        batches = reader.batches("SELECT range AS n FROM range(5000)", {}, 1000)
        assert sum(batch.num_rows for batch in batches) == 5000
        assert reader.row("SELECT 1", {}) == (1,)
