"""A file in which readers find different rows is found before anything relies on it."""

from __future__ import annotations

import re
import struct
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.errors import StagingFailed
from openlaketx.engine.compact_thrift import FOOTER, CompactReader, NotThrift
from openlaketx.stage.file_footer import UnusualLayout
from openlaketx.stage.file_layout import checked_layout
from openlaketx.stage.footer_ranges import check_footers
from tests.support.examples import examples
from tests.support.lakes.forged_parquet import (
    I32,
    I64,
    LIST,
    STRUCT,
    TEXT,
    Edit,
    Forged,
    encoded,
    forged,
)
from tests.unit.openlaketx.stage.test_footer_check import COLUMNS, candidate

TEXTS = pa.table({"t": [f"innocent {number:03}" for number in range(12)]})
MAILS = pa.table({"t": [f"a@evil.org {number:01}"[:12] for number in range(12)]})
MANY_PAGES = {"data_page_size": 64, "write_batch_size": 4, "write_page_index": True}


def layout_problem(location: str) -> str | None:
    try:
        checked_layout(location)
    except UnusualLayout as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False},
        {"row_group_size": 2, "write_page_index": True},
        {"write_page_index": True, "data_page_size": 1, "write_batch_size": 1},
        {"write_page_index": True, "store_decimal_as_integer": True},
        {"store_schema": False, "store_decimal_as_integer": True, "data_page_size": 1},
        {"compression": "none"},
    ],
)
def test_an_honest_file_passes(tmp_path: Path, options: dict[str, Any]) -> None:
    for name, rows in (("many", pa.table(COLUMNS)), ("texts", TEXTS)):
        file = tmp_path / f"{name}.parquet"
        pq.write_table(rows, file, **options)
        assert layout_problem(str(file)) is None
        check_footers(candidate(tmp_path, file.name), "silver.t")


def by_duckdb(query: str) -> list[Any]:
    with duckdb.connect() as connection:
        return connection.execute(query).fetchall()


def other_pages(file: Forged) -> bytes:
    """Pages of the same size and layout, with other texts."""
    return file.pages().replace(b"innocent", b"a@evil.o")


def two_beginnings(file: Forged) -> None:
    file.data[11] = (I64, file.add(other_pages(file)))


def other_encodings(file: Forged) -> None:
    two_beginnings(file)
    file.data[2] = (LIST, (I32, [0, 3, 8]))
    file.data.pop(13, None)


def elsewhere(file: Forged) -> None:
    """Pages of another place for readers that filter, and those of the footer for all others."""
    moved = file.add(other_pages(file)) - int(file.data[9][1])
    places = file.indexed(4)
    for place in places[1][1][1]:
        place[1] = (I64, place[1][1] + moved)
    file.index(4, places)


def other_values(low: bytes, high: bytes) -> Edit:
    def edit(file: Forged) -> None:
        told = file.indexed(6)
        pages = len(told[1][1][1])
        told[2], told[3] = ((LIST, (TEXT, [bound] * pages)) for bound in (low, high))
        file.index(6, told)

    return edit


def no_values(file: Forged) -> None:
    told = file.indexed(6)
    told[1] = (LIST, (1, [True] * len(told[1][1][1])))
    file.index(6, told)


def other_nulls(file: Forged) -> None:
    told = file.indexed(6)
    told[5] = (LIST, (I64, [1] * len(told[1][1][1])))
    file.index(6, told)


def other_order(file: Forged) -> None:
    told = file.indexed(6)
    told[4] = (I32, 2)
    file.index(6, told)


def hidden_group(file: Forged) -> None:
    file.group[6] = (I64, 10**9)


def bloom_filter(file: Forged) -> None:
    file.data[14] = (I64, 4)


def another_file(file: Forged) -> None:
    file.chunk[1] = (TEXT, b"other.parquet")


def another_column(file: Forged) -> None:
    file.data[3] = (LIST, (TEXT, [b"u"]))


def fewer_values(file: Forged) -> None:
    file.data[5] = (I64, 4)


def fewer_rows(file: Forged) -> None:
    file.group[3] = file.data[5] = (I64, 4)


def all_by_dictionary(file: Forged) -> None:
    stats = {1: (I32, 0), 2: (I32, 8), 3: (I32, 1)}
    file.data[13] = (LIST, (STRUCT, [stats]))


def julian(file: Forged) -> None:
    pair = {1: (TEXT, b"org.apache.spark.version"), 2: (TEXT, b"2.4.0")}
    file.footer[5] = (LIST, (STRUCT, [pair]))


def packed_levels(file: Forged) -> None:
    start = int(file.data[9][1])
    old, new = (encoded({5: (STRUCT, levels(kind))}) for kind in (3, 4))
    head = bytes(file.body[start : start + 64])
    assert old[1:-2] in head
    file.body[start : start + 64] = head.replace(old[1:-2], new[1:-2])


def levels(kind: int) -> dict[int, tuple[int, int]]:
    return {1: (I32, 12), 2: (I32, 0), 3: (I32, kind), 4: (I32, 3)}


