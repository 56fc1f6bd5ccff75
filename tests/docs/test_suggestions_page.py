"""The rules that the flights suggest: as the page lists them, kept by every flight, and each fails
on the change that stands beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from deltalake import DeltaTable

from demo.suggested import LOOKED_AT, PAGE, flights_suggestions, flights_table, listed, parts
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.insight.suggestions import Suggestion, tried
from lakeguard.insight.suggestions.suggestion import Draft
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.model.source_preview import SourcePreview
from openlaketx.engine.delta_table import schema_of
from tests.support.cases.suggestions import Rows


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    return flights_table(tmp_path_factory.mktemp("flights"))


@pytest.fixture(scope="module")
def suggested(place: str) -> tuple[SourcePreview, list[Suggestion]]:
    return flights_suggestions(place)


@pytest.fixture(scope="module")
def flights(place: str, tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """All flights in one file."""
    file = tmp_path_factory.mktemp("rows") / "flights.parquet"
    table = DeltaTable(place)
    duckdb.execute(f"COPY (FROM read_parquet({table.file_uris()})) TO '{file}' (FORMAT parquet)")
    return Rows(file, schema_of(table))


def trial_drafts(found: list[Suggestion]) -> Iterator[Draft]:
    for item in found:
        given = item.model_dump(exclude={"confidence", "results"})
        yield Draft.model_validate({**given, "strength": item.confidence})


def test_the_page_lists_what_the_flights_suggest(
    suggested: tuple[SourcePreview, list[Suggestion]],
) -> None:
    assert parts(PAGE.read_text("utf-8"))[1] == listed(*suggested)


def test_every_flight_keeps_every_rule_and_each_change_breaks_its_own(
    suggested: tuple[SourcePreview, list[Suggestion]], flights: Rows, tmp_path: Path
) -> None:
    sketch, found = suggested
    trials = tried(trial_drafts(found), flights.schema)
    assert len(trials) == len(found) > 30
    assert flights.count == sketch.rows == 336_776
    held = flights.held(trials, LOOKED_AT)
    assert {reported.outcome for reported in held} == {Outcome.PASS}
    for trial in trials:
        changed = flights.changed(trial.draft.mutation, tmp_path / "changed.parquet")
        (reported,) = changed.held([trial], LOOKED_AT)
        assert reported.outcome in (Outcome.FAIL, Outcome.WARN), (trial.draft.rule, reported)


def test_every_rule_that_is_ever_drafted_is_explained() -> None:
    text = PAGE.read_text("utf-8").partition("## What is suggested")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+)", cell)}
    assert named <= {rule.name for rule in RULE_TYPES}
    assert named == {
        *("not_null", "unique", "in_set", "range", "gt", "ge", "sql_row", "format", "regex"),
        *("length", "not_future", "freshness", "foreign_key", "row_count", "null_drift"),
    }
