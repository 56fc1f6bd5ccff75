"""Ports for a principal: each call is authorised, and answers show what the principal may read.

A dataset that the principal may not read is reported as one that does not exist.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

from lakeguard.access.access_log import PERSONAL, Access, record_access
from lakeguard.access.authorise import may, may_anywhere, may_see_personal
from lakeguard.access.given_arguments import Given, attributed, given_of, pinned
from lakeguard.access.port_calls import CALLS, About, PortCall
from lakeguard.access.principal import ORGANISATION, Action, Principal, Subject
from lakeguard.access.session import Session
from lakeguard.access.subjects import Subjects
from lakeguard.access.visible import SHOWN, columns_in, personal_in, without_personal
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.errors import (
    LakeGuardError,
    NotPermitted,
    NotRegistered,
    UnknownInvalidation,
    UnknownJob,
    UnknownRun,
    UnknownTask,
    UnknownVersion,
    UnknownWaiver,
)
from lakeguard_sdk.model.given_values import GivenRow

Hidden = Callable[[DatasetName], Collection[str]]
"""Columns of a dataset that are personal."""
Redacted = Callable[[Any, Collection[str]], Any]
"""Returns an answer without measured values of these columns, unchanged if it has none."""
_MOST_ASKED = 20_000
_CHOOSES = frozenset({"reader.search"})
"""Methods that filter by readable datasets themselves, because each row is expensive."""
_NAMED = re.compile(rf"\b(?:{'|'.join(Layer)})\.[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Guard:
    """Decides on the calls of one principal."""

    state: OrganisationState
    session: Session
    subjects: Subjects
    hidden: Hidden
    redacted: Redacted

    def check(self, method: str, call: PortCall, given: Given) -> Checked:
        """The subjects of an allowed call, which is logged before it is made; raises otherwise."""
        principal = self.session.current()
        if _is_anywhere(call, given):
            if not may_anywhere(principal, call.action):
                self._refuse(principal, method, call, (), may(principal, call.action).reason)
            subjects: tuple[Subject, ...] = ()
        elif may(principal, call.action).allowed and may(principal, Action.READ).allowed:
            subjects = self._known_subjects(call, given)
        else:
            subjects = self._subjects(call, given)
            self._require(principal, method, call, given, subjects)
            self._require_inputs(principal, method, call, given)
        if call.is_logged:
            record_access(self.state, principal, _access(method, call, subjects))
        return Checked(principal, subjects)

    def _known_subjects(self, call: PortCall, given: Given) -> tuple[Subject, ...]:
        """For the log and for personal values; the port itself reports what does not exist."""
        if not (call.personal or call.measured or call.is_logged):
            return ()
        try:
            return self._subjects(call, given)
        except _Hidden:
            return ()

    def _require(
        self,
        principal: Principal,
        method: str,
        call: PortCall,
        given: Given,
        subjects: Sequence[Subject],
    ) -> None:
        self._require_planned(principal, method, call, subjects)
        for subject in subjects:
            verdict = may(principal, Action.READ, subject)
            if _hides(call, subject) and not verdict.allowed:
                record_access(
                    self.state, principal, _access(method, call, [subject]), verdict.reason
                )
                raise _Hidden(_named(call, given, subject))
        for subject, action in product(subjects, call.actions):
            verdict = may(principal, action, subject)
            if not verdict.allowed:
                self._refuse(principal, method, call, [subject], verdict.reason)

    def _require_planned(
        self, principal: Principal, method: str, call: PortCall, subjects: Sequence[Subject]
    ) -> None:
        """A plan where the principal may not define anything does not reveal what exists."""
        for subject in subjects:
            verdict = may(principal, call.action, subject)
            if subject.planned and not verdict.allowed:
                self._refuse(principal, method, call, [subject], verdict.reason)

    def _require_inputs(
        self, principal: Principal, method: str, call: PortCall, given: Given
    ) -> None:
        """A definition must not give access to inputs that the principal may not read."""
        for subject in self.subjects.of_datasets(_inputs(call, given)).values():
            verdict = may(principal, Action.READ, subject)
            if not verdict.allowed:
                access = _access(method, call, [subject])
                record_access(self.state, principal, access, verdict.reason)
                raise _Hidden(subject.dataset)

    def _refuse(
        self,
        principal: Principal,
        method: str,
        call: PortCall,
        subjects: Sequence[Subject],
        reason: str,
    ) -> None:
        record_access(self.state, principal, _access(method, call, subjects), reason)
        raise NotPermitted(holder=principal.label, method=f"{method}: {reason}")

    def _subjects(self, call: PortCall, given: Given) -> tuple[Subject, ...]:
        """What the call is about; raises ``_Hidden`` for what does not exist."""
        first, look_up = given.first, self.subjects
        match call.about:
            case About.ORGANISATION | About.ANYWHERE:
                return (ORGANISATION,)
            case About.PLAN:
                return self._of_plan(first, given.fields.get("given", ()))
            case About.DEFINITIONS:
                return self._of_definitions(first.datasets)
            case About.DEFINITION | About.ADDRESS:
                return (_found(look_up.of_dataset(first.dataset)),)
            case About.PROFILE:
                return (_found(look_up.of_dataset(first.dataset)),)
            case About.TICKET:
                return (_found(look_up.of_task(first.task_id)),)
            case About.TASKS_OF_JOB:
                return (_found(look_up.of_job(str(given.fields["job"]))),)
            case About.RECORD:
                return look_up.of_records([first])
            case About.RECORDS:
                return look_up.of_records(first)
            case About.RUNS:
                return tuple(_found(look_up.of_run(str(each))) for each in given.values[:2])
        by_id: dict[About, Callable[[str], Subject | None]] = {
            About.DATASET: look_up.of_dataset,
            About.DATASET_ID: look_up.of_key,
            About.RUN: look_up.of_run,
            About.TASK: look_up.of_task,
            About.INVALIDATION: look_up.of_invalidation,
            About.WAIVER: look_up.of_waiver,
            About.TABLE: look_up.of_table,
            About.JOB: look_up.of_job,
        }
        return (_found(by_id[call.about](str(first))),)

    def _of_plan(self, plan: Any, rows: Sequence[GivenRow]) -> tuple[Subject, ...]:
        """Each dataset as registered and as planned, so that none moves out of or into a domain
        where the principal may not define. Rows that come with the plan may be about datasets that
        it does not contain."""
        found: list[Subject] = []
        for step in plan.steps:
            definition, key = step.definition, getattr(step, "key", "")
            if definition.kind != "dataset":
                found.append(ORGANISATION)
                continue
            before = self.subjects.of_key(key) if key else None
            found += [] if before is None else [before]
            dataset_id = before.dataset_id if before else ""
            found.append(Subject(definition.dataset, definition.domain, dataset_id, planned=True))
        planned = {str(subject.dataset) for subject in found}
        for kind, name in dict.fromkeys(row.definition for row in rows):
            if kind != "dataset":
                found.append(ORGANISATION)
            elif name not in planned:
                found.append(_found(self.subjects.of_dataset(name), name))
        return tuple(dict.fromkeys(found)) or (ORGANISATION,)

    def _of_definitions(self, datasets: Sequence[Any]) -> tuple[Subject, ...]:
        """Registered datasets that a plan would compare; new ones reveal nothing."""
        names = [each.dataset for each in datasets]
        names += [each.renamed_from for each in datasets if each.renamed_from]
        return tuple(self.subjects.of_datasets(names).values())

    def readable(self, principal: Principal) -> frozenset[str] | None:
        """Names of the datasets that may be read; None for all of them, and the organisation."""
        if may(principal, Action.READ).allowed:
            return None
        return self.subjects.readable_by(principal)

    def unmasked(self, method: str, checked: Checked, answer: Any) -> Any:
        """The answer, with personal values masked unless a grant shows them, which is logged."""
        subject = next(iter(checked.subjects), ORGANISATION)
        if subject.dataset is None:  # its personal columns are unknown
            return without_personal(answer, columns_in(answer))
        hidden = self.hidden(subject.dataset)
        if not personal_in(answer, hidden):
            return answer
        return self._shown(method, checked, subject, answer, without_personal(answer, hidden))

    def unredacted(self, method: str, checked: Checked, answer: Any) -> Any:
        """The same for values measured of personal columns."""
        subject = next(iter(checked.subjects), ORGANISATION)
        hidden = self.hidden(subject.dataset) if subject.dataset else ()
        redacted = self.redacted(answer, hidden) if hidden else answer
        if redacted == answer:
            return answer
        return self._shown(method, checked, subject, answer, redacted)

    def _shown(
        self, method: str, checked: Checked, subject: Subject, answer: Any, masked: Any
    ) -> Any:
        if subject.dataset is None or not may_see_personal(checked.principal, subject):
            return masked
        record_access(self.state, checked.principal, Access(method, PERSONAL, (subject.dataset,)))
        return answer


@dataclass(frozen=True)
class Checked:
    """An allowed call: its principal and its subjects."""

    principal: Principal
    subjects: tuple[Subject, ...]


class _Hidden(Exception):
    """The subject does not exist or may not be read; callers do not learn which."""

    def __init__(self, dataset: str | None = None) -> None:
        super().__init__()
        self.dataset = dataset


@dataclass(frozen=True)
class Authorised:
    """A port for one principal."""

    port: Any
    name: str
    kind: type[Any]
    """The protocol of the port."""
    guard: Guard

    def __getattr__(self, method: str) -> Callable[..., Any]:
        call = CALLS[self.name].get(method)
        if call is None:
            raise AttributeError(method)
        return partial(self._call, method, call)

    def _call(self, method: str, call: PortCall, /, *args: Any, **fields: Any) -> Any:
        full, given = f"{self.name}.{method}", given_of(self.kind, method, args, fields)
        try:
            checked = self.guard.check(full, call, given)
        except _Hidden as hidden:
            raise _missing(call, given, hidden.dataset) from None
        given = attributed(checked.principal, pinned(full, checked.principal, given))
        ask = partial(_without_hint, checked, getattr(self.port, method))
        if call.personal:
            return self.guard.unmasked(full, checked, ask(**given.fields))
        if call.measured:
            return self.guard.unredacted(full, checked, ask(**given.fields))
        if full not in SHOWN:
            return ask(**given.fields)
        readable = self.guard.readable(checked.principal)
        if readable is None:
            return ask(**given.fields)
        fields = {**given.fields, "among": readable} if full in _CHOOSES else given.fields
        return _enough(ask, fields, lambda answer: SHOWN[full](answer, readable.__contains__))


def _enough(ask: Callable[..., Any], fields: dict[str, Any], shown: Callable[[Any], Any]) -> Any:
    """Reads more until the limit is reached, because some rows may be hidden."""
    limit, answer = fields.get("limit"), ask(**fields)
    seen = shown(answer)
    while limit and len(seen) < limit <= len(answer) < _MOST_ASKED:
        wanted, before = 4 * len(answer), len(answer)
        answer = ask(**{**fields, "limit": wanted})
        seen = shown(answer)
        if len(answer) < wanted or len(answer) == before:
            break
    return seen[:limit] if limit else seen


def _without_hint(checked: Checked, ask: Callable[..., Any], /, **fields: Any) -> Any:
    """Similar names are suggested only to those who may read everything."""
    try:
        return ask(**fields)
    except (NotRegistered, UnknownJob) as error:
        if may(checked.principal, Action.READ).allowed:
            raise
        raise type(error)(**{**error.fields, "hint": ""}) from None


def _inputs(call: PortCall, given: Given) -> set[str]:
    """Parents of the datasets that a call defines, and datasets that their rules refer to."""
    match call.about:
        case About.PLAN:
            defined = [step.definition for step in given.first.steps]
        case About.DEFINITIONS:
            defined = list(given.first.datasets)
        case About.DEFINITION:
            defined = [given.first]
        case _:
            return set()
    datasets = [each for each in defined if each.kind == "dataset"]
    parents = {str(name) for each in datasets for name in each.parents}
    rules = (rule.expression for each in datasets for rule in each.rules)
    return parents.union(*(_NAMED.findall(text) for text in rules))


def _is_anywhere(call: PortCall, given: Given) -> bool:
    """Whether the call names no subject: a list without a dataset, a plan without steps."""
    if call.about is About.PLAN:
        return not given.first.steps and not given.fields.get("given")
    if call.about is About.TASKS_OF_JOB:
        return not given.fields.get("job")
    return call.about is About.ANYWHERE or (call.about is About.DATASET and given.first is None)


def _hides(call: PortCall, subject: Subject) -> bool:
    """Whether the subject exists, which not everyone may learn."""
    if call.about in (About.RECORD, About.RECORDS):  # a producer knows what it writes about
        return False
    named = (About.TASK, About.TICKET, About.JOB, About.TASKS_OF_JOB)
    return (bool(subject.dataset_id) and not subject.planned) or call.about in named


def _named(call: PortCall, given: Given, subject: Subject) -> str | None:
    """The dataset for the error. A plan identifies what it revises by id, and must not reveal the
    current name unless the plan contains it."""
    if call.about is not About.PLAN:
        return subject.dataset
    written = {str(getattr(step.definition, "dataset", "")) for step in given.first.steps}
    written |= {name for (_, name), *_ in given.fields.get("given", ())}
    return subject.dataset if subject.dataset in written else "a dataset of the plan"


def _missing(call: PortCall, given: Given, dataset: str | None) -> LakeGuardError:
    """The error that the port raises if the subject does not exist. It names no dataset that the
    call does not name."""
    first = given.first
    match call.about:
        case About.RUN | About.RUNS:
            return UnknownRun(run=str(first))
        case About.TASK:
            return UnknownTask(task=str(first))
        case About.TICKET:
            return UnknownRun(run=first.run_id)
        case About.INVALIDATION:
            return UnknownInvalidation(invalidation=str(first))
        case About.WAIVER:
            return UnknownWaiver(waiver=str(first))
        case About.JOB:
            return UnknownJob(job=str(first))
        case About.TASKS_OF_JOB:
            return UnknownJob(job=str(given.fields["job"]))
        case About.TABLE:
            return UnknownVersion(dataset=str(first), version="of this table")
        case About.DATASET | About.DATASET_ID:
            return NotRegistered(dataset=str(first))
    return NotRegistered(dataset=dataset or str(getattr(first, "dataset", "")))


def _access(method: str, call: PortCall, subjects: Sequence[Subject]) -> Access:
    names = tuple(sorted({each.dataset for each in subjects if each.dataset is not None}))
    return Access(method, call.action.value, names)


def _found(subject: Subject | None, name: str | None = None) -> Subject:
    if subject is None:
        raise _Hidden(name)
    return subject
