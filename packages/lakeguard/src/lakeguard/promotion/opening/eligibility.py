"""Facts that make a run ineligible before any data is read."""

from __future__ import annotations

from lakeguard.lake.port import Origin
from lakeguard.ledger.intents import (
    committed_hashes,
    file_records,
    left_intent,
    open_intent,
    recorded_commits,
    table_id_of,
)
from lakeguard.ledger.maintenance import removed_versions
from lakeguard.ledger.table_findings import open_finding
from lakeguard.ledger.versions import (
    Pointer,
    StoredVersion,
    require_version,
    shown_at,
    stored_versions,
)
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.log_check import files_to_find, log_damage
from lakeguard.promotion.records.table_findings import TableTrouble
from lakeguard.registry.store import RegisteredDataset
from lakeguard.settings import FileCheck
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import CheckKind, LoadType, Outcome, TableProblem
from lakeguard_sdk.errors import TableUnreadable
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.delta_log import Commit


class Findings:
    """Collects eligibility checks; each is in the decision, passed or not."""

    def __init__(self) -> None:
        self._checks: list[CheckResult] = []
        self.troubles: list[TableTrouble] = []
        """Problems of tables, to be recorded with the refusal."""

    @property
    def checks(self) -> tuple[CheckResult, ...]:
        return tuple(self._checks)

    def refuse(self, check_id: str, message: str) -> None:
        self._checks.append(_check(check_id, Outcome.FAIL, message))

    def warn(self, check_id: str, message: str) -> None:
        self._checks.append(_check(check_id, Outcome.WARN, message))

    def refuse_table(self, check_id: str, trouble: TableTrouble) -> None:
        self._checks = [check for check in self._checks if check.check_id != check_id]
        self.refuse(check_id, trouble.message)
        self.troubles.append(trouble)

    def accept(self, check_id: str, message: str) -> None:
        self._checks.append(_check(check_id, Outcome.PASS, message))


def _check(check_id: str, outcome: Outcome, message: str) -> CheckResult:
    return CheckResult(
        kind=CheckKind.ELIGIBILITY,
        check_id=check_id,
        expression=check_id,
        outcome=outcome,
        message=message,
    )


def find_rogue_commit(
    context: PlaneContext,
    dataset: RegisteredDataset,
    published: Pointer | None,
    findings: Findings,
    *,
    replaced: bool = False,
) -> None:
    """Refuse if the table is damaged or shows data without a decision.

    Lost or altered files are no obstacle to a run whose files replace all others: the log says
    which, and none of them is read.
    """
    try:
        _check_table(context, dataset, published, findings, replaced)
    except TableUnreadable as error:
        findings.refuse_table("table", unreadable_trouble(dataset, error))


def _check_table(
    context: PlaneContext,
    dataset: RegisteredDataset,
    published: Pointer | None,
    findings: Findings,
    replaced: bool,
) -> None:
    location = context.location_of(dataset)
    commit = None if published is None else published.commit
    with context.read() as tx:
        known = table_id_of(tx, dataset.dataset_id) is not None
    if not context.tables.exists(location):
        if known:
            gone = f"the table of {dataset.name} is gone from {dataset.location}"
            message = f"{gone}; {undo_command(dataset)}"
            findings.refuse_table("table", TableTrouble(dataset, TableProblem.DAMAGE, message))
        return
    altered = log_damage(context, dataset, commit)
    if altered and not is_replaced(context, dataset):
        findings.refuse_table("table", log_trouble(dataset, altered))
        return
    if not is_ours(context, dataset, context.tables.origin(location)):
        way_out = "move it away, then run again"
        if dataset.definition.location:
            way_out = f"first: lakeguard adopt {dataset.name} {dataset.location}"
        findings.refuse(
            "table", f"{dataset.location} holds a Delta table that is not {dataset.name}: {way_out}"
        )
        return
    if published is not None and (damage := _published_damage(context, dataset, published)):
        message = f"v{published.version} of {dataset.name} is damaged: {damage}"
        if not replaced:
            message = f"{message}; {way_out_of_damage(context, dataset, published)}"
        findings.troubles.append(TableTrouble(dataset, TableProblem.DAMAGE, message))
        if not replaced:
            findings.refuse("table", message)
            return
    with context.read() as tx:
        left = left_intent(tx, dataset.dataset_id)
    if left is not None:
        ended = f"run {left.run_id} of {dataset.name} ended on a damaged log"
        findings.refuse_table("table", log_trouble(dataset, ended))
        return
    rogue = rogue_commit(context, dataset, 0 if published is None else published.commit)
    if rogue is None:
        findings.accept("table", "every commit of the table has a decision behind it")
        return
    message = rogue_message(dataset, rogue, known=known)
    findings.refuse_table("table", TableTrouble(dataset, TableProblem.FOREIGN_COMMIT, message))


def log_trouble(dataset: RegisteredDataset, message: str) -> TableTrouble:
    return TableTrouble(dataset, TableProblem.LOG, f"{message}; {undo_command(dataset)}")


def unreadable_trouble(dataset: RegisteredDataset, error: TableUnreadable) -> TableTrouble:
    return log_trouble(
        dataset, f"the log of {dataset.name} cannot be read: {error.fields['reason']}"
    )


