"""Rendering of ``show``: everything about one dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from lakeguard.cli.rendering.checks import facts_rows, notes_lines
from lakeguard.cli.rendering.runs import moves_lines, runs_lines
from lakeguard.cli.rendering.status import badge_of, stream_lines
from lakeguard.cli.terminal.layout import (
    columns,
    indented,
    moment,
    strong,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    FromFrame,
    FromSource,
    Pending,
    TargetDefinition,
)
from lakeguard_sdk.model.delivery import database_table
from lakeguard_sdk.model.read_models import (
    ColumnLineage,
    DatasetStatus,
    OpenRun,
    PointerMove,
    RuleRow,
    RunFacts,
    RunRow,
)


@dataclass(frozen=True)
class DatasetPage:
    """Contents of the page."""

    status: DatasetStatus
    definition: DatasetDefinition
    rules: Sequence[RuleRow]
    runs: Sequence[RunRow]
    moves: Sequence[PointerMove]
    facts: RunFacts | None = None
    """Of the run that built the published version."""
    target: TargetDefinition | None = None
    lineage: Sequence[ColumnLineage] = ()
    """Of the published version."""
    published_columns: Sequence[str] | None = None
    """Of the published version; None if there is none."""

    def to_data(self) -> dict[str, object]:
        return {
            "status": self.status.to_data(),
            "definition": self.definition.to_data(),
            "target": self.target.to_data() if self.target else None,
            "rules": [rule.to_data() for rule in self.rules],
            "runs": [run.to_data() for run in self.runs],
            "moves": [move.to_data() for move in self.moves],
            "facts": self.facts.to_data() if self.facts else None,
            "lineage": [edge.to_data() for edge in self.lineage],
        }


def show_lines(page: DatasetPage, now: datetime) -> list[str]:
    row = page.status.dataset
    lines = [f"{badge_of(page.status)}  {strong(row.dataset_name)}"]
    if row.description:
        lines.append(escaped(row.description))
    return [
        *lines,
        *indented(columns(_facts(page))),
        *_notes(page),
        *_section("Columns", _columns(page)),
        *_section(plural(len(page.rules), "rule"), _rules(page.rules)),
        *_section("Last runs", runs_lines(page.runs, now, _open_runs(page.status))),
        *_section("Publications", moves_lines(page.moves)),
        *_streams(page.status, now),
    ]


def _streams(status: DatasetStatus, now: datetime) -> list[str]:
    return _section("Streams", stream_lines(status, now)) if status.streams else []


def _open_runs(status: DatasetStatus) -> list[OpenRun]:
    return [] if status.open_run is None else [status.open_run]


def _facts(page: DatasetPage) -> list[tuple[str, str]]:
    row, status = page.status.dataset, page.status
    facts = [
        ("owner", escaped(row.owner)),
        ("domain", escaped(row.domain)),
        *_build(page.definition),
        *_target(page),
        ("revision", f"{row.revision}, first registered {moment(row.created_at)}"),
    ]
    if not row.active:
        facts.append(("active", "no"))
    if status.published is None:
        return [*facts, ("published", "nothing yet")]
    at = f" since {moment(status.published_at)}" if status.published_at else ""
    rows = "" if status.table_rows is None else f", {plural(status.table_rows, 'row')}"
    return [*facts, ("published", f"v{status.published}{rows}{at}"), *facts_rows(page.facts)]


def _notes(page: DatasetPage) -> list[str]:
    if page.facts is None or not page.facts.notes:
        return []
    return _section(f"Notes of v{page.status.published}", notes_lines(page.facts.notes))


def _build(definition: DatasetDefinition) -> list[tuple[str, str]]:
    return [("built from", _origin(definition)), ("load", definition.load.type.value)]


def _target(page: DatasetPage) -> list[tuple[str, str]]:
    """The target, and its live table if it is a database."""
    if page.target is None:
        return []
    target, name = page.target, page.status.dataset.dataset_name
    facts = [("target", f"{target.target} ({target.format.value}, {escaped(target.location)})")]
    table = database_table(target, name)
    if table is None:
        return facts
    location = f"{escaped(table.full_name)} at {escaped(table.url)}: live, unversioned copy of"
    return [*facts, ("live table", f"{location} the published version")]


def _origin(definition: DatasetDefinition) -> str:
    if isinstance(definition.build, FromSource):
        return f"source {definition.build.source}"
    if isinstance(definition.build, Pending):
        return "pending: it has no build yet"
    if isinstance(definition.build, FromFrame):
        return "a DataFrame published by a program"
    return f"{', '.join(definition.parents)} ({escaped(definition.build.file)})"


def _columns(page: DatasetPage) -> list[str]:
    rows = [
        [
            escaped(column.name),
            column.type,
            " ".join(f"#{escaped(tag)}" for tag in column.tags),
            _declared(column) or _made_of(column.name, page),
            escaped(column.description),
        ]
        for column in page.definition.columns
    ]
    return columns(rows)


def _declared(column: ColumnDefinition) -> str:
    """What a person declared it to be made of."""
    if column.clean:
        return f"declared clean: {escaped(column.clean)}"
    if column.derived_from:
        made_of = ", ".join(map(escaped, column.derived_from))
        return f"declared from {made_of}: {escaped(column.reason)}"
    return ""


def _made_of(column: str, page: DatasetPage) -> str:
    """Its input columns; empty without lineage."""
    if page.published_columns is not None and column not in page.published_columns:
        return "not in the published version"
    if not page.lineage:
        return ""
    own = [edge for edge in page.lineage if edge.column == column]
    if not own:
        return "from no column"
    unknown = [edge.input for edge in own if edge.input_column is None]
    if unknown:
        return f"from {', '.join(unknown)}, columns unknown"
    return "from " + ", ".join(f"{edge.input}.{escaped(edge.input_column or '')}" for edge in own)


def _rules(rules: Sequence[RuleRow]) -> list[str]:
    rows = [
        [
            escaped(rule.rule_id),
            rule.severity.value,
            escaped(rule.rule_expression),
            "" if rule.active else "off",
        ]
        for rule in rules
    ]
    return columns(rows) or ["none"]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return ["", strong(title), *indented(lines)]
