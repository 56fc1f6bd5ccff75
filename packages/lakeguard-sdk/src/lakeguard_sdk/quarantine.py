"""Where rows are kept aside: below the lake, a folder for each run."""

from __future__ import annotations

from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.storage import join

QUARANTINE = "quarantine"
_RUN = "execution_id="


def quarantine_place(lake: str, dataset: DatasetName, run_id: str) -> str:
    return join(lake, QUARANTINE, dataset.layer.value, dataset.name, f"{_RUN}{run_id}")


def quarantined_by(path: str) -> str | None:
    """The run that a file belongs to, by its path below the lake; None of any other file."""
    top, *folders = path.split("/")[:-1]
    if top != QUARANTINE or len(folders) != 3 or not folders[-1].startswith(_RUN):
        return None
    return folders[-1].removeprefix(_RUN)
