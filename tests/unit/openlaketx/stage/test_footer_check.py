"""A footer that says something else than the rows is found before anything relies on it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.model.evidence import StagedFile
from openlaketx.stage import Candidate
from openlaketx.stage.footer_ranges import check_footers

MOMENT = datetime(2020, 1, 1, tzinfo=UTC)
COLUMNS = {
    "n": pa.array([3, None, 1], pa.int64()),
    "tiny": pa.array([3, None, -1], pa.int8()),
    "s": pa.array(["b", None, "ä"]),
    "f": pa.array([1.5, None, -0.0]),
    "b": pa.array([True, False, None]),
    "d": pa.array([date(2020, 1, 1), None, date(1500, 1, 1)]),
    "t": pa.array([MOMENT, None, datetime(100, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
    "l": pa.array([datetime(2020, 1, 1), None, None], pa.timestamp("us")),  # noqa: DTZ001
    "x": pa.array([Decimal("1.50"), None, Decimal("-2.00")], pa.decimal128(9, 2)),
    "wide": pa.array([Decimal("1.50"), None, Decimal("-2.00")], pa.decimal128(30, 2)),
    "y": pa.array([b"\xff", b"a", None], pa.binary()),
    "a": pa.array([[1], [2, 3], None]),
    "st": pa.array([{"q": 1, "r": "x"}, None, {"q": 2, "r": None}]),
    "none": pa.array([None, None, None], pa.string()),
}


def candidate(folder: Path, name: str = "part.parquet") -> Candidate:
    file = StagedFile(path=name, size=1, rows=3, modified_ms=1, stats="{}")
    return Candidate(str(folder), (file,), ())


def test_an_honest_file_passes(tmp_path: Path) -> None:
    pq.write_table(pa.table(COLUMNS), tmp_path / "part.parquet", row_group_size=2)
    check_footers(candidate(tmp_path), "silver.t")


def forged(file: Path, honest: pa.Table, told: pa.Table) -> None:
    """The rows of one table under the footer of another with the same layout."""
    options = {"compression": "none", "use_dictionary": False}
    pq.write_table(honest, file, **options)
    content = file.read_bytes()
    pq.write_table(told, file, **options)
    other = file.read_bytes()
    assert len(content) == len(other)
    start = len(other) - 8 - int.from_bytes(other[-8:-4], "little")
    file.write_bytes(content[:start] + other[start:])


@pytest.mark.parametrize(
    ("rows", "told", "problem"),
    [
        ([-5, 7], [1, 7], "n has other values than its footer says"),
        ([1, 700], [1, 7], "n has other values than its footer says"),
        ([-0.5, 1.0], [0.0, 1.0], "n has other values than its footer says"),
        (["a@b.c", "b"], ["aaaaa", "b"], "n has other values than its footer says"),
    ],
)
def test_a_forged_footer_is_found(
    tmp_path: Path, rows: list[object], told: list[object], problem: str
) -> None:
    file = tmp_path / "part.parquet"
    forged(file, pa.table({"n": rows}), pa.table({"n": told}))
    assert pq.read_metadata(file).row_group(0).column(0).statistics.min == told[0]
    assert pq.read_table(file)["n"].to_pylist() == rows
    with pytest.raises(StagingFailed, match=problem):
        check_footers(candidate(tmp_path), "silver.t")
