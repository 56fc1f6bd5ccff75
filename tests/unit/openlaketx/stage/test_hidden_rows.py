"""A footer cannot hide rows from readers that skip by it."""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.errors import StagingFailed
from openlaketx.stage.footer_ranges import check_footers
from tests.support.lakes.forged_parquet import I32, I64, LIST, STRUCT, TEXT, Edit, Forged, forged
from tests.unit.openlaketx.stage.test_file_layout import by_duckdb
from tests.unit.openlaketx.stage.test_footer_check import candidate

NUMBERS = pa.table({"t": range(12)})
TEXTS = pa.table({"t": [f"v{number:02}" for number in range(40)]})
FALLBACK = {
    "use_dictionary": True, "dictionary_pagesize_limit": 40, "data_page_size": 16,
    "write_batch_size": 4,
}  # fmt: skip
"""The first pages use the dictionary, and the others do not."""
OLD, NEW = {"highest": 1, "lowest": 2}, {"highest": 5, "lowest": 6}


def number(value: int) -> bytes:
    return struct.pack("<q", value)


def told(fields: dict[str, int], lowest: Any, highest: Any) -> dict[int, tuple[int, bytes]]:
    return {fields["lowest"]: (TEXT, lowest), fields["highest"]: (TEXT, highest)}


def bounds(*given: dict[int, tuple[int, bytes]], without_order: bool = False) -> Edit:
    def edit(file: Forged) -> None:
        statistics = file.data[12][1]
        for field in (*OLD.values(), *NEW.values()):
            statistics.pop(field, None)
        for one in given:
            statistics.update(one)
        if without_order:
            del file.footer[7]

    return edit


def half(file: Forged) -> None:
    bounds({NEW["highest"]: (TEXT, number(2))})(file)


LOW, TRUE = (number(0), number(2)), (number(0), number(11))
RANGES: dict[str, tuple[pa.Table, Edit, str]] = {
    "only the older fields": (NUMBERS, bounds(told(OLD, *LOW)), "t has two ranges of values"),
    "other older fields": (
        NUMBERS,
        bounds(told(OLD, *LOW), told(NEW, *TRUE)),
        "t has two ranges of values",
    ),
    "older fields of a text": (
        TEXTS,
        bounds(told(OLD, b"x", b"x")),
        "t has two ranges of values",
    ),
    "no order": (
        NUMBERS,
        bounds(told(NEW, *LOW), without_order=True),
        "its columns have no order",
    ),
    "half": (NUMBERS, half, "t has half a range of values"),
}


@pytest.mark.parametrize("how", RANGES)
def test_a_range_that_only_some_readers_believe_is_refused(tmp_path: Path, how: str) -> None:
    rows, edit, problem = RANGES[how]
    forged(tmp_path / "part.parquet", rows, edit)
    with pytest.raises(StagingFailed, match=problem):
        check_footers(candidate(tmp_path), "silver.t")


def test_rows_would_be_hidden_by_such_a_range(tmp_path: Path) -> None:
    """Why: DuckDB, and Spark too, skip rows by it."""
    file = forged(tmp_path / "part.parquet", NUMBERS, bounds(told(OLD, *LOW)))
    found = by_duckdb(f"SELECT count(*) FROM '{file}' WHERE t > 5")
    assert found == [(0,)]


def encodings(*stats: tuple[int, int], listed: bool = True) -> Edit:
    """All pages use the dictionary, in the words of the footer."""

    def edit(file: Forged) -> None:
        file.data[2] = (LIST, (I32, [2, 3]))
        of_pages = [{1: (I32, page), 2: (I32, kind), 3: (I32, 1)} for page, kind in stats]
        file.data[13] = (LIST, (STRUCT, of_pages))
        if not listed:
            del file.data[13]

    return edit


ENCODINGS = {
    "only the list of encodings": encodings(listed=False),
    "no page": encodings(),
    "the dictionary": encodings((2, 2)),
    "pages of another version": encodings((3, 2)),
}


