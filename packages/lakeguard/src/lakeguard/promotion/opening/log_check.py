"""Whether the log of a table shows its readers what was published.

Commits are compared with their recorded hashes. Readers do not read old commits, but a checkpoint
that repeats them: where there is one, what they see is compared with the recorded moves.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakeguard.lake.compacted_commits import compacted_difference
from lakeguard.lake.log_repair import RecordedLog, has_derived_files, has_log, read_recorded
from lakeguard.lake.table_view import (
    LOG_ERRORS,
    Approved,
    differences,
    read_view,
    unreadable,
)
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.intents import recorded_commits
from lakeguard.ledger.known_moves import governed_table
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import RegisteredDataset
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.delta_log import parse_commit

_MOST_NAMED = 5


def log_damage(
    context: PlaneContext, dataset: RegisteredDataset, commit: int | None = None
) -> str | None:
    """How the log differs from the record, or None; ``commit`` is the one that is to be read.

    Raises ``TableUnreadable`` for a log that cannot be read.
    """
    location = context.location_of(dataset)
    with context.read() as tx:
        recorded = recorded_commits(tx, dataset.dataset_id)
    log = read_recorded(location, recorded)
    if log.altered:
        return f"commits of the log of {dataset.name} were altered: {commit_numbers(log.altered)}"
    if commit is None or not recorded or not has_log(location):
        return None
    if recorded.keys() >= set(range(commit + 1)) and not has_derived_files(location):
        return None
    with context.read() as tx:
        approved = _approved(tx, dataset, log, recorded, commit)
    try:
        found = next(differences(read_view(location, commit), approved), None)
        found = found or compacted_difference(location)
    except LOG_ERRORS as error:
        raise unreadable(location, error) from error
    return None if found is None else f"the log of {dataset.name} was altered: {found}"


def commit_numbers(versions: list[int]) -> str:
    shown = ", ".join(map(str, versions[:_MOST_NAMED]))
    more = len(versions) - _MOST_NAMED
    return f"{shown} and {more} more" if more > 0 else shown


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
