"""What a source has for a run, whatever kind of source it is."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import SparkSession

from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.evidence import SourcePosition
from lakeguard_sdk.load import KEYED_LOADS
from lakeguard_sdk.run import RunPlan, SourceBuild
from lakeguard_sdk.storage import Storage
from lakeguard_sdk.words import LoadType, SourceFormat
from openlaketx.extract.batch import Batch
from openlaketx.extract.clean_names import with_clean_names
from openlaketx.extract.csv_source import read_csv
from openlaketx.extract.delta_source import read_delta
from openlaketx.extract.downloaded_file import land_download
from openlaketx.extract.file_columns import Declared
from openlaketx.extract.jdbc_source import read_jdbc
from openlaketx.extract.jsonl_source import read_jsonl
from openlaketx.extract.landed_files import land_files
from openlaketx.extract.landing import landing, run_folder
from openlaketx.extract.manifest import Selection, files_read_before, select_files
from openlaketx.extract.new_rows import new_rows
from openlaketx.extract.parquet_source import read_parquet


def read_source(
    plan: RunPlan, build: SourceBuild, session: SparkSession, lake: str, storage: Storage
) -> Batch | None:
    """The batch, not yet computed; None where the source has nothing new.

    A back-fill reads the source from its beginning, and its window says what counts; one of an
    APPEND reads only what was read before, or the next run would have the rest twice.
    """
    if plan.window is not None and plan.load.type is not LoadType.APPEND:
        build = build.model_copy(update={"position": None})
    if build.format is SourceFormat.JDBC:
        _refuse_blind_append(plan, build)
        return read_jdbc(session, build, plan.dataset, new_rows(plan))
    if build.format is SourceFormat.DELTA:
        return read_delta(session, build, plan, lake)
    selection = _selected(plan, build, lake, storage)
    if selection is None:
        return None
    selection = replace(selection, ordered=len(selection.files) > 1 and asks_for_order(plan))
    folder = run_folder(plan, build.source, lake)
    if build.format is SourceFormat.CSV:
        batch = read_csv(session, build, selection, storage, folder, Declared.of(plan))
    elif build.format is SourceFormat.JSONL:
        batch = read_jsonl(session, build, selection, storage, folder, Declared.of(plan))
    else:
        batch = read_parquet(session, build, selection, storage, Declared.of(plan))
    return with_clean_names(batch, build, plan.batch_schema, plan.dataset)


def asks_for_order(plan: RunPlan) -> bool:
    """Whether one row of each key counts, and a later file may tell which.

    A snapshot is one state of everything, whose files are of one time.
    """
    load = plan.load
    if load.type is LoadType.APPEND:
        return bool(load.keys)
    return load.type in KEYED_LOADS and load.type is not LoadType.SNAPSHOT


def _refuse_blind_append(plan: RunPlan, build: SourceBuild) -> None:
    """A database does not say what is new: the second run would have every row twice."""
    load = plan.load
    if load.type is LoadType.APPEND and not load.keys and not load.watermark:
        raise SourceUnreadable(
            source=build.source,
            reason="it does not say which of its rows are new, so they cannot be appended: give"
            " the load keys or a watermark, or load FULL",
            dataset=plan.dataset,
        )


def _refuse_download_again(plan: RunPlan, build: SourceBuild) -> None:
    if plan.window is not None and plan.load.type is LoadType.APPEND:
        raise SourceUnreadable(
            source=build.source,
            reason="what was downloaded is not there to be read again: load the dataset FULL",
            dataset=plan.dataset,
        )


def _selected(plan: RunPlan, build: SourceBuild, lake: str, storage: Storage) -> Selection | None:
    """The files to read, landed first where the source asks for it or there is no other way."""
    if build.url:
        _refuse_download_again(plan, build)
        with landing(plan, build.source, lake, storage) as place:
            downloaded = land_download(plan, build, lake, place)
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
        position=build.position,
        storage=storage,
    )
    if again:
        selection = files_read_before(selection, build.position or SourcePosition(), storage)
    if not selection.files:
        return None
    if not build.landing:
        return selection
    with landing(plan, build.source, lake, storage) as place:
        return land_files(selection, build.path, place, storage)
