"""Issues the token of a running attempt, and checks what the attempt may write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lakeguard.access.access_log import Access, record_access
from lakeguard.access.principal import Action, PrincipalKind, TaskGrants
from lakeguard.access.session import require_holder
from lakeguard.dispatch import tasks
from lakeguard.ledger.openings import opened_revision, opening_of
from lakeguard.promotion.context import PlaneContext
from lakeguard.registry.store import dataset_by_id
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.errors import BadToken, Fenced, NotPermitted
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.storage.run_folders import staging_folder
from lakeguard_sdk.storage.storage import join


def issue_task_token(context: PlaneContext, ticket: RunTicket) -> str:
    """A token for what the plan of the run reads and writes; for neither before the run is opened.
    The token is not stored."""
    from lakeguard.access.task_tokens import TaskTokens  # loads cryptography

    with context.read() as tx:
        at = tx.now()
        task = tasks.require(tx, ticket)
        if tasks.lease_over(task, at):
            raise Fenced(run=ticket.run_id, reason="its lease is over")
        granted = _granted(tx, context, task, ticket)
    grants = replace(granted, ticket=ticket, holder=_holder(context))
    _require_lasting(context, grants)
    return TaskTokens(context.keys, context.org_id).issue_to_worker(grants, at)


def require_places(context: PlaneContext, ticket: RunTicket, evidence: Evidence) -> None:
    """Raise ``NotPermitted`` if a task submits files at places that its token does not cover."""
    if context.caller is None or context.caller.task is None:
        return
    with context.read() as tx:
        tasks.require_holder(tx, ticket)
        plan = opening_of(tx, ticket.run_id).plan
    held = evidence.quarantined.files if evidence.quarantined else ()
    places = [join(plan.location, file.path) for file in evidence.files]
    places += [join(context.lake, file.path) for file in held]
    require_written(context, "runs.submit_evidence", plan.dataset, places)


def require_written(
    context: PlaneContext, method: str, dataset: DatasetName, places: Iterable[str]
) -> None:
    """The same for files at these places. A refusal is logged."""
    caller = context.caller
    if caller is None or caller.task is None:
        return
    outside = next((place for place in places if not caller.task.may_write(place)), None)
    if outside is not None:
        access = Access(method, Action.WORK.value, (dataset,))
        record_access(context, caller, access, f"its token does not let it write {outside!r}")
        raise NotPermitted(holder=caller.label, method=f"{method} with {outside!r}")


def _granted(
    tx: Transaction, context: PlaneContext, task: tasks.Task, ticket: RunTicket
) -> TaskGrants:
    from lakeguard.access.task_tokens import grants_of

    if task.kind is TaskKind.COMPACTION:
        dataset = dataset_by_id(tx, task.dataset_id)
        staging = join(context.location_of(dataset), staging_folder(ticket.run_id))
        return TaskGrants(ticket, ((str(dataset.name), 0),), (staging,))
    if opened_revision(tx, ticket.run_id) is None:
        return TaskGrants(ticket)
    return grants_of(opening_of(tx, ticket.run_id).plan, context.lake)


def _holder(context: PlaneContext) -> str:
    caller = context.caller
    if caller is None or caller.kind is PrincipalKind.LOCAL:
        return ""
    if caller.task is not None:
        return caller.task.holder
    return caller.secret_id or caller.id


def _require_lasting(context: PlaneContext, grants: TaskGrants) -> None:
    """Refuses a user whose roles come from the issuer's token only: they end with that token."""
    try:
        require_holder(context, grants)
    except BadToken:
        holder = context.caller.label if context.caller else grants.holder
        raise NotPermitted(holder=holder, method="runs.task_token") from None
