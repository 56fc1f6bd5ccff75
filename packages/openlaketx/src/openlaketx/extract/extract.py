"""Extraction, dispatched by the plan's build."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import reduce

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.core.enums import LoadType, NullWatermark, SourceFormat
from lakeguard_sdk.errors import BuildFailed, SourceUnreadable
from lakeguard_sdk.model.load import KEYED_LOADS
from lakeguard_sdk.model.quarantine import (
    FIRST_SEEN,
    QUARANTINE_COLUMNS,
    QuarantineBuild,
    QuarantineFile,
)
from lakeguard_sdk.model.run import (
    PythonBuild,
    RunPlan,
    SourceBuild,
    SqlBuild,
)
from lakeguard_sdk.model.windows import bound_text, lower_bound
from lakeguard_sdk.storage.source_roots import first_outside, is_below_roots
from lakeguard_sdk.storage.storage import Storage, join, readable_file, table_uri
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.known_files import KnownFiles, SourceFiles, known_files
from openlaketx.engine.locations import spark_name, spark_read_path, writable_path
from openlaketx.engine.parquet_types import UnsupportedColumn, table_schema
from openlaketx.engine.spark.errors import reason, worker_error
from openlaketx.engine.spark.runtime import runtime_of
from openlaketx.engine.spark.session import Sessions
from openlaketx.engine.spark.types import quoted_name, spark_schema
from openlaketx.extract.batch import Batch, Order, ProgramFrame
from openlaketx.extract.files.file_columns import Declared, with_clean_names
from openlaketx.extract.files.file_order import ROW_FILE, row_file
from openlaketx.extract.files.landed_files import land_files, landing, run_folder
from openlaketx.extract.files.manifest import Selection, files_read_before, select_files
from openlaketx.extract.files.remote_files import with_copies_here
from openlaketx.extract.frame_lineage import Reads
from openlaketx.extract.pinned_inputs import pinned_frames
from openlaketx.extract.python_build import read_python
from openlaketx.extract.query import columns_of, query, typed_parameters
from openlaketx.extract.sources.csv_source import read_csv
from openlaketx.extract.sources.delta_source import read_delta
from openlaketx.extract.sources.http_source import land_download
from openlaketx.extract.sources.jdbc_columns import identifier, literal
from openlaketx.extract.sources.jdbc_source import read_jdbc
from openlaketx.extract.sources.jsonl_source import read_jsonl
from openlaketx.extract.sources.parquet_source import read_parquet


def extract(
    plan: RunPlan,
    sessions: Sessions,
    lake: str,
    storage: Storage,
    *,
    project: str = "",
    frame: ProgramFrame | None = None,
    reader: SourceFiles | None = None,
) -> Batch | None:
    """The lazy batch of a run; None if there is nothing new to read.

    Modules are in ``project``, else in the lake; ``frame`` is what a program publishes; ``reader``
    lists the source files that were read before.
    """
    if isinstance(plan.build, SourceBuild):
        known = known_files(plan, reader)
        return _read_source(plan, plan.build, sessions, lake, storage, known)
    session = sessions()
    if isinstance(plan.build, SqlBuild):
        return read_sql(session, plan.build, plan.dataset, plan.load.type, plan.as_of)
    if isinstance(plan.build, PythonBuild):
        place = project or table_uri(lake)
        return read_python(session, plan.build, plan.dataset, place, plan.load.type)
    if isinstance(plan.build, QuarantineBuild):
        ordered = len(plan.build.files) > 1 and _asks_for_order(plan)
        return _read_quarantined(session, plan.build, plan.dataset, lake, storage, ordered=ordered)
    return _read_frame(session, frame, plan.dataset)


# Frames that a program publishes, from any session and with any settings.


def _read_frame(session: SparkSession, given: ProgramFrame | None, dataset: str) -> Batch:
    """The rows as the program sees them, in the run's session."""
    if given is None:
        raise BuildFailed(dataset=dataset, reason="a program publishes it: tx.publish")
    frame = runtime_of(given.frame).in_session(given.frame, session)
    return Batch(
        frame=frame,
        live=columns_of(frame, dataset),
        inputs=(),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=_frame_error(error)),
        confirm=lambda: None,
        reads=given.reads,
        origin=given.frame.sparkSession,
        stream=given.stream,
    )


def _frame_error(error: Exception) -> str:
    failure = worker_error(error, lambda file: "pyspark" not in file)
    if failure is None:
        return reason(error)
    return (
        f"{failure.message} ({failure.file}, line {failure.line})"
        if failure.file
        else failure.message
    )


# SQL builds: a SELECT over pinned inputs, in a session without other views.


