"""A dataset that stands under many rules at once, with rows that keep all of them or none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.model.run import RunResult
from tests.support.projects.folders import applied, apply_again, run

NAME = DatasetName("bronze.checked")
CODES = DatasetName("bronze.codes")
GOOD_ROWS, BAD_ROWS = 4, 6
"""The last two bad rows have a value nowhere."""

_TYPES = {
    "string": pa.string(), "long": pa.int64(), "integer": pa.int32(), "double": pa.float64(),
    "decimal(9,2)": pa.decimal128(9, 2), "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"), "boolean": pa.bool_(),
    "array<string>": pa.list_(pa.string()), "array<integer>": pa.list_(pa.int32()),
    "map<string,long>": pa.map_(pa.string(), pa.int64()),
}  # fmt: skip


class Values(NamedTuple):
    """A column: its type, four good values and four bad ones."""

    declared: str
    """Nothing where the column is only in the bad file."""
    good: list[Any]
    bad: list[Any]
    found: str = ""
    """Its type in the bad file, where that is another."""


@dataclass(frozen=True)
class Case:
    """A rule, and the columns that it looks at."""

    rule: str
    failed: tuple[int | None, ...]
    """How many of the bad rows fail each rule that it stands for; None where no row does."""
    columns: Mapping[str, Values] = field(default_factory=dict)
    broken: str = ""
    """A rule that the table breaks, where no row can break the other."""


def case(rule: str, *failed: int | None, broken: str = "", **columns: tuple[Any, ...]) -> Case:
    return Case(rule, failed, {name: Values(*given) for name, given in columns.items()}, broken)


class Checked:
    """The dataset of all columns of the cases, under the rules of all cases."""

    def __init__(self, folder: Path, cases: Mapping[str, Case], **details: str) -> None:
        self.folder, self.cases, self.details, self.landed = folder, cases, details, 0
        self.columns: dict[str, Values] = {}
        for each in cases.values():
            assert not self.columns.keys() & each.columns.keys(), "a column has one rule"
            self.columns |= each.columns
        (folder / "in").mkdir(parents=True)
        (folder / "codes").mkdir()
        (folder / "codes" / "codes.csv").write_text("code\nA\nB\nA\nB\n")
        self.client: Client = applied(folder, self._files())

    def say(self, *broken: str, severity: str = "", **details: str) -> None:
        """The definition anew: with rules in their broken form, or of another severity."""
        self.details |= details
        for file, text in self._files(*broken, severity=severity).items():
            (self.folder / file).write_text(str(text))
        apply_again(self.client, self.folder)

    def land(self, *, good: bool) -> None:
        for old in (self.folder / "in").glob("*.parquet"):
            old.unlink()
        self.landed += 1
        table = _good(self.columns) if good else _bad(self.columns)
        pq.write_table(table, self.folder / "in" / f"{self.landed}.parquet")

    def run(self) -> RunResult:
        """After what its keys are held against."""
        if not self.client.reader.versions(CODES):
            assert run(self.client, CODES).version == 1
        return run(self.client, NAME)

    @property
    def declared(self) -> dict[str, str]:
        return {
            name: reported.declared for name, reported in self.columns.items() if reported.declared
        }

    def _files(self, *broken: str, severity: str = "") -> dict[str, str | bytes]:
        columns = "".join(f'  {name}: {{type: "{kind}"}}\n' for name, kind in self.declared.items())
        rules = "".join(
            self._rule(name, each.broken if name in broken else each.rule, severity)
            for name, each in self.cases.items()
        )
        details = ", ".join(f"{key}: {value}" for key, value in self.details.items())
        partitions = "kind" if "kind" in self.columns else ""
        return {
            "definitions/sources/things.yaml": _source("things", "parquet"),
            "definitions/sources/codes.yaml": _source("codes", "csv"),
            "definitions/bronze/codes.yaml": (
                f"dataset: {CODES}\nowner: tests\ndomain: shop\nsource: codes\n"
                "columns:\n  code: {type: string}\n"
            ),
            "definitions/bronze/checked.yaml": (
                f"dataset: {NAME}\nowner: tests\ndomain: shop\nsource: things\n"
                f"load: {{type: FULL, partition_by: [{partitions}]}}\n"
                f"schema: {{profile: PERMISSIVE}}\ndetails: {{{details}}}\n"
                f"columns:\n{columns}rules:\n{rules}"
            ),
        }

    def _rule(self, name: str, rule: str, severity: str) -> str:
        listed = ", ".join(f"'{column}'" for column in self.declared)
        text = rule.replace("<count>", str(len(self.declared))).replace("<names>", listed)
        given = f", severity: {severity}" if severity else ""
        return f'  - {{id: "{name}", rule: {json.dumps(text)}{given}}}\n'


def _source(name: str, kind: str) -> str:
    folder = "in" if kind == "parquet" else name
    return f"source: {name}\nformat: {kind}\npath: {folder}/*.{kind}\n"


def _good(columns: Mapping[str, Values]) -> pa.Table:
    arrays = {
        name: pa.array(_exactly(name, reported.good), _TYPES[reported.declared])
        for name, reported in columns.items()
        if reported.declared
    }
    return pa.table(arrays)


def _bad(columns: Mapping[str, Values]) -> pa.Table:
    empty = [None] * (BAD_ROWS - GOOD_ROWS)
    return pa.table(
        {
            name: pa.array(
                _exactly(name, reported.bad) + empty, _TYPES[reported.found or reported.declared]
            )
            for name, reported in columns.items()
        }
    )


def _exactly(name: str, values: list[Any]) -> list[Any]:
    assert len(values) == GOOD_ROWS, name
    return values
