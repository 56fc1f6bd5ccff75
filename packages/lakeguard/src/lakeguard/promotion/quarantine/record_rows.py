"""Rows that rules keep out of a table: what evidence says of them, and what is recorded."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby

from lakeguard.gate.evaluation.case import Quarantined
from lakeguard.ledger.quarantine.facts import holdings_of, record_holdings, record_taken
from lakeguard.ledger.quarantine.load import coverage_of, quarantine_of
from lakeguard.ledger.quarantine.state import Holding, Taken, oldest
from lakeguard.ledger.versions import StoredVersion
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.eligibility import Findings
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.canonical_json import is_sha256
from lakeguard_sdk.core.enums import PolicyType
from lakeguard_sdk.expressions.measures import RowCount, measure_key
from lakeguard_sdk.model.definitions import PolicyDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.quarantine import QuarantineBuild, StagedQuarantineFile
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.storage.run_folders import QUARANTINE, quarantine_run_folder
from lakeguard_sdk.storage.storage import join, storage_for

_BATCH_ROWS = measure_key(RowCount())


def damaged_files(context: PlaneContext, evidence: Evidence) -> tuple[str, ...]:
    """Why files of rows quarantined are not what the evidence says, as they lie there now."""
    storage, found = storage_for(context.lake), []
    for file in evidence.quarantined.files if evidence.quarantined else ():
        parts = file.path.split("/")
        if parts[0] != QUARANTINE or {"", ".", ".."} & set(parts):
            continue  # whatever it is, it is refused without a look
        place = join(context.lake, file.path)
        try:
            same = storage.facts(place).size == file.size and storage.sha256(place) == file.sha256
        except OSError:
            found.append(f"{file.path!r} cannot be read")
            continue
        if not same:
            found.append(f"{file.path!r} has other content than was said")
    return tuple(found)


def check_quarantined(
    tx: Transaction, context: PlaneContext, plan: RunPlan, evidence: Evidence, findings: Findings
) -> None:
    """Files are the run's own, where rows of such columns lie; a replay accounts for every row,
    and makes none younger."""
    latest = _latest(tx, plan)
    place = quarantine_run_folder(context.lake, plan.dataset, plan.batch_schema, plan.ticket.run_id)
    below = f"{place.removeprefix(context.lake.rstrip('/')).lstrip('/')}/"
    for file in evidence.quarantined.files if evidence.quarantined else ():
        if not file.path.startswith(below) or {"", ".", ".."} & set(file.path.split("/")):
            findings.refuse("evidence", f"{file.path!r} is not where the run quarantines rows")
        if not is_sha256(file.sha256):
            findings.refuse("evidence", f"{file.path!r} has no hash of its content")
        if file.first_seen > latest:
            findings.refuse("evidence", f"{file.path!r} has rows of a time to come")
    if isinstance(plan.build, QuarantineBuild):
        _check_replayed(plan.build, evidence, findings)
    if (problem := _miscounted(plan, evidence)) is not None:
        findings.refuse("evidence", problem)


def _miscounted(plan: RunPlan, evidence: Evidence) -> str | None:
    """Why the rows of the batch are not what was counted of it, if they are not.

    Late rows were left out before it was counted. Rows that delete are not judged, so that they
    are not counted either.
    """
    batch, quarantined, changes = evidence.batch, evidence.quarantined, evidence.changes
    if batch is None:
        return None
    if batch < 0 or (changes is None and batch != evidence.rows):
        return f"{evidence.rows:,} rows, but the load was given {batch:,}"
    measured = None if quarantined is None else quarantined.before.get(_BATCH_ROWS)
    if not isinstance(measured, int):
        return None
    most = batch + evidence.rows_quarantined
    least = 0 if plan.load.operation else most - (changes.late if changes else 0)
    if least <= measured <= most:
        return None
    split = f"{batch:,} rows and {evidence.rows_quarantined:,} quarantined"
    return f"{split}, but {measured:,} were counted"


def _check_replayed(build: QuarantineBuild, evidence: Evidence, findings: Findings) -> None:
    taken = sum(file.rows for file in build.files)
    if evidence.rows_read != taken or evidence.rejected:
        findings.refuse(
            "evidence",
            f"{taken:,} quarantined rows were read, but {evidence.batch_rows:,} are accounted for"
            f" and {evidence.rows_quarantined:,} quarantined again",
        )
    if evidence.position is not None:
        findings.refuse("evidence", "quarantined rows have no position in a source")


def _latest(tx: Transaction, plan: RunPlan) -> datetime:
    """When rows that the run quarantines can have been quarantined first."""
    if not isinstance(plan.build, QuarantineBuild):
        return tx.now()
    taken = {(file.run_id, file.rule_id) for file in plan.build.files}
    found = holdings_of(tx, plan.dataset_id)
    return max(item.quarantined_at for item in found if item.key in taken)


def quarantined(
    tx: Transaction, plan: RunPlan, policies: Iterable[PolicyDefinition]
) -> Quarantined | None:
    """What waits while a run is decided on; None where no policy asks."""
    if all(policy.type is not PolicyType.QUARANTINE_BUDGET for policy in policies):
        return None
    found = quarantine_of(tx, plan.dataset_id)
    quarantined = found.quarantined(found.published)
    return Quarantined(
        rows=sum(item.rows for item in quarantined),
        oldest=oldest(quarantined),
        exempt=isinstance(plan.build, QuarantineBuild),
        renews=coverage_of(plan).anew,
    )


def record_quarantine(
    tx: Transaction, plan: RunPlan, version: StoredVersion, evidence: Evidence
) -> None:
    """What the version keeps out of the table, and which quarantined rows it took."""
    quarantined = evidence.quarantined
    if quarantined is not None:
        holdings = _holdings(plan, version, quarantined.files)
        record_holdings(tx, version.dataset_id, holdings)
    if isinstance(plan.build, QuarantineBuild):
        taken = {(file.run_id, file.rule_id) for file in plan.build.files}
        rows = [Taken(version.run_id, *key, version.version) for key in sorted(taken)]
        record_taken(tx, version.dataset_id, rows, version.promoted_at)


def _holdings(
    plan: RunPlan, version: StoredVersion, files: Iterable[StagedQuarantineFile]
) -> Iterable[Holding]:
    expressions = {rule.rule_id: rule.expression for rule in plan.quarantine_rules}
    by_rule = sorted(files, key=lambda file: (file.rule_id, file.path))
    for rule_id, found in groupby(by_rule, key=lambda file: file.rule_id):
        held = tuple(found)
        yield Holding(
            run_id=version.run_id,
            rule_id=rule_id,
            expression=expressions[rule_id],
            version=version.version,
            rows=sum(file.rows for file in held),
            first_seen=min(file.first_seen for file in held),
            quarantined_at=version.promoted_at,
            files=held,
        )
