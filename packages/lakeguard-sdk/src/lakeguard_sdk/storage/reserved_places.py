"""Places that no source may read: tables, what was delivered of them, and LakeGuard's own files, of
this lake or another.

Data inside a lake is read by name, as a parent: a path would lose its tags and lineage. Places are
compared by real path, and a file with several names is refused, so that neither links nor patterns
lead around the check. A copied table is recognised by its log, a copied delivery by its manifest. A
copy of a single file is another file; nothing here can recognise it.
"""

from __future__ import annotations

import glob
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from lakeguard_sdk.core.enums import Layer, TargetFormat
from lakeguard_sdk.core.ids import is_id
from lakeguard_sdk.storage.run_folders import LANDING, QUARANTINE, landed
from lakeguard_sdk.storage.storage import local_path, located

LEDGER = "_lakeguard"
STATE = ".lakeguard"
_OWN = (LEDGER, STATE)
_LAYERS = tuple(layer.value for layer in Layer)
_LOG = "_delta_log"
_STAGING = "runs"
DELIVERED = ".files"
"""A version is delivered to ``<table>.files``."""
MANIFEST = "manifest.json"
_MANIFESTS = (MANIFEST, *(f"{form}.json" for form in TargetFormat))
"""Of a delivery, and of each set of files in it."""
_MANIFEST_KEYS = {"dataset", "dataset_id", "table_id", "version", "run_id", "decision_id", "files"}
_MOST_EXPANDED = 10_000
_PARENTS = "read a dataset by its name instead, in `parents:`"

IsGoverned = Callable[[str], bool]
"""Whether the Delta table in a folder has commits of LakeGuard."""


def reserved_source(
    pattern: str, lake: str, is_governed: IsGoverned, *, expand: bool = True
) -> str | None:
    """Why no source may read the path or glob, or None.

    Some of the files that match now are checked too; without ``expand``, only the part before the
    first wildcard is. A run checks every file that it reads; it ignores received files where a
    wildcard matches them by chance.
    """
    place = local_path(located(lake, pattern))
    fixed = _fixed_part(place)
    problem = reserved_place(fixed, lake, is_governed)
    if problem or fixed == place or not expand:
        return problem
    found = islice(glob.iglob(place, recursive=True), _MOST_EXPANDED)
    meant = _below(fixed, lake).split("/")[0] == LANDING
    read = (path for path in found if meant or landed(_below(path, lake)) is None)
    return reserved_among(read, lake, is_governed)


def reserved_among(paths: Iterable[str], lake: str, is_governed: IsGoverned) -> str | None:
    """Why one of many files is reserved, or None; each folder is checked once."""
    folders: dict[str, str | None] = {}
    for path in paths:
        folder = os.path.dirname(path)
        if folder not in folders:
            folders[folder] = reserved_place(folder, lake, is_governed)
        linked = os.path.islink(path)
        problem = reserved_place(path, lake, is_governed) if linked else folders[folder]
        if problem is not None:
            return problem
        if _has_several_names(path):
            return f"{path} is a hard link: it has other names, which may be in a table; copy it"
    return None


def _has_several_names(path: str) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return found.st_nlink > 1 and stat.S_ISREG(found.st_mode)


def reserved_place(place: str, lake: str, is_governed: IsGoverned) -> str | None:
    """Why no source may read the place, or None; it need not exist."""
    try:
        return _problem_of(place, lake, is_governed)
    except OSError as error:
        return f"{place} cannot be looked at: {error.strerror}"


def _problem_of(place: str, lake: str, is_governed: IsGoverned) -> str | None:
    real = Path(os.path.realpath(place))
    root = Path(os.path.realpath(local_path(lake)))
    folders = (real, *real.parents)
    for folder in folders:
        inside, problem = real.relative_to(folder).parts, None
        if folder.name in _OWN:
            problem = f"{folder} belongs to LakeGuard; {_PARENTS}"
        elif inside and (folder == root or (folder / LEDGER).is_dir()):
            problem = _in_lake(folder, inside)
        if problem is not None:
            return problem
    for folder in folders:
        if folder.parent.name == _STAGING and is_id(folder.name, "run"):
            return f"{folder} holds files of a run; {_PARENTS}"
    tables = (folder for folder in folders if (folder / _LOG).is_dir())
    ours = next((table for table in tables if is_governed(str(table))), None)
    if ours is not None:
        return f"{ours} is a table that LakeGuard governs; {_PARENTS}"
    return next(filter(None, (_delivered(folder, is_governed) for folder in folders)), None)


def delivery_problem(folder: str, dataset: str) -> str:
    """The problem of a folder with delivered files."""
    return f"{folder} holds delivered files; read them by name: `parents: [{dataset}]`"


def delivery_folders(location: str) -> dict[str, str]:
    """Every folder above the location that a table is delivered to by its name, by the table's
    real path."""
    real = Path(os.path.realpath(local_path(location)))
    folders = ((_table_of(folder), folder) for folder in (real, *real.parents))
    return {str(table): str(folder) for table, folder in folders if table is not None}


def _table_of(folder: Path) -> Path | None:
    """The table that would be delivered to a folder of this name."""
    name = folder.name.removesuffix(DELIVERED)
    return folder.with_name(name) if name and name != folder.name else None


def _delivered(folder: Path, is_governed: IsGoverned) -> str | None:
    """The problem of a folder with delivered files; of the first delivery, even before its
    manifest is written."""
    for name in _MANIFESTS:
        dataset = _delivered_dataset(folder / name)
        if dataset is not None:
            return delivery_problem(str(folder), dataset)
    table = _table_of(folder)
    if table is not None and (table / _LOG).is_dir() and is_governed(str(table)):
        return f"{folder} is where {table} is delivered; {_PARENTS}"
    return None


def _delivered_dataset(manifest: Path) -> str | None:
    """The dataset that a manifest of delivered files names; None of other files."""
    try:
        found = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    ours = isinstance(found, dict) and found.keys() >= _MANIFEST_KEYS
    return str(found["dataset"]) if ours else None


def _in_lake(root: Path, inside: tuple[str, ...]) -> str | None:
    """The problem of a place below the root of a lake."""
    top = inside[0]
    if top in _LAYERS:
        name = f"{top}.{inside[1]}" if len(inside) > 1 else f"{top}.NAME"
        place = root.joinpath(*inside[:2])
        return f"{place} is where the table of {name} is; read it by name: `parents: [{name}]`"
    if top == QUARANTINE:
        return (
            f"{root / top} holds quarantined rows; replay them: lakeguard quarantine replay DATASET"
        )
    if landed("/".join(inside)) is not None:
        return f"{root / top} holds files that runs received; {_PARENTS}"
    return None


def _fixed_part(place: str) -> str:
    """The path before its first component with a wildcard."""
    return str(Path(*_until_wildcard(Path(place).parts)))


def _until_wildcard(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        if glob.has_magic(part):
            return
        yield part


def _below(path: str, lake: str) -> str:
    return os.path.relpath(path, local_path(lake))
