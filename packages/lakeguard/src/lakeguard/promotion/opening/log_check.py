"""Whether the log of a table shows its readers what was published.

Commits are compared with their recorded hashes. Readers do not read old commits, but a checkpoint
that repeats them: where there is one, what they see is compared with the recorded moves.

What this costs does not follow the length of a table's history. A checkpoint that is as a move
left it is known to repeat the commits before it: of these, some are compared by turns, and
``verify`` compares all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lakeguard.lake.log_repair import RecordedLog
from lakeguard.lake.table_view import Approved, ShownFile
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.intents import (
    files_of_moves,
    known_checkpoint,
    next_seq,
    recorded_commits,
    table_id_of,
)
from lakeguard.ledger.known_moves import governed_table
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.delta_log import Commit, parse_commit

_MOST_NAMED = 5
LONG = 100
"""More moves than that are a long history."""
AT_A_TIME = 20
"""Old moves whose commits are compared, and whose files are looked for, by one run."""


class LogPart(NamedTuple):
    """Commits to compare."""

    recorded: Mapping[int, str]
    since: int = 0
    """The known checkpoint that readers start from; 0 if all commits are compared."""

    @property
    def newer(self) -> set[int]:
        return {version for version in self.recorded if version >= self.since}


def log_damage(
    context: PlaneContext,
    dataset: RegisteredDataset,
    commit: int | None = None,
    *,
    whole: bool = False,
) -> str | None:
    """How the log differs from the record, or None; ``commit`` is the one that is to be read.
    ``whole`` compares every commit, however long the history is.

    Raises ``TableUnreadable`` if the storage of the log cannot be read.
    """
    location = context.location_of(dataset)
    known = None if whole or commit is None else _known_part(context, dataset, commit)
    part = known or _whole(context, dataset)
    log = context.tables.read_log(location, part.recorded, part.since, by_mark=not whole)
    found = _altered(log) or _wrong_head(context, dataset, log, part.recorded)
    if found is None and commit is not None and _may_differ(log, part, commit):
        if part.since:
            part = _whole(context, dataset)
            log = context.tables.read_log(location, part.recorded, by_mark=not whole)
        with context.read() as tx:
            approved = _approved(tx, dataset, log, part.recorded, commit)
        try:
            found = context.tables.shown_difference(location, commit, approved)
        except TableUnreadable as error:
            found = f"it cannot be read: {error.fields['reason']}"
    return None if found is None else f"the log of {dataset.name} is damaged: {found}"


def _whole(context: PlaneContext, dataset: RegisteredDataset) -> LogPart:
    with context.read() as tx:
        return LogPart(recorded_commits(tx, dataset.dataset_id))


def _known_part(context: PlaneContext, dataset: RegisteredDataset, commit: int) -> LogPart | None:
    """None if the history is short, or no checkpoint is as a move left it."""
    location, dataset_id = context.location_of(dataset), dataset.dataset_id
    with context.read() as tx:
        last = next_seq(tx, dataset_id) - 1
        known = known_checkpoint(tx, dataset_id, commit) if last > LONG else None
    if known is None or context.tables.checkpoint_mark(location, known.commit) != known.mark:
        return None
    with context.read() as tx:
        older = recorded_commits(tx, dataset_id, turn(last, known.seq - 1, AT_A_TIME))
        newer = recorded_commits(tx, dataset_id, range(known.seq, last + 1))
    return LogPart({**older, **newer}, known.commit)


def files_to_find(tx: Transaction, dataset_id: str, commit: int) -> dict[str, int]:
    """Sizes by path: of all files that a commit shows, or of some files of a table with a long
    history. An undamaged log lists the same files, so it need not be read."""
    files = recorded_files(tx, dataset_id, commit)
    if files is not None:
        return {path: file.size for path, file in files.items()}
    last = next_seq(tx, dataset_id) - 1
    return files_of_moves(tx, dataset_id, turn(last, last, AT_A_TIME))


def recorded_files(tx: Transaction, dataset_id: str, commit: int) -> dict[str, ShownFile] | None:
    """The files that a decided commit shows; None for a table with a long history."""
    if next_seq(tx, dataset_id) - 1 > LONG:
        return None
    return governed_table(tx, dataset_id).files_at(commit)


def turn(number: int, moves: int, size: int) -> range:
    """At most so many of the moves from 1 on; others for the next number, until all had their
    turn."""
    turns = max(1, -(-moves // size))
    start = number % turns * size
    return range(start + 1, min(start + size, moves) + 1)


def _altered(log: RecordedLog) -> str | None:
    if log.altered:
        return commits_were(log.altered, "altered")
    if log.odd:
        more = f", and {len(log.odd) - 1:,} more of its entries" if len(log.odd) > 1 else ""
        return f"{log.odd[0]}{more}"
    return commits_were(log.lost, "lost") if log.lost else None


def _wrong_head(
    context: PlaneContext, dataset: RegisteredDataset, log: RecordedLog, recorded: Mapping[int, str]
) -> str | None:
    """Commits of others after the recorded ones; an engine may refuse them whatever they change,
    and no move could commit after one with a wrong number."""
    if log.head <= max(recorded, default=log.head):
        return None
    location = context.location_of(dataset)
    try:
        context.tables.require_readable(location)
    except TableUnreadable as error:
        return f"after commit {max(recorded)} it cannot be read: {error.fields['reason']}"
    later = context.tables.commits_since(location, max(recorded))
    with context.read() as tx:  # read after the log, so that its moves are known
        wrong = wrongly_numbered(tx, dataset.dataset_id, later)
    return has_wrong_number(wrong[0]) if wrong else None


def wrongly_numbered(tx: Transaction, dataset_id: str, commits: Iterable[Commit]) -> list[Commit]:
    """Those, in the order of the log, that carry a number which was not given to a move."""
    numbered = [commit for commit in commits if commit.seq is not None]
    if not numbered or table_id_of(tx, dataset_id) is None:
        return []
    numbers = governed_table(tx, dataset_id).numbers
    return [commit for commit in numbered if not numbers.allow(commit)]


def has_wrong_number(commit: Commit) -> str:
    return f"commit {commit.version} carries number {commit.seq}, which was given to no move"


def _may_differ(log: RecordedLog, part: LogPart, commit: int) -> bool:
    """Whether readers read anything else than recorded commits and the known checkpoint."""
    if not part.recorded:
        return False
    return log.derived or not part.newer >= set(range(part.since, commit + 1))


def commits_were(versions: Sequence[int], what: str) -> str:
    """What happened to these commits, by their numbers."""
    if len(versions) == 1:
        return f"commit {versions[0]} was {what}"
    numbers = ", ".join(map(str, versions[:_MOST_NAMED]))
    more = len(versions) - _MOST_NAMED
    return f"commits {numbers}{f' and {more:,} more' if more > 0 else ''} were {what}"


def _approved(
    tx: Transaction,
    dataset: RegisteredDataset,
    log: RecordedLog,
    recorded: Mapping[int, str],
    commit: int,
) -> Approved:
    governed = governed_table(tx, dataset.dataset_id)
    first = governed.first
    return Approved(
        governed.files_at(commit),
        _schema(tx, log, recorded, commit),
        None if first is None else first.partition_by,
    )


def _schema(tx: Transaction, log: RecordedLog, recorded: Mapping[int, str], commit: int) -> str:
    """As last set by a commit that is there or recorded; empty if all are lost."""
    for version in sorted({*log.with_schema, *log.missing}, reverse=True):
        if version > commit:
            continue
        body = log.with_schema.get(version)
        if body is None:
            try:
                body = get_document(tx, recorded[version]).encode()
            except KeyError:
                continue
        schema = parse_commit(version, body).table_schema
        if schema is not None:
            return schema
    return ""
