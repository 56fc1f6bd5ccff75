"""Opening a run requires the right to read its inputs."""

from __future__ import annotations

from lakeguard.access.access_log import Access, record_access
from lakeguard.access.authorise import may
from lakeguard.access.principal import Action, PrincipalKind, Subject
from lakeguard.dispatch.task_row import find_task
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.opening.input_pinning import referenced
from lakeguard.promotion.quarantine.replay import task_replay
from lakeguard.registry.store import RegisteredDataset, current_definition, dataset_by_id
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.errors import NotPermitted

_CALLERS = (PrincipalKind.USER, PrincipalKind.TOKEN)
"""A task was checked when it was opened."""


def require_inputs(context: PlaneContext, method: str, task_id: str) -> None:
    """Raise ``NotPermitted`` with the name of the dataset before the attempt begins. Later, the
    hidden file records of an input would look like damage."""
    caller = context.caller
    if caller is None or caller.kind not in _CALLERS or may(caller, Action.READ).allowed:
        return
    with context.read() as tx:
        subjects = _inputs(tx, task_id)
    for subject in subjects:
        verdict = may(caller, Action.READ, subject)
        if not verdict.allowed:
            names = () if subject.dataset is None else (subject.dataset,)
            access = Access(method, Action.READ.value, names)
            record_access(context, caller, access, verdict.reason)
            raise NotPermitted(holder=caller.label, method=f"{method}: {verdict.reason}")


def _inputs(tx: Transaction, task_id: str) -> list[Subject]:
    task = find_task(tx, task_id)
    if task is None or task.kind is not TaskKind.BUILD:
        return []
    dataset = dataset_by_id(tx, task.dataset_id)
    parents = () if task_replay(task) is not None else dataset.definition.parents
    found = (current_definition(tx, name) for name in sorted({*parents, *referenced(dataset)}))
    return [_subject(each) for each in found if each is not None]


def _subject(dataset: RegisteredDataset) -> Subject:
    return Subject(dataset.name, dataset.definition.domain, dataset.dataset_id)
