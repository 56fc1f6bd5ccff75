"""File triggers below the lake's root. A path launches once per size and modification time, or tag
of an object store.

A file is taken once it has been stable for the quiet period.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from glob import has_magic
from itertools import islice
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import NamedTuple

from lakeguard.ledger.source_files import files_of, position_of
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import require_dataset
from lakeguard.scheduler.graph.current_jobs import CurrentJob
from lakeguard.scheduler.launch.gate_facts import under_way
from lakeguard.scheduler.launch.requests import Cause, CauseKind, LaunchRequest
from lakeguard.scheduler.triggers import queries
from lakeguard.scheduler.triggers.file_watch import FileState, FileWatch
from lakeguard.scheduler.triggers.plan import Planned, launch_planned
from lakeguard.scheduler.triggers.triggerable_jobs import Roster
from lakeguard.state.bulk_writes import in_pieces
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import data_hash
from lakeguard_sdk.errors import Overlapping
from lakeguard_sdk.model.evidence import SourceFile
from lakeguard_sdk.scheduling.jobs import Launch, Overlap
from lakeguard_sdk.storage.object_names import matching_objects
from lakeguard_sdk.storage.storage import is_remote, local_path

ACTOR = "trigger:files"
MOST_AT_ONCE = 1_000
"""Files launched per job and tick; the rest wait. A non-overlapping job takes one file once it is
free, because a refused file would not be offered again."""
_KIND = "file"
_ASKED_AT_ONCE = 2_000
"""Batch size of queries for launched files."""


class Arrived(NamedTuple):
    launches: list[Launch]
    settling: int
    """New files that may still be written to."""


def launch_arrived(context: PlaneContext, roster: Roster, file_watch: FileWatch) -> Arrived:
    jobs = roster.waiting("files")
    if not jobs:
        return Arrived([], 0)
    root, patterns = context.lake, {job.controls.files for job in jobs}
    names: dict[str, Collection[str]] = {}
    listed: dict[str, FileState] = {}
    if is_remote(root):
        for each in patterns:
            names[each] = found = _objects(root, each)
            listed |= found
    else:
        root = str(Path(local_path(root)).resolve())
        names = {each: matching_files(root, each) for each in patterns}
    wanted = {job.job_id: names[job.controls.files] for job in jobs}
    states = file_watch.scan(root, wanted, listed)
    _pass_launched(context, file_watch, states, jobs)
    whole = file_watch.whole(context.dispatch.quiet_seconds)
    plan = partial(_plan, jobs, states, whole, file_watch)
    return Arrived(
        launch_planned(context, "files", plan), len(file_watch.first_seen.keys() - whole)
    )


def _pass_launched(
    context: PlaneContext,
    file_watch: FileWatch,
    states: dict[str, list[FileState]],
    jobs: Sequence[CurrentJob],
) -> None:
    """Load what the State knows about files that are new to this process: the job was launched for
    them, or its dataset shows them already, because a run read them before the job existed."""
    found = file_watch.note(file for each in states.values() for file in each)
    if not found:
        return
    with context.read() as tx:
        for job in jobs:
            each = states[job.job_id]
            first = [file for file in each if file in found]
            new = set(_new(tx, job.job_id, first, file_watch))
            shown = _shown_files(tx, job, new)
            for file in [file for file in new if _as_read(file) in shown]:
                file_watch.know_launched(job.job_id, file)
                new.discard(file)
            states[job.job_id] = [file for file in each if file in new or file not in found]
    file_watch.note(file for each in states.values() for file in each)


def _shown_files(
    tx: Transaction, job: CurrentJob, among: Collection[FileState]
) -> frozenset[SourceFile]:
    """Those of the files that the published version of the job's dataset has read."""
    if job.definition.dataset is None or not among:
        return frozenset()
    dataset_id = require_dataset(tx, job.definition.dataset).dataset_id
    published = pointer(tx, dataset_id)
    if published is None or position_of(tx, dataset_id, published.version) is None:
        return frozenset()
    found = files_of(tx, dataset_id, published.version, [file.path for file in among])
    return frozenset(file.model_copy(update={"sha256": ""}) for file in found.values())


def _as_read(file: FileState) -> SourceFile:
    modified_ms = file.modified_ns // 1_000_000
    return SourceFile(path=file.path, size=file.size, modified_ms=modified_ms, etag=file.etag)


def _objects(root: str, pattern: str) -> dict[str, FileState]:
    """Matching objects, as one listing shows them."""
    return {
        path: FileState(path, facts.size, facts.modified_ms * 1_000_000, facts.etag)
        for path, facts in matching_objects(root, pattern).items()
    }


