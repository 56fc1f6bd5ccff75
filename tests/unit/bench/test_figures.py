"""Kept figures have the shape that others read, and a missed bar shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.__main__ import main
from bench.figures import RESULTS, Figure, keep, show

KEYS = {"name", "at", "machine", "figures"}
FIGURE_KEYS = {"figure", "value", "unit", "bar", "ok"}
OPTIONAL_KEYS = {"least", "note"}


@pytest.mark.parametrize(
    ("value", "bar", "ok"), [(1.0, 1.0, True), (1.01, 1.0, False), (9.0, None, True)]
)
def test_a_bar_is_the_most_that_is_allowed(value: float, bar: float | None, ok: bool) -> None:
    assert Figure("x", value, "s", bar).ok is ok


@pytest.mark.parametrize(("value", "ok"), [(999.0, False), (1000.0, True), (1001.0, True)])
def test_a_bar_may_be_the_least_that_is_needed(
    value: float, ok: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    figure = Figure("x", value, "/s", 1000.0, least=True, note="of few words")
    assert figure.ok is ok
    show("tried", [figure])
    reported = capsys.readouterr().out
    assert f"bar at least 1000   {'ok' if ok else 'MISSED'}" in reported
    assert "of few words" in reported
    assert figure.to_data().keys() == FIGURE_KEYS | OPTIONAL_KEYS


def test_what_is_kept(tmp_path: Path) -> None:
    keep("tried", [Figure("ratio", 0.123456, "x", 1.0)], tmp_path)
    document = json.loads((tmp_path / "tried.json").read_text())
    assert document.keys() == KEYS
    assert document["figures"] == [
        {"figure": "ratio", "value": 0.123, "unit": "x", "bar": 1.0, "ok": True}
    ]


def test_figures_in_the_repository_meet_their_bars_or_say_why_not() -> None:
    for file in RESULTS.glob("*.json"):
        document = json.loads(file.read_text())
        assert document.keys() == KEYS
        assert all(figure.keys() - OPTIONAL_KEYS == FIGURE_KEYS for figure in document["figures"])
        assert all(figure["ok"] or figure.get("note") for figure in document["figures"])


def test_a_benchmark_that_does_not_exist_is_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guarded"]) == 2
    assert "guarded_write" in capsys.readouterr().out
