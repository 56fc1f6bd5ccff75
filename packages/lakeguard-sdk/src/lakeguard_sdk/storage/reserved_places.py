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
from lakeguard_sdk.storage.location import until_wildcard
from lakeguard_sdk.storage.run_folders import LANDING, QUARANTINE, landed
from lakeguard_sdk.storage.storage import is_remote, join, local_path, located, storage_for

LEDGER = "_lakeguard"
STATE = ".lakeguard"
METADATA = "metadata"
"""Metadata records that are kept in files."""
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
_ESCAPES = {"%", "#", "\\"}
_AFTER_SCHEME = 2
"""Parts of ``s3://bucket/a`` that are no names: the scheme, and nothing."""
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
    if is_remote(located(lake, pattern)):
        return _reserved_remote(located(lake, pattern), lake, is_governed)
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
    stored = _StoredFolders(lake, is_governed)
    for path in paths:
        folder = os.path.dirname(path)
        if folder not in folders:
            folders[folder] = _reserved(folder, lake, is_governed, stored)
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
    return _reserved(place, lake, is_governed, _StoredFolders(lake, is_governed))


def _reserved(place: str, lake: str, is_governed: IsGoverned, stored: _StoredFolders) -> str | None:
    try:
        return (
            stored.problem_of(place) if is_remote(place) else _problem_of(place, lake, is_governed)
        )
    except OSError as error:
        return f"{place} cannot be looked at: {error.strerror or error}"


def _problem_of(place: str, lake: str, is_governed: IsGoverned) -> str | None:
    real = Path(os.path.realpath(place))
    root = None if is_remote(lake) else Path(os.path.realpath(local_path(lake)))
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
    if is_remote(location):
        names = (folder for folder, _ in _folders_above(location))
        delivered = (name for name in names if name.endswith(DELIVERED))
        return {name.removesuffix(DELIVERED): name for name in delivered}
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
        dataset = _delivered_dataset(str(folder / name))
        if dataset is not None:
            return delivery_problem(str(folder), dataset)
    table = _table_of(folder)
    if table is not None and (table / _LOG).is_dir() and is_governed(str(table)):
        return f"{folder} is where {table} is delivered; {_PARENTS}"
    return None


def _delivered_dataset(manifest: str) -> str | None:
    """The dataset that a manifest of delivered files names; None of other files."""
    try:
        found = json.loads(storage_for(manifest).read_bytes(manifest))
    except (OSError, ValueError, RecursionError):
        return None
    ours = isinstance(found, dict) and found.keys() >= _MANIFEST_KEYS
    return str(found["dataset"]) if ours else None


# In an object store a name is the only one of its object, so that names are compared.


def _reserved_remote(pattern: str, lake: str, is_governed: IsGoverned) -> str | None:
    parts = pattern.split("/")
    if set(pattern) & _ESCAPES or {"", ".", ".."} & {*parts[_AFTER_SCHEME:]}:
        return f"{pattern} may have another meaning to each library; write the names of its folders"
    return reserved_place("/".join(until_wildcard(parts)), lake, is_governed)


class _StoredFolders:
    """Folders of an object store, each looked at once."""

    def __init__(self, lake: str, is_governed: IsGoverned) -> None:
        self._lake, self._is_governed = lake.rstrip("/"), is_governed
        self._lakes: dict[str, bool] = {}
        self._known: dict[str, str | None] = {}

    def problem_of(self, place: str) -> str | None:
        for folder, inside in _folders_above(place):
            problem = _in_lake(folder, inside) if inside and self._is_lake(folder) else None
            if folder not in self._known:
                self._known[folder] = self._problem(folder)
            if found := problem or self._known[folder]:
                return found
        return None

    def _is_lake(self, folder: str) -> bool:
        if folder not in self._lakes:
            ledger = join(folder, LEDGER)
            self._lakes[folder] = folder == self._lake or storage_for(folder).has_files(ledger)
        return self._lakes[folder]

    def _problem(self, folder: str) -> str | None:
        above, _, name = folder.rpartition("/")
        if name in _OWN:
            return f"{folder} belongs to LakeGuard; {_PARENTS}"
        if above.endswith(f"/{_STAGING}") and is_id(name, "run"):
            return f"{folder} holds files of a run; {_PARENTS}"
        if self._is_table(folder):
            return f"{folder} is a table that LakeGuard governs; {_PARENTS}"
        for manifest in _MANIFESTS:
            dataset = _delivered_dataset(join(folder, manifest))
            if dataset is not None:
                return delivery_problem(folder, dataset)
        table = folder.removesuffix(DELIVERED)
        if table != folder and self._is_table(table):
            return f"{folder} is where {table} is delivered; {_PARENTS}"
        return None

    def _is_table(self, folder: str) -> bool:
        log = join(folder, _LOG)
        return storage_for(folder).has_files(log) and self._is_governed(folder)


def _folders_above(place: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The place and the folders above it in its bucket, each with the path from it to the place."""
    scheme, _, path = place.partition("://")
    bucket, *parts = path.rstrip("/").split("/")
    for depth in range(len(parts), 0, -1):
        yield f"{scheme}://{'/'.join((bucket, *parts[:depth]))}", tuple(parts[depth:])
    yield f"{scheme}://{bucket}", tuple(parts)


def _in_lake(root: Path | str, inside: tuple[str, ...]) -> str | None:
    """The problem of a place below the root of a lake."""
    top = inside[0]
    if top in _LAYERS:
        name = f"{top}.{inside[1]}" if len(inside) > 1 else f"{top}.NAME"
        place = join(str(root), *inside[:2])
        return f"{place} is where the table of {name} is; read it by name: `parents: [{name}]`"
    if top == QUARANTINE:
        return (
            f"{root}/{top} holds quarantined rows; replay them: lakeguard quarantine replay DATASET"
        )
    if top == METADATA:
        return f"{root}/{top} holds metadata records; read them: lakeguard records query"
    if landed("/".join(inside)) is not None:
        return f"{root}/{top} holds files that runs received; {_PARENTS}"
    return None


def _fixed_part(place: str) -> str:
    """The path before its first component with a wildcard."""
    return str(Path(*until_wildcard(Path(place).parts)))


def _below(path: str, lake: str) -> str:
    return path if is_remote(lake) else os.path.relpath(path, local_path(lake))