def _plan(
    jobs: Sequence[CurrentJob],
    states: Mapping[str, Sequence[FileState]],
    whole: set[FileState],
    file_watch: FileWatch,
    tx: Transaction,
) -> Planned:
    planned, busy = Planned(), under_way(tx, jobs)
    for job in jobs:
        if job.job_id in busy:
            continue
        most = 1 if job.controls.overlap is Overlap.SKIP else MOST_AT_ONCE
        ready = [file for file in states[job.job_id] if file in whole]
        new = _new(tx, job.job_id, ready, file_watch)
        for file in islice(new, most):
            planned.add(_request(job, file), {(job.job_id, _watched(file)): file.digest})
    return planned


def _new(
    tx: Transaction, job_id: str, states: Sequence[FileState], file_watch: FileWatch
) -> Iterator[FileState]:
    """Files that the job was not launched for; launched ones are remembered."""
    for piece in in_pieces(states, _ASKED_AT_ONCE):
        watched = {_watched(file): file for file in piece}
        seen = queries.cursors_in(tx, job_id, watched)
        for what, file in watched.items():
            if seen.get(what) == file.digest:
                file_watch.know_launched(job_id, file)
            else:
                yield file


def _watched(file: FileState) -> str:
    return f"{_KIND}:{data_hash(file.path)}"


def _request(job: CurrentJob, file: FileState) -> LaunchRequest:
    details = {"path": file.path, "size": file.size, "modified_ns": str(file.modified_ns)}
    return LaunchRequest(
        job_id=job.job_id,
        key=f"file:{file.digest}",
        cause=Cause(kind=CauseKind.FILES, details=details),
        actor=ACTOR,
        parameters={"file": file.path},
        waits_out=(Overlapping,),
    )


# Glob matching below a folder: each folder is listed once, no file is opened.

_MARKERS = ("_", ".")
_ANY_DEPTH = "**"
Entry = tuple[str, bool]
"""A directory entry: name, and whether it is a folder."""


def matching_files(root: str, pattern: str) -> list[str]:
    """Matching paths below the root, sorted. Unreadable folders count as empty."""
    search = _Search(root, tuple(pattern.split("/")))
    return sorted(search.below("", frozenset({0})))


@dataclass(frozen=True)
class _Search:
    root: str
    steps: tuple[str, ...]

    def below(self, folder: str, reached: frozenset[int]) -> Iterator[str]:
        """Files below a folder that match the remaining steps."""
        open_steps = self._with_none_between(reached)
        for name, is_folder in self._entries(folder, open_steps):
            path = f"{folder}{name}"
            if is_folder:
                onward = frozenset(self._onward(name, open_steps))
                if onward:
                    yield from self.below(f"{path}/", onward)
            elif not name.startswith(_MARKERS) and self._is_found(name, open_steps):
                yield path

    def _with_none_between(self, reached: frozenset[int]) -> list[int]:
        """``**`` also matches no folder."""
        found = set(reached)
        for step in sorted(reached):
            while step < len(self.steps) and self.steps[step] == _ANY_DEPTH:
                step += 1
                found.add(step)
        return sorted(step for step in found if step < len(self.steps))

    def _entries(self, folder: str, open_steps: list[int]) -> Iterator[Entry]:
        names = [self.steps[step] for step in open_steps]
        if any(has_magic(name) for name in names):
            return _listed(f"{self.root}/{folder}")
        return _looked_up(f"{self.root}/{folder}", names)

    def _onward(self, name: str, open_steps: list[int]) -> Iterator[int]:
        for step in open_steps:
            text = self.steps[step]
            if name.startswith(_MARKERS) and name[0] != text[0]:
                continue
            if text == _ANY_DEPTH:
                yield step
            elif step + 1 < len(self.steps) and _is_like(name, text):
                yield step + 1

    def _is_found(self, name: str, open_steps: list[int]) -> bool:
        last = len(self.steps) - 1
        text = self.steps[last]
        return last in open_steps and (text == _ANY_DEPTH or _is_like(name, text))


def _is_like(name: str, text: str) -> bool:
    return fnmatchcase(name, text) if has_magic(text) else name == text


def _listed(folder: str) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as entries:
            found = [
                (entry.name, entry.is_dir(follow_symlinks=False))
                for entry in entries
                if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return
    yield from (entry for entry in found if _is_text(entry[0]))


def _looked_up(folder: str, names: list[str]) -> Iterator[Entry]:
    for name in dict.fromkeys(names):
        try:
            mode = os.lstat(f"{folder}{name}").st_mode
        except OSError:
            continue
        if S_ISDIR(mode) or S_ISREG(mode):
            yield name, S_ISDIR(mode)


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