@pytest.mark.parametrize("how", ENCODINGS)
def test_pages_outside_of_a_dictionary_are_told(tmp_path: Path, how: str) -> None:
    """Spark skips a row group whose dictionary lacks a value, if all its pages use it."""
    file = forged(tmp_path / "part.parquet", TEXTS, lambda _: None, **FALLBACK)
    check_footers(candidate(tmp_path), "silver.t")
    forged(file, TEXTS, ENCODINGS[how], **FALLBACK)
    with pytest.raises(StagingFailed, match="t is not encoded as its footer says"):
        check_footers(candidate(tmp_path), "silver.t")


WITH_NAN = pa.table({"t": [1.0, float("nan"), 2.0]})


def test_nan_is_not_left_out_of_a_range(tmp_path: Path) -> None:
    """It is the highest value: Arrow writes the range of the others, and Spark writes NaN."""
    file = tmp_path / "part.parquet"
    pq.write_table(WITH_NAN, file)
    assert by_duckdb(f"SELECT count(*) FROM '{file}' WHERE t > 5") == [(0,)]
    with pytest.raises(StagingFailed, match="t has other values than its footer says"):
        check_footers(candidate(tmp_path), "silver.t")


def test_nan_is_not_left_out_of_an_index(tmp_path: Path) -> None:
    edit = bounds(told(NEW, struct.pack("<d", 1), struct.pack("<d", float("nan"))))
    file = forged(tmp_path / "part.parquet", WITH_NAN, edit)
    check_footers(candidate(tmp_path), "silver.t")
    forged(file, WITH_NAN, edit, write_page_index=True)
    with pytest.raises(StagingFailed, match="t has a page with other values than its index"):
        check_footers(candidate(tmp_path), "silver.t")


NESTED = pa.table(
    {
        "t": pa.array([{"q": n, "r": None if n == 3 else n} if n else None for n in range(12)]),
        "a": pa.array([[n, None] if n % 3 else [] if n else None for n in range(12)]),
        "m": pa.array(
            [[(str(n), n)] if n % 3 else [] if n else None for n in range(12)],
            pa.map_(pa.string(), pa.int64()),
        ),
        "deep": pa.array([[{"x": [n, n]}, None] for n in range(12)]),
    }
)
LEAVES = ["t.q", "t.r", "a.element", "m.element.key", "m.element.value", "deep.element.x.element"]


def of_leaf(at: int, statistics: dict[int, tuple[int, Any]]) -> Edit:
    def edit(file: Forged) -> None:
        chunk = file.group[1][1][1][at]
        chunk[3][1][12][1].update(statistics)

    return edit


@pytest.mark.parametrize("leaf", LEAVES)
def test_ranges_inside_of_nested_columns_are_those_of_the_rows(tmp_path: Path, leaf: str) -> None:
    at = LEAVES.index(leaf)
    low = b"x" if leaf.endswith("key") else number(-7)
    old: dict[int, Any] = {} if leaf.endswith("key") else {OLD["lowest"]: (TEXT, low)}
    edits: list[tuple[dict[int, Any], str]] = [
        ({**old, NEW["lowest"]: (TEXT, low)}, f"{leaf} has other values than its footer says"),
        ({3: (I64, 99)}, f"{leaf} has [0-9]+ NULLs instead of 99"),
    ]
    for statistics, problem in edits:
        file = forged(tmp_path / "part.parquet", NESTED, lambda _: None)
        check_footers(candidate(tmp_path), "silver.t")
        forged(file, NESTED, of_leaf(at, statistics))
        with pytest.raises(StagingFailed, match=problem):
            check_footers(candidate(tmp_path), "silver.t")


def test_rows_would_be_hidden_by_a_range_inside_of_a_struct(tmp_path: Path) -> None:
    high = {field: (TEXT, number(2)) for field in (OLD["highest"], NEW["highest"])}
    file = forged(tmp_path / "part.parquet", NESTED, of_leaf(0, high))
    found = by_duckdb(f"SELECT count(*) FROM '{file}' WHERE t.q > 5")
    assert found == [(0,)]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([datetime(2020, 1, 1, tzinfo=UTC)], pa.timestamp("ms", "UTC")),
        pa.array([datetime(2020, 1, 1)], pa.timestamp("ms")),  # noqa: DTZ001
        pa.array([1], pa.uint8()),
        pa.array([1], pa.uint16()),
    ],
)
def test_types_that_spark_does_not_write_are_refused(tmp_path: Path, values: pa.Array) -> None:
    """Delta statistics of milliseconds would be of 1970."""
    pq.write_table(pa.table({"t": values}), tmp_path / "part.parquet")
    with pytest.raises(StagingFailed, match="t is of an unusual type"):
        check_footers(candidate(tmp_path), "silver.t")


