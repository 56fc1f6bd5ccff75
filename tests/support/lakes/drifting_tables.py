"""A bronze dataset over a Delta table of others that changes its schema piece by piece."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.model.schema_changes import SchemaChange
from openlaketx.engine.delta_table import schema_of
from tests.support.cases.schema_changes import PIECES, Cells, Row
from tests.support.projects.folders import applied, apply_again, run

NAME = DatasetName("bronze.drifting")
SOURCE = "source: things\nformat: delta\npath: table\n"


class Drifting:
    """Keyed by ``id`` and partitioned by ``part``; its first version has one row, as declared."""

    def __init__(self, folder: Path, profile: str, reactions: str = "") -> None:
        self.folder, self.profile = folder, profile
        own: dict[str, str | bytes] = {
            f"definitions/profiles/{profile}.yaml": f"profile: {profile}\nreactions: {reactions}\n"
        }
        self.client: Client = applied(folder, {**(own if reactions else {}), **self._files(())})
        self.land((), {1: {}})
        first = self.run()
        assert first.version == 1, first.error or first.decision
        assert self.answers() == {}

    def say(self, changed: Collection[SchemaChange], profile: str = "") -> None:
        self.profile = profile or self.profile
        for file, text in self._files(changed).items():
            (self.folder / file).write_text(str(text))
        apply_again(self.client, self.folder)

    def land(self, changed: Collection[SchemaChange], rows: Mapping[int, Row]) -> None:
        """The source's table anew, with these changes; rows by id, with what is odd in them."""
        fields: list[pa.Field] = []
        row: dict[str, Any] = {}
        for change, piece in PIECES.items():
            now = change in changed
            cells: Cells = piece.after if now else piece.before
            firm = piece.never_null[now]
            fields += [pa.field(name, kind, name not in firm) for name, (kind, _) in cells.items()]
            row |= {name: value for name, (_, value) in cells.items()}
        schema = pa.schema(fields)
        made = [{**row, **odd, "id": number} for number, odd in rows.items()]
        place = str(self.folder / "table")
        DeltaTable.create(place, schema, mode="overwrite")
        write_deltalake(place, pa.Table.from_pylist(made, schema), mode="append")

    def run(self) -> RunResult:
        return run(self.client, NAME)

    @property
    def location(self) -> Path:
        return self.folder / "bronze" / "drifting"

    def rows(self) -> dict[int, dict[str, Any]]:
        """What a reader of the table sees, by id."""
        table = DeltaTable(str(self.location)).to_pyarrow_table()
        return {row["id"]: row for row in table.to_pylist()}

    def types(self) -> dict[str, str]:
        found = schema_of(DeltaTable(str(self.location)))
        return {column.name: column.type for column in found.columns}

    def answers(self) -> dict[SchemaChange, tuple[str, str]]:
        """What was answered to each class of change, and of which column it was told."""
        seen = self.client.reader.schemas(NAME)[0]
        found = {SchemaChange(item.change): item for item in seen.differences}
        assert len(found) == len(seen.differences), "each class once"
        return {change: (item.column, str(item.reaction)) for change, item in found.items()}

    def quarantined(self, result: RunResult) -> set[int]:
        """Ids of the rows that a run quarantined."""
        place = self.folder / "quarantine/bronze/drifting" / f"execution_id={result.run_id}"
        lines = [line for file in place.glob("*.json") for line in file.read_text().splitlines()]
        return {json.loads(line)["id"] for line in lines}

    def _files(self, changed: Collection[SchemaChange]) -> dict[str, str | bytes]:
        given: dict[str, str] = {}
        for change, piece in PIECES.items():
            given |= piece.declared
            given |= piece.redeclared if change in changed else {}
        columns = "".join(f"  {name}: {{type: {kind}}}\n" for name, kind in given.items())
        return {
            "definitions/sources/things.yaml": SOURCE,
            "definitions/bronze/drifting.yaml": (
                f"dataset: {NAME}\nowner: tests\ndomain: shop\nsource: things\n"
                "load: {type: INCREMENTAL, keys: [id], partition_by: [part]}\n"
                f"schema: {{profile: {self.profile}}}\ncolumns:\n{columns}"
            ),
        }
