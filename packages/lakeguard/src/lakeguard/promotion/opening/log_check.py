"""Whether the log of a table shows its readers what was published.

Commits are compared with their recorded hashes. Readers do not read old commits, but a checkpoint
that repeats them: where there is one, what they see is compared with the recorded moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeguard.lake.log_repair import RecordedLog
from lakeguard.lake.table_view import Approved
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.intents import recorded_commits
from lakeguard.ledger.known_moves import governed_table
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.delta_log import parse_commit

_MOST_NAMED = 5


def log_damage(
    context: PlaneContext, dataset: RegisteredDataset, commit: int | None = None
) -> str | None:
    """How the log differs from the record, or None; ``commit`` is the one that is to be read.

    Raises ``TableUnreadable`` if the storage of the log cannot be read.
    """
    location = context.location_of(dataset)
    with context.read() as tx:
        recorded = recorded_commits(tx, dataset.dataset_id)
    log = context.tables.read_log(location, recorded)
    found = _altered(log) or _unreadable_head(context, location, log, recorded)
    if found is None and commit is not None and recorded and _may_differ(log, recorded, commit):
        with context.read() as tx:
            approved = _approved(tx, dataset, log, recorded, commit)
        try:
            found = context.tables.shown_difference(location, commit, approved)
        except TableUnreadable as error:
            found = f"it cannot be read: {error.fields['reason']}"
    return None if found is None else f"the log of {dataset.name} is damaged: {found}"


def _altered(log: RecordedLog) -> str | None:
    if log.altered:
        return commits_were(log.altered, "altered")
    if log.odd:
        more = f", and {len(log.odd) - 1:,} more of its entries" if len(log.odd) > 1 else ""
        return f"{log.odd[0]}{more}"
    return commits_were(log.lost, "lost") if log.lost else None


def _unreadable_head(
    context: PlaneContext, location: str, log: RecordedLog, recorded: Mapping[int, str]
) -> str | None:
    """Commits of others after the recorded ones; an engine may refuse them whatever they change."""
    if log.head <= max(recorded, default=log.head):
        return None
    try:
        context.tables.require_readable(location)
    except TableUnreadable as error:
        return f"after commit {max(recorded)} it cannot be read: {error.fields['reason']}"
    return None


def _may_differ(log: RecordedLog, recorded: Mapping[int, str], commit: int) -> bool:
    """Whether readers read anything else than recorded commits."""
    return log.derived or not recorded.keys() >= set(range(commit + 1))


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