def test_a_page_with_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    """Spark cannot read it; other readers do not look."""

    def other(file: Forged) -> None:
        place = file.body.index(number(7))
        file.body[place : place + 8] = number(6)

    file = forged(tmp_path / "part.parquet", NUMBERS, other, write_page_checksum=True)
    assert pq.read_table(file)["t"].to_pylist()[7] == 6
    with pytest.raises(StagingFailed, match="could not verify page integrity"):
        check_footers(candidate(tmp_path), "silver.t")


LISTS = pa.table(
    {
        "t": pa.array([list(range(n % 4)) if n % 5 else None for n in range(300)]),
        "deep": pa.array([[[n] * (n % 3)] * (n % 4) for n in range(300)]),
    }
)


@pytest.mark.parametrize("codec", ["none", "snappy"])
def test_pages_of_arrays_hold_the_rows_of_their_index(tmp_path: Path, codec: str) -> None:
    """Spark would pair the arrays with the rows of other pages."""

    def later(file: Forged) -> None:
        places = file.indexed(4)
        second = places[1][1][1][1]
        second[3] = (I64, second[3][1] + 1)
        file.index(4, places)

    options = {"data_page_size": 64, "write_batch_size": 8, "write_page_index": True}
    file = forged(tmp_path / "part.parquet", LISTS, lambda _: None, compression=codec, **options)
    check_footers(candidate(tmp_path), "silver.t")
    forged(file, LISTS, later, compression=codec, **options)
    with pytest.raises(StagingFailed, match=r"t\.list\.element has an index of other pages"):
        check_footers(candidate(tmp_path), "silver.t")


def typed(converted: int, logical: dict[int, Any], **given: Any) -> Edit:
    def edit(file: Forged) -> None:
        file.column[6], file.column[10] = (I32, converted), (STRUCT, logical)
        for field, value in ((7, given.get("scale")), (8, given.get("precision"))):
            if value is not None:
                file.column[field] = (I32, value)

    return edit


SIGNED_BYTE = {10: (STRUCT, {1: (3, b"\x08"), 2: (1, True)})}
TWO_DIGITS = {5: (STRUCT, {1: (I32, 0), 2: (I32, 2)})}


def test_numbers_fit_their_type(tmp_path: Path) -> None:
    """A narrow one is read as -56, and found by 200; no rule can be about the other."""
    rows = pa.table({"t": pa.array([200, None, 1], pa.int32())})
    file = forged(tmp_path / "part.parquet", rows, typed(15, SIGNED_BYTE))
    assert pq.read_table(file)["t"].to_pylist() == [-56, None, 1]
    with pytest.raises(StagingFailed, match="t has other values than its footer says"):
        check_footers(candidate(tmp_path), "silver.t")
    forged(file, rows, typed(5, TWO_DIGITS, scale=0, precision=2))
    with pytest.raises(StagingFailed, match="t has a number with more digits than its type"):
        check_footers(candidate(tmp_path), "silver.t")


GEOMETRY = b"""{"version": "1.0.0", "primary_column": "t", "columns":
 {"t": {"encoding": "WKB", "geometry_types": []}}}"""


def test_bytes_are_no_geometries(tmp_path: Path) -> None:
    def edit(file: Forged) -> None:
        file.footer[5] = (LIST, (STRUCT, [{1: (TEXT, b"geo"), 2: (TEXT, GEOMETRY)}]))

    rows = pa.table({"t": pa.array([b"\1\1\0\0\0" + bytes(16)])})
    file = forged(tmp_path / "part.parquet", rows, edit)
    assert by_duckdb(f"SELECT typeof(t) FROM '{file}'")[0][0].startswith("GEOMETRY")
    with pytest.raises(StagingFailed, match="its metadata declare geometries"):
        check_footers(candidate(tmp_path), "silver.t")
