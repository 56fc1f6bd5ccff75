"""JSON Lines files as one frame of strings, each value as written in the file."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from lakeguard_sdk.core.enums import Malformed
from lakeguard_sdk.model.evidence import SourceFile
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import Storage, local_path
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.duckdb_reader import duckdb_text
from openlaketx.engine.locations import duckdb_path, spark_read_path
from openlaketx.engine.spark.errors import reason
from openlaketx.engine.spark.runtime import require_spark
from openlaketx.extract.batch import Batch, Fidelity, PlainTexts, name_problem
from openlaketx.extract.files.file_columns import Declared, SameName, clean_names, with_absent_keys
from openlaketx.extract.files.file_order import file_order, with_row_file
from openlaketx.extract.files.malformed_rows import Writing, split_malformed
from openlaketx.extract.files.manifest import Selection
from openlaketx.extract.files.text_files import GZIP, TextProblem
from openlaketx.extract.sources.csv_dialect import CsvDialect, DialectProblem
from openlaketx.extract.sources.flat_json import Kind, joined
from openlaketx.extract.sources.jsonl_lines import JsonScan, json_lines, scan_json
from openlaketx.extract.sources.value_locations import json_values, place_of

_OPTIONS = {"mode": "FAILFAST", "lineSep": "\n"}
_UTF8 = "utf-8"
_KEEPS_TEXTS = (4, 0)


def read_jsonl(
    session: SparkSession,
    build: SourceBuild,
    selection: Selection,
    storage: Storage,
    folder: Path,
    declared: Declared,
) -> Batch:
    """All keys as columns; NULL where a line lacks a key.

    Numbers and nested values keep their original text; a Spark version that cannot do that is
    rejected. A line that is not an object fails the run, or is quarantined in ``folder`` if the
    source allows it.
    """
    require_spark(session.version, _KEEPS_TEXTS, "a JSON Lines source")
    codec = _codec(build, selection)
    scans = {file.path: _scan(selection, file, codec) for file in selection.files}
    names = _names(selection, scans, declared)
    if build.malformed is Malformed.REFUSE:
        _refuse_first(selection, scans)
    faults = {path: scan.faults for path, scan in scans.items()}
    # Spark preserves the original text of a value only in UTF-8.
    writing = Writing(partial(json_lines, codec=codec), codec, copied_as=_UTF8)
    selection, rejected = split_malformed(selection, faults, writing, folder, storage)
    schema = StructType([StructField(name, StringType()) for name in names])
    paths = [spark_read_path(selection.spark_location(file)) for file in selection.files]
    frame = session.read.schema(schema).options(**_OPTIONS).json(paths)
    return Batch(
        frame=with_row_file(frame, selection),
        live=TableSchema(columns=tuple(Column(name=name, type="string") for name in names)),
        inputs=(),
        position=selection.position,
        explain=lambda error: selection.unreadable(reason(error)),
        confirm=partial(selection.confirm, storage),
        rejected=rejected,
        order=file_order(selection),
        place_of=place_of(selection, None if rejected else json_values(codec)),
        texts=_plain_texts(selection, list(scans.values()), names),
    )


_FIDELITY = {Kind.SHORT: Fidelity.VALUE, Kind.NUMBER: Fidelity.DOUBLE}


def _plain_texts(
    selection: Selection, scans: list[JsonScan], names: tuple[str, ...]
) -> PlainTexts | None:
    """If all files are flat, and no key has values of several kinds."""
    flat = [scan.flat for scan in scans if scan.flat is not None]
    places = [local_path(selection.location(file)) for file in selection.files]
    compressed = any(place.endswith(GZIP) for place in places)
    if len(flat) < len(scans) or selection.ordered or compressed:
        return None
    kinds: dict[str, Kind] = {}
    for scan in flat:
        for name, kind in scan.kinds.items():
            kinds[name] = joined(kinds.get(name, Kind.EMPTY), kind)
    if not kinds or Kind.MIXED in kinds.values():
        return None
    return PlainTexts(
        relation=_relation(places, names, tuple(kinds)),
        nulls=(),
        rows=sum(scan.lines for scan in flat),
        size=sum(file.size for file in selection.files),
        fidelity=tuple(_FIDELITY.get(kinds.get(name, Kind.EMPTY), Fidelity.TEXT) for name in names),
    )


def _relation(places: list[str], names: tuple[str, ...], keys: tuple[str, ...]) -> str:
    """For DuckDB; a key that no line has is NULL."""
    files = ", ".join(duckdb_text(duckdb_path(place)) for place in places)
    columns = ", ".join(f"{duckdb_text(key)}: 'VARCHAR'" for key in keys)
    values = ", ".join(
        f"{_identifier(name) if name in keys else 'NULL::VARCHAR'} AS c{number}"
        for number, name in enumerate(names)
    )
    read = (
        f"read_json([{files}], columns = {{{columns}}}, format = 'newline_delimited',"
        " records = true, auto_detect = false, ignore_errors = false, hive_partitioning = false)"
    )
    return f"(SELECT {values} FROM {read})"  # noqa: S608 - names are quoted


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _names(selection: Selection, scans: dict[str, JsonScan], declared: Declared) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(name for scan in scans.values() for name in scan.names))
    if problem := name_problem(found):
        raise selection.unreadable(problem)
    try:
        known = clean_names(found, declared.names)
    except SameName as twice:
        raise selection.unreadable(str(twice)) from None
    return (*found, *with_absent_keys(known, declared)[len(known) :])


def _codec(build: SourceBuild, selection: Selection) -> str:
    for key in build.options:
        if key != "encoding":
            raise selection.unreadable(f"unknown JSON Lines option {key!r}")
    try:
        codec = CsvDialect.from_options(build.options).codec
    except DialectProblem as problem:
        raise selection.unreadable(str(problem)) from None
    return _UTF8 if codec == "ascii" else codec


def _scan(selection: Selection, file: SourceFile, codec: str) -> JsonScan:
    try:
        return scan_json(local_path(selection.location(file)), codec)
    except TextProblem as problem:
        raise selection.unreadable(f"{file.path}: {problem}") from None


def _refuse_first(selection: Selection, scans: dict[str, JsonScan]) -> None:
    for path, scan in scans.items():
        for fault in scan.faults:
            raise selection.unreadable(f"{path}: line {fault.first}: {fault.reason}")