FORGED: dict[str, tuple[Edit, str]] = {
    "two beginnings": (two_beginnings, "t has a dictionary in an unusual place"),
    "encodings": (other_encodings, "t has a dictionary in an unusual place"),
    "pages elsewhere": (elsewhere, "t has an index of other pages"),
    "values of a page": (other_values(b"x", b"z"), "t has a page with other values than its index"),
    "no values": (no_values, "t has a page with other values than its index"),
    "NULLs of a page": (other_nulls, "t has a page with other values than its index"),
    "order of pages": (other_order, "t has pages in another order than its index"),
    "size of a row group": (hidden_group, "a row group has another size or place"),
    "bloom filter": (bloom_filter, "t has a bloom filter"),
    "file of a chunk": (another_file, "t is in another file"),
    "path of a chunk": (another_column, "t is at the position of another column"),
    "values of a chunk": (fewer_values, "t has another number of values"),
    "rows of a group": (fewer_rows, "its row groups have another number of rows"),
    "dictionary": (all_by_dictionary, "t is not encoded as its footer says"),
    "calendar": (julian, "its dates use the legacy Julian calendar"),
}


@pytest.mark.parametrize("how", FORGED)
def test_a_file_that_readers_differ_about_is_refused(tmp_path: Path, how: str) -> None:
    edit, problem = FORGED[how]
    forged(tmp_path / "part.parquet", TEXTS, edit, **MANY_PAGES)
    with pytest.raises(StagingFailed, match=problem):
        check_footers(candidate(tmp_path), "silver.t")


def test_levels_of_another_kind_are_refused(tmp_path: Path) -> None:
    file = forged(tmp_path / "part.parquet", TEXTS, packed_levels)
    assert "t has levels of another kind" in str(layout_problem(str(file)))


def test_two_readers_find_other_rows_in_such_a_file(tmp_path: Path) -> None:
    """Why: the measures are taken with DuckDB, and Arrow reads as Spark does."""
    file = forged(tmp_path / "part.parquet", TEXTS, two_beginnings, **MANY_PAGES)
    measured = by_duckdb(f"SELECT t FROM '{file}'")
    assert measured[0][0].startswith("a@evil.o")
    assert pq.read_table(file)["t"][0].as_py().startswith("innocent")


def test_a_field_of_another_type_is_refused(tmp_path: Path) -> None:
    """Some readers skip it: DuckDB then reads the texts as bytes."""

    def longer(file: Forged) -> None:
        file.column[6] = (I64, 0)

    file = forged(tmp_path / "part.parquet", TEXTS, longer)
    assert by_duckdb(f"SELECT typeof(t) FROM '{file}'")[0] == ("BLOB",)
    assert "a field has an unexpected type" in str(layout_problem(str(file)))


NUMBERS = pa.table({"t": [1.0, float("nan"), 2.0]})


def highest(value: float) -> Edit:
    def edit(file: Forged) -> None:
        for number in (1, 5):
            file.data[12][1][number] = (TEXT, struct.pack("<d", value))

    return edit


def test_nan_in_a_footer_says_nothing(tmp_path: Path) -> None:
    """Spark writes it as the highest value of a column with NaN, and readers ignore it."""
    forged(tmp_path / "part.parquet", NUMBERS, highest(float("nan")))
    check_footers(candidate(tmp_path), "silver.t")


@pytest.mark.parametrize("value", [1.5, 2.5, float("inf")])
def test_a_footer_has_the_highest_number_exactly(tmp_path: Path, value: float) -> None:
    forged(tmp_path / "part.parquet", NUMBERS, highest(value))
    with pytest.raises(StagingFailed, match="t has other values than its footer says"):
        check_footers(candidate(tmp_path), "silver.t")


def of_two_types(logical: dict[int, Any]) -> Edit:
    def edit(file: Forged) -> None:
        file.column[10] = (STRUCT, logical)

    return edit


def converted(number: int | None) -> Edit:
    def edit(file: Forged) -> None:
        file.column[6] = (I32, number)
        if number is None:
            del file.column[6]

    return edit


def of_another_scale(file: Forged) -> None:
    file.column[7] = (I32, 0)


TIMES = pa.table({"t": pa.array([datetime(2020, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC"))})
PRICES = pa.table({"t": pa.array([Decimal("123.45")], pa.decimal128(9, 2))})
DAYS = pa.table({"t": pa.array([date(2020, 1, 1)])})
MEANINGS: dict[str, tuple[pa.Table, Edit]] = {
    "unit of a time": (TIMES, converted(9)),
    "scale of a decimal": (PRICES, of_another_scale),
    "text or bytes": (TEXTS, converted(None)),
    "text or JSON": (TEXTS, converted(19)),
    "day or number": (DAYS, converted(None)),
    "text or date": (TEXTS, of_two_types({6: (STRUCT, {})})),
}


@pytest.mark.parametrize("how", MEANINGS)
def test_a_column_of_two_types_is_refused(tmp_path: Path, how: str) -> None:
    rows, edit = MEANINGS[how]
    file = forged(tmp_path / "part.parquet", rows, edit)
    assert re.search(r"t (is of|has two) ", str(layout_problem(str(file))))


@given(st.binary(max_size=200))
@examples(200, quick=30)
def test_any_bytes_are_a_structure_or_none(content: bytes) -> None:
    try:
        CompactReader(content).struct(FOOTER)
    except NotThrift:
        return


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1\xff\xff\xff\xffPAR1", b"x" * 100])
def test_what_is_no_parquet_file_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "part.parquet"
    file.write_bytes(content)
    assert str(layout_problem(str(file))).startswith("it is not a plain Parquet file")


@given(st.data())
@examples(200, quick=30)
def test_a_damaged_footer_raises_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    file = tmp_path_factory.getbasetemp() / "damaged.parquet"
    pq.write_table(TEXTS, file, write_page_index=True)
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(4, len(content) - 9))
        content[place] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    layout_problem(str(file))
