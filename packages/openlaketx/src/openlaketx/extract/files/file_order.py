"""Order of source files by name, and the file of each row.

Numbers in a name compare as numbers: ``9.csv`` comes before ``10.csv``.
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from openlaketx.engine.locations import spark_name
from openlaketx.engine.shown_values import refusal
from openlaketx.extract.batch import Order
from openlaketx.extract.files.manifest import Selection

ROW_FILE = "lg_row_file"
"""Column with the file of a row; present only if the batch has an order."""
PLACE = "lg_file_place"
"""Column with the rank of that file; a later file ranks higher."""
_PARTS = re.compile(r"[0-9]+|.", re.DOTALL)
_DIGITS = frozenset("0123456789")
_DIGIT = ord("0")
_SCHEME = "^file:(//)?"
"""Spark writes the scheme in two ways."""


def by_name(path: str) -> tuple[tuple[tuple[int, int], ...], str]:
    """Sort key of a path: by character, with digit sequences as numbers."""
    parts = _PARTS.findall(path)
    return tuple((_DIGIT, int(p)) if p[0] in _DIGITS else (ord(p), 0) for p in parts), path


def file_order(selection: Selection) -> Order:
    """Locations of the files, first to last; empty if the order does not matter."""
    if not selection.ordered:
        return ()
    files = sorted(selection.files, key=lambda file: by_name(file.path))
    return tuple((spark_name(selection.spark_location(file)),) for file in files)


def with_row_file(frame: DataFrame, selection: Selection) -> DataFrame:
    """Add ``ROW_FILE`` to a frame read from files, if the selection is ordered."""
    if not selection.ordered:
        return frame
    return frame.withColumn(ROW_FILE, row_file())


def row_file() -> Column:
    """The path of a row's file, which Spark escapes; valid only on a frame as it was read."""
    escaped = F.regexp_replace(F.col("_metadata.file_path"), _SCHEME, "")
    return F.url_decode(F.replace(escaped, F.lit("+"), F.lit("%2B")))


def with_places(frame: DataFrame, order: Order) -> DataFrame:
    """Replace ``ROW_FILE`` by ``PLACE``."""
    places = [(path, place) for place, paths in enumerate(order) for path in paths]
    known = frame.sparkSession.createDataFrame(places, f"{ROW_FILE} string, {PLACE} long")
    joined = frame.join(F.broadcast(known), ROW_FILE, "left").drop(ROW_FILE)
    unknown = refusal("a row has no file in the batch").cast("long")
    return joined.withColumn(PLACE, F.coalesce(F.col(PLACE), unknown))