def _published_damage(
    context: PlaneContext, dataset: RegisteredDataset, published: Pointer
) -> str | None:
    """By presence and size; files that a run reads are compared with their records, too. Of a
    table with a long history, some files are looked at by turns, and all of them once one of these
    is gone. Known damage is looked for in all files."""
    with context.read() as tx:
        stored = require_version(tx, dataset.dataset_id, published.version)
        known = _is_damaged(tx, dataset)
        files = {} if known else files_to_find(tx, dataset.dataset_id, published.commit)
    if known:
        return version_damage(context, dataset, stored, published.commit, hashed=True)
    location = context.location_of(dataset)
    if files and context.tables.has_files(location, files):
        return None
    return context.tables.damage(location, published.commit, rows=stored.table_rows)


def _is_damaged(tx: Transaction, dataset: RegisteredDataset) -> bool:
    known = open_finding(tx, dataset.dataset_id)
    return known is not None and known.problem is TableProblem.DAMAGE


def version_damage(
    context: PlaneContext,
    dataset: RegisteredDataset,
    stored: StoredVersion,
    commit: int,
    *,
    hashed: bool = False,
) -> str | None:
    """How files of a version differ from their records, or None. Their whole content is compared
    if ``hashed``, or if damage of the table is known, whatever the settings say."""
    location = context.location_of(dataset)
    paths = context.tables.files_at(location, commit)
    with context.read() as tx:
        table_id = table_id_of(tx, dataset.dataset_id) or stored.table_id
        known = hashed or _is_damaged(tx, dataset)
        check = FileCheck.HASHES if known else context.check_files
        records = file_records(tx, table_id, paths, check)
    return context.tables.damage(location, commit, rows=stored.table_rows, records=records)


_MOST_TRIED = 20
_REBUILT_BY_FULL = (LoadType.FULL, LoadType.APPEND, LoadType.PARTITION, LoadType.INCREMENTAL)
"""Loads whose table a full load builds again from the same sources; the others keep what their
sources no longer have."""


def way_out_of_damage(context: PlaneContext, dataset: RegisteredDataset, published: Pointer) -> str:
    """How a dataset is repaired whose published version has lost a file: by the last version that
    is whole, else by building it again."""
    name, load = dataset.name, dataset.definition.load.type
    with context.read() as tx:
        removed = removed_versions(tx, dataset.dataset_id) | {published.version}
        others = [
            (stored, shown_at(tx, dataset.dataset_id, stored.version))
            for stored in stored_versions(tx, dataset.dataset_id)
            if stored.version not in removed
        ]
    for stored, commit in others[:_MOST_TRIED]:
        if version_damage(context, dataset, stored, commit) is None:
            command = f'lakeguard rollback {name} --to v{stored.version} --reason "…"'
            return f"roll back to a whole version: {command}"
    alone = "it has no other whole version"
    if load is LoadType.FULL:
        return f"{alone}; build it again: lakeguard run {name}"
    if load in _REBUILT_BY_FULL:
        again = f"lakeguard apply && lakeguard run {name}"
        return f"{alone}: set load type FULL, then: {again}; then set it back"
    return f"{alone}, and {load} keeps what sources no longer have: bring the file back"


def undo_command(dataset: RegisteredDataset) -> str:
    return f'undo it: lakeguard undo {dataset.name} --reason "…"'


def rogue_message(dataset: RegisteredDataset, rogue: Commit, *, known: bool = True) -> str:
    """``known`` if the table is in the record, so that it can be put back."""
    way_out = undo_command(dataset) if known else "move the table away"
    return (
        f"commit {rogue.version} ({rogue.operation or 'unknown operation'}) of {dataset.name}"
        f" changed data without a decision; {way_out}"
    )


def rogue_commit(context: PlaneContext, dataset: RegisteredDataset, since: int) -> Commit | None:
    """The first data-changing commit after ``since`` that is neither decided nor in progress."""
    later = context.tables.commits_since(context.location_of(dataset), since)
    if not later:
        return None
    with context.read() as tx:  # read after the log, so that its commits are known
        known = committed_hashes(tx, dataset.dataset_id)
        under_way = open_intent(tx, dataset.dataset_id)
    for commit in later:
        if not commit.data_changing or known.get(commit.version) == commit.sha256:
            continue
        author = commit.author
        if under_way and author and author.intent_id == under_way.intent_id:
            continue
        return commit
    return None


def is_replaced(context: PlaneContext, dataset: RegisteredDataset) -> bool:
    """Whether another table is at the place: it has another id, and no recorded commit."""
    location = context.location_of(dataset)
    with context.read() as tx:
        recorded = recorded_commits(tx, dataset.dataset_id)
    log = context.tables.read_log(location, recorded)
    if not log.altered or len(log.altered) + len(log.missing) < len(recorded):
        return False
    try:
        return not is_ours(context, dataset, context.tables.origin(location))
    except TableUnreadable:
        return False


def is_ours(context: PlaneContext, dataset: RegisteredDataset, origin: Origin) -> bool:
    """Whether the table's id is the one recorded for the dataset."""
    with context.read() as tx:
        table_id = table_id_of(tx, dataset.dataset_id)
    if table_id is None or origin.dataset_id is not None:
        return origin.dataset_id == dataset.dataset_id and table_id in (None, origin.table_id)
    return origin.table_id == table_id
