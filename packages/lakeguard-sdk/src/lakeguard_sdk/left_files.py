"""Where a run leaves rows and files beside its table: below the lake, a folder for each run."""

from __future__ import annotations

from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.storage import join

QUARANTINE = "quarantine"
"""``<lake>/quarantine/<layer>/<name>/execution_id=<run>``: rows that were kept aside."""
LANDING = "landing"
"""``<lake>/landing/<source>/ingest_date=<day>/execution_id=<run>``: files as they were received."""
_RUN = "execution_id="


def quarantine_place(lake: str, dataset: DatasetName, run_id: str) -> str:
    return join(lake, QUARANTINE, dataset.layer.value, dataset.name, f"{_RUN}{run_id}")


def landing_place(lake: str, source: str, day: str, run_id: str) -> str:
    return join(lake, LANDING, source, f"ingest_date={day}", f"{_RUN}{run_id}")


def left_by(path: str) -> tuple[str, str] | None:
    """Which of the two a file is, and of which run, by its path below the lake; None of others."""
    top, *folders = path.split("/")[:-1]
    if top not in (QUARANTINE, LANDING) or len(folders) < 3 or not folders[2].startswith(_RUN):
        return None
    return top, folders[2].removeprefix(_RUN)
