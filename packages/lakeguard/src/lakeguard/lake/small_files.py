"""Selects small files to merge; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakeguard.lake.port import LiveFile
from lakeguard_sdk.model.delta_log import written_whole

MEGABYTE = 1024 * 1024

Group = tuple[str, ...]


def small_file_groups(files: Iterable[LiveFile], target_bytes: int) -> tuple[Group, ...]:
    """Groups of at least two files of one partition, each about ``target_bytes`` in total.

    Files that are large enough are skipped, and so are files whose partition values are only in the
    log and not in their rows. Deterministic.
    """
    partitions: dict[tuple[tuple[str, str | None], ...], list[LiveFile]] = {}
    for file in sorted(files, key=lambda file: (file.size, file.path)):
        if file.size < target_bytes and _contains_its_partition(file):
            partitions.setdefault(tuple(sorted(file.partition.items())), []).append(file)
    found = [group for small in partitions.values() for group in _filled(small, target_bytes)]
    return tuple(sorted(found))


def _contains_its_partition(file: LiveFile) -> bool:
    return not file.partition or written_whole(file.path)


def _filled(small: list[LiveFile], target_bytes: int) -> Iterator[Group]:
    """Smallest first, so that few large files are rewritten for small ones."""
    group: list[str] = []
    held = 0
    for file in small:
        if held + file.size > target_bytes and len(group) > 1:
            yield tuple(sorted(group))
            group, held = [], 0
        group.append(file.path)
        held += file.size
    if len(group) > 1:
        yield tuple(sorted(group))
