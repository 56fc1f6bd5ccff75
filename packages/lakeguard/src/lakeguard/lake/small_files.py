"""Which files of a table are worth merging: pure choice over what a version shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lakeguard.lake.port import LiveFile
from lakeguard_sdk.model.delta_log import written_whole

MEGABYTE = 1024 * 1024

Group = tuple[str, ...]


def small_file_groups(files: Iterable[LiveFile], target_bytes: int) -> tuple[Group, ...]:
    """Groups of at least two files of one partition, each about ``target_bytes`` together.

    A file that has the size already is left alone, and so is one of which only the table's log
    tells the partition: its rows cannot. The same files give the same groups.
    """
    partitions: dict[tuple[tuple[str, str | None], ...], list[LiveFile]] = {}
    for file in sorted(files, key=lambda file: (file.size, file.path)):
        if file.size < target_bytes and _tells_its_partition(file):
            partitions.setdefault(tuple(sorted(file.partition.items())), []).append(file)
    found = [group for small in partitions.values() for group in _filled(small, target_bytes)]
    return tuple(sorted(found))


def _tells_its_partition(file: LiveFile) -> bool:
    return not file.partition or written_whole(file.path)


def _filled(small: list[LiveFile], target_bytes: int) -> Iterator[Group]:
    """From the smallest up, so that few large files are rewritten for the sake of small ones."""
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
