"""Launch gates. Pure: the first refusal is reported, with its code and name.

runnable ► switched on ► deployed ► parts on ► schema ► parents ► inputs ► freeze ► lateness
"""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.gate.evaluation.case import CaseFacts
from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.policies import breaches, evaluate_policy, governs, parse_policy
from lakeguard.gate.policy_types.policy_form import PolicyInput
from lakeguard.gate.policy_types.sla import Freshness
from lakeguard.gate.subject import Subject
from lakeguard.scheduler.graph.current_jobs import CurrentJob
from lakeguard.scheduler.graph.dataset_state import Standing
from lakeguard.scheduler.launch.gate_facts import GateFacts
from lakeguard_sdk.core.enums import (
    Enforcement,
    Outcome,
    PolicyType,
    RunStatus,
    TaskKind,
)
from lakeguard_sdk.errors import (
    Frozen,
    InputMissing,
    JobDisabled,
    LaunchRefused,
    NotDeployed,
    NotRunnable,
    Overlapping,
    ParentFailed,
    ParentLate,
    PartDisabled,
    SchemaPending,
)
from lakeguard_sdk.model.definitions import PolicyDefinition
from lakeguard_sdk.types.schema import TableSchema


def refusal(job: CurrentJob, facts: GateFacts) -> LaunchRefused | None:
    """Why the job must not launch now; None if every gate passes."""
    for gate in (_runnable, _switched_on, _deployed):
        refused = gate(job, facts)
        if refused is not None:
            return refused
    dataset = job.definition.dataset
    if dataset is None or job.controls.kind is not TaskKind.BUILD:
        return None
    standing = facts.datasets.get(dataset)
    if standing is None:
        return PartDisabled(problem=f"dataset {dataset} is not registered")
    return next(_of_dataset(standing, facts), None)


def overlapping(job: CurrentJob) -> LaunchRefused:
    return Overlapping(problem=f"job {job.name} is still under way, and overlap is skip")


def _runnable(job: CurrentJob, facts: GateFacts) -> LaunchRefused | None:
    definition, wrong = job.definition, job.parsed.reading.problem_of(job.name)
    if job.controls.kind is None:
        if definition.type == "build":
            return NotRunnable(problem=f"job {job.name} builds no dataset; name one in it")
        return NotRunnable(problem=f"nothing here runs jobs of type {definition.type}")
    return NotRunnable(problem=wrong) if wrong else None


def _switched_on(job: CurrentJob, facts: GateFacts) -> LaunchRefused | None:
    if not job.active:
        return JobDisabled(problem=f"job {job.name} is disabled (active: false)")
    if not job.enabled:
        return JobDisabled(problem=f"job {job.name} is switched off")
    return None


def _deployed(job: CurrentJob, facts: GateFacts) -> LaunchRefused | None:
    if facts.graph is None:
        return NotDeployed(problem="no graph is deployed yet; first: lakeguard deploy")
    if job.name not in facts.graph.graph.jobs:
        return NotDeployed(problem=f"job {job.name} is not in the active graph")
    if not facts.graph.knows(job.definition):
        problem = f"job {job.name} is not what the active graph knows: its type or dataset changed"
        return NotDeployed(problem=problem)
    return None


def _of_dataset(standing: Standing, facts: GateFacts) -> Iterator[LaunchRefused]:
    if not standing.active:
        yield PartDisabled(problem=f"dataset {standing.name} is disabled (active: false)")
    if standing.name in facts.off:
        yield PartDisabled(problem=facts.off[standing.name])
    yield from _schema(standing, facts)
    yield from _parents(standing, facts)
    yield from _freeze(standing, facts)
    yield from _lateness(standing, facts)


def _schema(standing: Standing, facts: GateFacts) -> Iterator[LaunchRefused]:
    """A later revision may have approved the change; the next run decides."""
    for each in (standing, *_known_parents(standing, facts)):
        last = facts.runs.get(each.dataset_id)
        if last is not None and last.by_schema and last.revision == each.revision:
            yield SchemaPending(
                problem=f"a change of the schema of {each.name} waits since run {last.run_id};"
                f" see: lakeguard schema diff {each.name}"
            )


def _parents(standing: Standing, facts: GateFacts) -> Iterator[LaunchRefused]:
    for name in standing.made.parents:
        parent = facts.datasets.get(name)
        if parent is None:
            yield PartDisabled(problem=f"parent {name} is not registered")
            continue
        if not parent.active:
            yield PartDisabled(problem=f"parent {name} is disabled (active: false)")
        last = facts.runs.get(parent.dataset_id)
        if last is not None and last.status is not RunStatus.SUCCESS:
            word = "was blocked" if last.status is RunStatus.BLOCKED else "failed"
            yield ParentFailed(problem=f"the last run of parent {name} {word}: {last.run_id}")
        if not parent.published:
            yield InputMissing(
                problem=f"parent {name} has no published version; first: lakeguard run {name}"
            )


def _freeze(standing: Standing, facts: GateFacts) -> Iterator[LaunchRefused]:
    for policy in _over(standing, facts, PolicyType.CHANGE_FREEZE):
        judged = evaluate_policy(PolicyInput(_about(standing, facts), None, facts.at), policy)
        if judged.outcome in (Outcome.FAIL, Outcome.ERROR):
            yield Frozen(problem=f"policy {policy.policy}: {standing.name} is {judged.message}")


def _lateness(standing: Standing, facts: GateFacts) -> Iterator[LaunchRefused]:
    """A parent that breaks its SLA, or is too old for this dataset."""
    own = [policy for policy in _over(standing, facts, PolicyType.SLA) if _is_freshness(policy)]
    for parent in _known_parents(standing, facts):
        over = [*_over(parent, facts, PolicyType.SLA), *own]
        for broken in breaches(over, parent.promoted_at, facts.at):
            if broken.enforcement is Enforcement.BLOCK:
                problem = f"policy {broken.policy}: parent {parent.name} {broken.message}"
                yield ParentLate(problem=problem)


def _known_parents(standing: Standing, facts: GateFacts) -> list[Standing]:
    found = (facts.datasets.get(name) for name in standing.made.parents)
    return [parent for parent in found if parent is not None]


def _over(standing: Standing, facts: GateFacts, wanted: PolicyType) -> Iterator[PolicyDefinition]:
    policies = [policy for policy in facts.policies if policy.type is wanted]
    if policies:
        about = _about(standing, facts)
        yield from (policy for policy in policies if governs(policy, about))


def _is_freshness(policy: PolicyDefinition) -> bool:
    try:
        return isinstance(parse_policy(policy.type, policy.expression), Freshness)
    except GrammarError:
        return True


def _about(standing: Standing, facts: GateFacts) -> CaseFacts:
    """The facts of a dataset that select its policies."""
    return CaseFacts(
        dataset=standing.name,
        declared=TableSchema(columns=()),
        tags=standing.made.tags,
        subject=Subject(
            domain=standing.domain,
            owner="",
            description="",
            parents=standing.made.parents,
            keys=(),
            rules=(),
            travelled=facts.travelled.get(standing.name, ()),
            promoted_at=standing.promoted_at,
        ),
    )