def read_sql(
    session: SparkSession,
    build: SqlBuild,
    dataset: str,
    load: LoadType = LoadType.APPEND,
    as_of: datetime | None = None,
) -> Batch | None:
    """The frame of the build; None if no incremental input has new rows."""
    reads = Reads()
    frames = pinned_frames(session, build.views, dataset, load, reads)
    if frames is None:
        return None
    for name, pinned in frames.items():
        pinned.createOrReplaceTempView(name)
        reads.add_input(build.views[name], name)
    parameters = typed_parameters(build.parameters)
    frame = query(session, build.text, dataset, parameters=parameters, as_of=as_of)
    for name in frames:
        session.catalog.dropTempView(name)
    return Batch(
        frame=frame,
        live=columns_of(frame, dataset),
        inputs=tuple(dict.fromkeys(pin.input for pin in build.views.values())),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=reason(error)),
        confirm=lambda: None,
        reads=reads,
    )


# Replay of quarantined rows.

_ONE_RUN = "replay one run at a time: lakeguard quarantine replay {dataset} --run {run}"


def _read_quarantined(
    session: SparkSession,
    build: QuarantineBuild,
    dataset: str,
    lake: str,
    storage: Storage,
    *,
    ordered: bool = False,
) -> Batch:
    """The rows with their original columns, plus the time each row was first quarantined. A file
    that differs from the recorded one fails the run.

    If ``ordered``, rows of a later run win over those of an earlier one.
    """
    schemas: dict[TableSchema, list[QuarantineFile]] = {}
    for file in build.files:
        found = _checked(file, dataset, lake, storage)
        schemas.setdefault(found, []).append(file)
    live = _joint(schemas, dataset)
    parts = [_read(session, schema, files, lake) for schema, files in schemas.items()]
    frame = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    order = _order(build.files, lake) if ordered else ()
    names = [*map(quoted_name, live.names), *([ROW_FILE] if order else []), FIRST_SEEN]
    return Batch(
        frame=frame.select(*names),
        live=live,
        inputs=(),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=reason(error)),
        confirm=lambda: None,
        order=order,
    )


def _order(files: Iterable[QuarantineFile], lake: str) -> Order:
    """Files grouped by run, oldest first. Within a run the original order is unknown, so its files
    have equal rank."""
    runs: dict[str, list[str]] = {}
    for file in files:
        runs.setdefault(file.run_id, []).append(spark_name(join(lake, file.path)))
    return tuple(map(tuple, runs.values()))


def _checked(file: QuarantineFile, dataset: str, lake: str, storage: Storage) -> TableSchema:
    """Schema of the file, whose content is verified against its recorded hash."""
    place = join(lake, file.path)
    try:
        held = storage.sha256(place) == file.sha256
        footer = pq.read_metadata(readable_file(place)) if held else None
        found = None if footer is None else table_schema(footer)
    except (OSError, pa.ArrowException, UnsupportedColumn) as error:
        message = next(iter(str(error).splitlines()), type(error).__name__)
        raise BuildFailed(dataset=dataset, reason=f"{file.path}: {message}") from None
    if footer is None or found is None or footer.num_rows != file.rows:
        raise BuildFailed(
            dataset=dataset, reason=f"{file.path} is not the file that was quarantined"
        )
    return found


def _joint(schemas: dict[TableSchema, list[QuarantineFile]], dataset: str) -> TableSchema:
    """Union of the columns of all files; a column with two types fails the run."""
    known: dict[str, Column] = {}
    for schema, (file, *_) in schemas.items():
        for column in schema.columns:
            if column.name in QUARANTINE_COLUMNS:
                continue
            other = known.setdefault(column.name, column)
            if other != column:
                way = _ONE_RUN.format(dataset=dataset, run=file.run_id)
                raise BuildFailed(
                    dataset=dataset,
                    reason=f"column {column.name} is {other.type} in some of the rows and"
                    f" {column.type} in others: {way}",
                )
    return TableSchema(columns=tuple(known.values()))


def _read(
    session: SparkSession, schema: TableSchema, files: Iterable[QuarantineFile], lake: str
) -> DataFrame:
    places = [spark_read_path(join(lake, file.path)) for file in files]
    frame = session.read.schema(spark_schema(schema)).parquet(*places)
    frame = frame.withColumn(ROW_FILE, row_file())
    return frame.drop(*(name for name in QUARANTINE_COLUMNS if name != FIRST_SEEN))


# Sources of any format.


