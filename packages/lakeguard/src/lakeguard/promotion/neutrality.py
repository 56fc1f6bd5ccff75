"""Whether a compaction changes no row: what the control plane knows against what is claimed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lakeguard.lake.port import LiveFile
from lakeguard_sdk.canonical import is_sha256
from lakeguard_sdk.compaction import Compacted
from lakeguard_sdk.partitions import partition_difference
from lakeguard_sdk.schema import TableSchema

Partition = frozenset[tuple[str, str | None]]


def why_not_neutral(
    compacted: Compacted,
    live: Sequence[LiveFile],
    staging: str,
    schema: TableSchema,
    partition_by: tuple[str, ...],
) -> str | None:
    """Why the files added may show other rows than those removed; None where they cannot.

    Files and counts are held against the log; that the rows are the same rows the digests say,
    which were taken of the files themselves.
    """
    shown = {file.path: file for file in live}
    unknown = set(compacted.removes) - shown.keys()
    if unknown or len(set(compacted.removes)) != len(compacted.removes):
        return f"it removes files that the table does not show: {min(unknown, default='twice')}"
    if not 0 < len(compacted.adds) < len(compacted.removes):
        return f"{len(compacted.removes)} files would become {len(compacted.adds)}"
    if why := _misplaced(compacted, shown, staging, schema, partition_by):
        return why
    removed = _rows((shown[path].partition, shown[path].rows) for path in compacted.removes)
    if removed != _rows((file.partition, file.rows) for file in compacted.adds):
        return "a partition would have another number of rows"
    if compacted.rows != sum(removed.values()):
        return f"{compacted.rows:,} rows were compared, the files have {sum(removed.values()):,}"
    if not compacted.before or compacted.before != compacted.after:
        return "the rows of the files added are not those of the files removed"
    return None


def _misplaced(
    compacted: Compacted,
    shown: Mapping[str, LiveFile],
    staging: str,
    schema: TableSchema,
    partition_by: tuple[str, ...],
) -> str | None:
    for file in compacted.adds:
        parts = file.path.split("/")
        inside = file.path.startswith(f"{staging}/") and not {"", ".", ".."} & set(parts)
        if not inside or file.path in shown:
            return f"{file.path!r} is not in the run's staging folder"
        if not is_sha256(file.sha256):
            return f"{file.path!r} has no hash of its content"
        odd = partition_difference(file.partition, partition_by, schema)
        if odd is not None:
            return f"{file.path!r} is in no partition of the table: {odd}"
    paths = [file.path for file in compacted.adds]
    return "a file is added twice" if len(set(paths)) != len(paths) else None


def _rows(files: Iterable[tuple[Mapping[str, str | None], int]]) -> Counter[Partition]:
    counted: Counter[Partition] = Counter()
    for partition, rows in files:
        counted[frozenset(partition.items())] += rows
    return counted
