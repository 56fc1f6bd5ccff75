"""One real run as a mould: its rows and its commit, cast again under other ids and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Table, func, select

from lakeguard.state import schema as state
from lakeguard_sdk.core.canonical_json import format_instant, hash_bytes
from lakeguard_sdk.model.delta_log import log_file

Row = dict[str, Any]
Rows = list[tuple[Table, Row]]

ORDER = (
    state.tasks,
    state.task_attempts,
    state.documents,
    state.run_openings,
    state.run_schemas,
    state.decisions,
    state.promotion_status,
    state.intents,
    state.intent_outcomes,
    state.data_versions,
    state.materializations,
    state.dataset_pointers,
    state.run_history,
)
"""A table stands after those that it refers to."""

_IDS = ("run_id", "task_id", "decision_id", "intent_id", "version_id", "materialization_id")
_TIMES = {"decisions": "decided_at", "run_history": "end_time"}
"""Times that are also within texts."""


@dataclass(frozen=True)
class Mould:
    """The rows of one published run, its commit file and its data file."""

    location: str
    rows: Rows
    commit: str
    file: Path
    number: int
    """Its version, number and commit: all the same on a table that only ever published."""

    def cast(self, number: int, name: int) -> tuple[Rows, str, str]:
        """Rows, the commit's text and the file's path of a run with another number."""
        later = timedelta(seconds=number)
        words = dict(self._words(number, name, later))
        rows: Rows = []
        hashes: dict[str, str] = {}
        for (table, row), varying in zip(self.rows, self._varying, strict=True):
            made = {**row, **{key: _cast(row[key], words, later) for key in varying}}
            if table is state.documents:
                made["content_hash"] = hash_bytes(made["body"].encode())
                hashes[row["content_hash"]] = made["content_hash"]
            rows.append((table, made))
        commit = _replaced(self.commit, words)
        sha256 = hash_bytes(commit.encode())
        for table, made in rows:
            self._renumber(table, made, number, sha256)
            for key, value in made.items():
                if value in hashes:
                    made[key] = hashes[value]
        path = _replaced(str(self.file.relative_to(self.location)), words)
        return rows, commit, path

    @cached_property
    def _varying(self) -> list[list[str]]:
        """Per row, the columns that another run has otherwise."""
        words = [old for old, _ in self._words(0, 0, timedelta())]
        return [
            [
                key
                for key, value in row.items()
                if isinstance(value, datetime)
                or (isinstance(value, str) and any(word in value for word in words))
            ]
            for _, row in self.rows
        ]

    def _words(self, number: int, name: int, later: timedelta) -> Iterator[tuple[str, str]]:
        for table, row in self.rows:
            for key in _IDS:
                if row.get(key):
                    yield row[key], f"{row[key].partition('_')[0]}_{name:026d}"
            if table.name in _TIMES:
                moment = row[_TIMES[table.name]]
                yield format_instant(moment), format_instant(moment + later)
        yield f'"seq":{self.number}', f'"seq":{number}'
        yield f'"base_commit":{self.number - 1}', f'"base_commit":{number - 1}'
        yield f'"version":{self.number}', f'"version":{number}'

    def _renumber(self, table: Table, row: Row, number: int, sha256: str) -> None:
        numbered = {"version", "seq", "commit_version"}
        if table is state.dataset_pointers:
            numbered.add("ordinal")
        for key in numbered & row.keys():
            if row[key] is not None:
                row[key] = number
        if "commit_sha256" in row:
            row["commit_sha256"] = sha256
        if "snapshot_ref" in row:
            row["snapshot_ref"] = f"{row['snapshot_ref'].partition('@')[0]}@{number}"
        if table is state.run_openings:
            row["base_version"] = row["base_commit"] = number - 1


def mould_of(connection: Connection, run_id: str, location: str) -> Mould:
    """From the State's rows of a run and the commit it made."""
    (task_id,) = _values(connection, state.task_attempts.c.run_id, run_id, "task_id")
    (intent_id,) = _values(connection, state.intents.c.run_id, run_id, "intent_id")
    (decision_id,) = _values(connection, state.decisions.c.run_id, run_id, "decision_id")
    (evidence,) = _values(connection, state.decisions.c.run_id, run_id, "evidence_hash")
    (plan,) = _values(connection, state.run_openings.c.run_id, run_id, "plan_hash")
    (version,) = _values(connection, state.data_versions.c.run_id, run_id, "version")
    chosen: dict[Table, tuple[str, Iterable[str]]] = {
        state.tasks: ("task_id", [task_id]),
        state.documents: ("content_hash", [evidence, plan]),
        state.intent_outcomes: ("intent_id", [intent_id]),
        state.dataset_pointers: ("decision_id", [decision_id]),
    }
    rows: Rows = []
    for table in ORDER:
        column, wanted = chosen.get(table, ("run_id", [run_id]))
        found = connection.execute(select(table).where(table.c[column].in_(list(wanted))))
        rows += [(table, dict(row._mapping)) for row in found]
    commit = Path(log_file(location, version)).read_text("utf-8")
    file, *_ = sorted((Path(location) / "runs" / run_id).glob("*.parquet"))
    return Mould(location, rows, commit, file, version)


def renumber(connection: Connection, rows: dict[Table, list[Row]]) -> None:
    """Rows of numbered tables follow those that are there."""
    for table in (state.promotion_status, state.run_history):
        last = connection.scalar(select(func.max(table.c.ordinal))) or 0
        for place, row in enumerate(rows[table], last + 1):
            row["ordinal"] = place


def _values(connection: Connection, key: Column[str], value: str, name: str) -> list[Any]:
    return list(connection.scalars(select(key.table.c[name]).where(key == value)))


def _cast(value: Any, words: dict[str, str], later: timedelta) -> Any:
    if isinstance(value, datetime):
        return value + later
    return _replaced(value, words) if isinstance(value, str) else value


def _replaced(text: str, words: dict[str, str]) -> str:
    if text in words:
        return words[text]
    if len(text) < 20:
        return text
    for old, new in words.items():
        text = text.replace(old, new)
    return text
