"""File pruning by key, without reading the table."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.storage.storage import storage_for
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import LiveFile
from openlaketx.loads.file_pruning import files_with_keys, staged_range
from openlaketx.loads.table_state import Existing, comparable
from openlaketx.stage.candidate import Candidate, collect_folder


def batch(
    folder: Path,
    schema: TableSchema,
    redacted_statistics: tuple[str, ...] = (),
    **columns: list[Any],
) -> Candidate:
    place = folder / "runs" / "r1"
    place.mkdir(parents=True)
    pq.write_table(pa.table(columns), place / "part-0.parquet")
    storage = storage_for(str(folder))
    return collect_folder(
        str(folder), "runs/r1", schema, "bronze.t", storage, redacted_statistics=redacted_statistics
    )


def table(schema: TableSchema, ranges: dict[str, dict[str, tuple[Any, Any]]]) -> Existing:
    files = {path: LiveFile(path, 1, 10) for path in ranges}
    described = {
        path: {name: (comparable(low), comparable(high)) for name, (low, high) in found.items()}
        for path, found in ranges.items()
    }
    return Existing("x", schema, files, described, {path: {} for path in ranges})


def schema(**types: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in types.items()))


@pytest.mark.parametrize(
    ("data_type", "values", "ranges", "held"),
    [
        ("long", [5, 900], {"a": (0, 9), "b": (10, 99), "c": (100, 999)}, {"a", "c"}),
        ("long", [10, 99], {"a": (0, 9), "b": (10, 20), "c": (21, 98), "d": (99, 99)}, {"b", "d"}),
        ("string", ["b", "ü"], {"a": ("a", "az"), "b": ("b", "b"), "c": ("c", "z")}, {"b"}),
        (
            "date",
            [date(2024, 1, 1), date(2024, 12, 31)],
            {"a": (date(2023, 1, 1), date(2024, 1, 1)), "b": (date(2024, 2, 1), date(2024, 3, 1))},
            {"a"},
        ),
    ],
)
def test_a_file_between_the_keys_of_a_batch_is_left_out(
    tmp_path: Path,
    data_type: str,
    values: list[Any],
    ranges: dict[str, tuple[Any, Any]],
    held: set[str],
) -> None:
    declared = schema(k=data_type)
    live = table(declared, {path: {"k": between} for path, between in ranges.items()})
    assert files_with_keys(live, batch(tmp_path, declared, k=values), declared, ["k"]) == held


@pytest.mark.parametrize(("data_type", "values"), [("long", [3, 41]), ("string", ["ä", "b"])])
def test_what_statistics_may_not_tell_the_staged_files_do(
    tmp_path: Path, data_type: str, values: list[Any]
) -> None:
    staged = batch(tmp_path, schema(k=data_type), ("k",), k=[*values, None])
    assert json.loads(staged.files[0].stats)["maxValues"] == {}
    assert staged_range(staged, "k", data_type) == (min(values), max(values))


def test_a_file_of_which_nothing_is_known_may_hold_any_key(tmp_path: Path) -> None:
    declared = schema(k="long")
    live = table(declared, {"a": {}, "b": {"k": (50, 60)}})
    assert files_with_keys(live, batch(tmp_path, declared, k=[1, 99]), declared, ["k"]) == {"a"}


def test_every_column_of_the_key_must_be_in_the_file(tmp_path: Path) -> None:
    declared = schema(k="long", g="string")
    live = table(
        declared,
        {
            "a": {"k": (0, 9), "g": ("a", "a")},
            "b": {"k": (0, 9), "g": ("m", "m")},
            "c": {"k": (20, 29), "g": ("a", "a")},
        },
    )
    found = batch(tmp_path, declared, k=[1, 90], g=["a", "z"])
    assert files_with_keys(live, found, declared, ["k", "g"]) == {"a"}


def test_a_missing_key_names_no_file(tmp_path: Path) -> None:
    declared = schema(k="long")
    live = table(declared, {"a": {"k": (0, 9)}, "b": {"k": (5, 15)}})
    found = batch(tmp_path, declared, k=[None, 12])
    assert files_with_keys(live, found, declared, ["k"]) == {"b"}
