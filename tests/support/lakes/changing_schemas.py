"""A bronze dataset over files of Parquet whose schema changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.model.run import RunResult
from tests.support.projects.folders import applied, apply_again, run

NAME = DatasetName("bronze.things")
SOURCE = "source: things\nformat: parquet\npath: in/*.parquet\n"

ONE = {"id": "long", "n": "integer", "s": "string"}
ONE_FILE = pa.schema([("id", pa.int64()), ("n", pa.int32()), ("s", pa.string())])


class Things:
    """One bronze dataset over files of Parquet."""

    def __init__(self, folder: Path, columns: dict[str, str], **given: str) -> None:
        self.folder, self.landed = folder, 0
        self.columns, self.settings = columns, given
        (folder / "in").mkdir(parents=True)
        self.client: Client = applied(folder, self._files())

    def _files(self) -> dict[str, str | bytes]:
        listed = "".join(f"  {name}: {{type: {kind}}}\n" for name, kind in self.columns.items())
        rest = "".join(f"{key}: {value}\n" for key, value in self.settings.items())
        head = f"dataset: {NAME}\nowner: tests\ndomain: shop\nsource: things\n"
        return {
            "definitions/sources/things.yaml": SOURCE,
            "definitions/bronze/things.yaml": f"{head}{rest}columns:\n{listed}",
        }

    def say(self, **given: str) -> None:
        self.settings |= given
        for file, text in self._files().items():
            (self.folder / file).write_text(str(text))
        apply_again(self.client, self.folder)

    def land(self, schema: pa.Schema, *rows: dict[str, Any]) -> None:
        for old in (self.folder / "in").glob("*.parquet"):
            old.unlink()
        table = pa.Table.from_pylist(list(rows), schema=schema)
        self.landed += 1
        pq.write_table(table, self.folder / "in" / f"{self.landed}.parquet")

    def run(self) -> RunResult:
        return run(self.client, NAME)

    def rows(self) -> dict[int, dict[str, Any]]:
        """What a reader of the table sees, by id."""
        table = DeltaTable(str(self.folder / "bronze" / "things")).to_pyarrow_table()
        return {row["id"]: row for row in table.to_pylist()}

    def answers(self) -> dict[str, str]:
        seen = self.client.reader.schemas(NAME)[0]
        return {f"{item.change} {item.column}": str(item.reaction) for item in seen.differences}


def one(folder: Path, load: str, profile: str) -> Things:
    made = Things(folder, ONE, load=load, schema=f"{{profile: {profile}}}")
    made.land(ONE_FILE, {"id": 1, "n": 1, "s": "a"}, {"id": 2, "n": 2, "s": "b"})
    assert made.run().version == 1
    return made
