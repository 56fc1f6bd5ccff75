"""Folders of a run: for staging in its table, for quarantine and landing below the lake."""

from __future__ import annotations

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.storage.location import join
from lakeguard_sdk.types.schema import TableSchema

QUARANTINE = "quarantine"
"""``<lake>/quarantine/<layer>/<name>/execution_id=<run>``: rows that no column could hold, and
``<lake>/quarantine/<layer>/<name>/<shape>/execution_id=<run>``: rows that rules kept out."""
LANDING = "landing"
"""``<lake>/landing/<source>/ingest_date=<day>/execution_id=<run>``: files as they were received."""
RUN_FOLDER = "execution_id="


def staging_folder(run_id: str) -> str:
    """Below the location of the table."""
    return join("runs", run_id)


def quarantine_folder(lake: str, dataset: DatasetName) -> str:
    """The folder of all quarantined rows of a dataset."""
    return join(lake, QUARANTINE, dataset.layer.value, dataset.name)


def quarantine_place(lake: str, dataset: DatasetName, run_id: str) -> str:
    return join(quarantine_folder(lake, dataset), f"{RUN_FOLDER}{run_id}")


def quarantine_table(lake: str, dataset: DatasetName, batch: TableSchema) -> str:
    """The Delta table of rows that rules kept out of a dataset, while its batches have these
    columns: batches of other columns have another one, so that none ever changes its own."""
    shape = batch.schema_hash.removeprefix("sha256:")[:8]
    return join(quarantine_folder(lake, dataset), shape)


def quarantine_run_folder(lake: str, dataset: DatasetName, batch: TableSchema, run_id: str) -> str:
    """Where a run leaves its rows of that table."""
    return join(quarantine_table(lake, dataset, batch), f"{RUN_FOLDER}{run_id}")


def landing_place(lake: str, source: str, day: str, run_id: str) -> str:
    return join(lake, LANDING, source, f"ingest_date={day}", f"{RUN_FOLDER}{run_id}")


def landed(path: str) -> str | None:
    """The source whose received files a path below the lake holds; None of other paths. Other
    folders in ``landing`` are the user's."""
    top, *folders = path.split("/")
    received = top == LANDING and len(folders) > 1 and folders[1].startswith("ingest_date=")
    return folders[0] if received else None


def left_by(path: str) -> tuple[str, str] | None:
    """Which of the two a file is, and of which run, by its path below the lake; None of others."""
    top, *folders = path.split("/")[:-1]
    deepest = {QUARANTINE: 4, LANDING: 3}.get(top, 0)
    run = next((name for name in folders[2:deepest] if name.startswith(RUN_FOLDER)), None)
    return None if run is None else (top, run.removeprefix(RUN_FOLDER))