def _read_source(
    plan: RunPlan,
    build: SourceBuild,
    sessions: Sessions,
    lake: str,
    storage: Storage,
    known: KnownFiles | None,
) -> Batch | None:
    """The lazy batch; None if the source has nothing new.

    A backfill reads the source from the start and filters by its window. A backfill of an APPEND
    reads only what was read before; the next run would duplicate the rest.
    """
    if plan.window is not None and plan.load.type is not LoadType.APPEND:
        known = None
    if build.format is SourceFormat.JDBC:
        _refuse_blind_append(plan, build)
        return read_jdbc(sessions(), build, plan.dataset, _new_rows(plan))
    if build.path and build.roots and not is_below_roots(build.path, lake, build.roots):
        raise _outside(plan, build, build.path)
    if build.format is SourceFormat.DELTA:
        return read_delta(sessions(), build, plan, lake, known)
    selection = _selected(plan, build, lake, storage, known)
    if selection is None:
        return None
    selection = replace(selection, ordered=len(selection.files) > 1 and _asks_for_order(plan))
    folder, session = writable_path(run_folder(plan, build.source, lake)), sessions()
    if build.format is SourceFormat.CSV:
        batch = read_csv(session, build, selection, storage, folder, Declared.of(plan))
    elif build.format is SourceFormat.JSONL:
        batch = read_jsonl(session, build, selection, storage, folder, Declared.of(plan))
    else:
        batch = read_parquet(session, build, selection, storage, Declared.of(plan))
    return with_clean_names(batch, build, plan.batch_schema, plan.dataset)


def _asks_for_order(plan: RunPlan) -> bool:
    """Whether one row per key wins, and a later file may decide which.

    A snapshot is one state: its files have equal rank.
    """
    load = plan.load
    if load.type is LoadType.APPEND:
        return bool(load.keys)
    return load.type in KEYED_LOADS and load.type is not LoadType.SNAPSHOT


def _refuse_blind_append(plan: RunPlan, build: SourceBuild) -> None:
    """A database does not report which rows are new: the second run would duplicate all rows."""
    load = plan.load
    if load.type is LoadType.APPEND and not load.keys and not load.watermark:
        raise SourceUnreadable(
            source=build.source,
            reason="APPEND cannot tell which rows of a database are new: give the load keys or a"
            " watermark, or load FULL",
            dataset=plan.dataset,
        )


def _outside(plan: RunPlan, build: SourceBuild, path: str) -> SourceUnreadable:
    reason = f"{path} is not below a folder of source_roots, once links are resolved"
    return SourceUnreadable(source=build.source, reason=reason, dataset=plan.dataset)


def _refuse_download_again(plan: RunPlan, build: SourceBuild) -> None:
    if plan.window is not None and plan.load.type is LoadType.APPEND:
        raise SourceUnreadable(
            source=build.source,
            reason="a download cannot be read again: load the dataset FULL",
            dataset=plan.dataset,
        )


def _selected(
    plan: RunPlan, build: SourceBuild, lake: str, storage: Storage, known: KnownFiles | None
) -> Selection | None:
    """The files to read, landed first if the source requires it or is a download."""
    if build.url:
        _refuse_download_again(plan, build)
        with landing(plan, build.source, lake, storage) as place:
            downloaded = land_download(plan, build, lake, place, known)
            if downloaded is None:
                place.discard()
            return downloaded
    again = plan.window is not None and plan.load.type is LoadType.APPEND
    selection = select_files(
        source=build.source,
        dataset=plan.dataset,
        pattern=build.path,
        root=lake,
        load=LoadType.FULL if again else plan.load.type,
        known=known,
        storage=storage,
    )
    files = (file.path for file in selection.files)
    if build.roots and (path := first_outside(files, lake, build.roots)) is not None:
        raise _outside(plan, build, path)
    if again:
        if known is None:
            return None
        selection = files_read_before(selection, known, storage)
    if not selection.files:
        return None
    if not build.landing:
        return with_copies_here(selection, plan, build.format, storage)
    with landing(plan, build.source, lake, storage) as place:
        return land_files(selection, build.path, place, storage)


# Watermark predicate in the database's SQL, so that only new rows are transferred.


def _new_rows(plan: RunPlan) -> str | None:
    """Condition for rows from the watermark on; None if all rows are read. The run filters again.

    Rows without a watermark are included unless they are skipped: they may have to fail the run.
    """
    if plan.window is not None or not plan.load.watermark or plan.watermark is None:
        return None
    column = identifier(plan.load.watermark)
    if plan.declared.type_of(plan.load.watermark) == "string":
        column = f'{column}::text COLLATE "C"'  # by code point, as the run compares
    compared = ">=" if plan.load.inclusive else ">"
    new = f"{column} {compared} {literal(bound_text(lower_bound(plan)))}"
    if plan.load.null_watermark is NullWatermark.SKIP:
        return new
    return f"({new} OR {identifier(plan.load.watermark)} IS NULL)"
