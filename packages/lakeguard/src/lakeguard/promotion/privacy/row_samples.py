"""Samples of failing rows, submitted after the decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from lakeguard.dispatch import tasks
from lakeguard.dispatch.tasks import Task
from lakeguard.gate.policies import forbids_pattern
from lakeguard.gate.subject import InheritedTag
from lakeguard.ledger.decisions import decision_of_run, record_samples, samples_of_run
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.privacy.load_columns import with_load_columns
from lakeguard.promotion.records.open_runs import OpenRun, PinnedRules, opened_run
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import (
    CheckKind,
    Outcome,
    TaskKind,
    TaskState,
)
from lakeguard_sdk.errors import Fenced, SampleNotMasked, SampleRefused
from lakeguard_sdk.model.decision import Decision
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.row_sample import (
    LONGEST_TEXT,
    MASKED,
    MOST_SAMPLED,
    RowSample,
    texts,
)
from lakeguard_sdk.model.run import RunTicket

_SHOWN = (Outcome.FAIL, Outcome.WARN)


def submit_samples(
    context: PlaneContext, ticket: RunTicket, samples: tuple[RowSample, ...]
) -> None:
    """Store samples atomically; idempotent, and different ones are refused."""
    with context.write() as tx:
        task = tasks.require_holder(tx, ticket)
        known = samples_of_run(tx, ticket.run_id)
        if not samples or known == tuple(sorted(samples, key=lambda sample: sample.rule_id)):
            return
        run = _sampled_run(tx, task, ticket.run_id)
        decision = decision_of_run(tx, ticket.run_id, run.dataset.name)
        shown, hidden = _shown_rules(decision), _hidden(run, decision)
        for sample in samples:
            problem = "others were kept before" if known else _problem(sample, run, shown)
            if problem is not None:
                rule = sample.rule_id[:200]
                raise SampleRefused(run=ticket.run_id, rule=rule, reason=problem)
            _check_masked(sample, run, hidden)
        rule, times = Counter(sample.rule_id for sample in samples).most_common(1)[0]
        if times > 1:
            raise SampleRefused(run=ticket.run_id, rule=rule, reason=f"{times} of it came")
        record_samples(tx, ticket.run_id, samples)


def masked_columns(
    definition: DatasetDefinition,
    pinned: PinnedRules,
    private: Iterable[str],
    possible: Iterable[InheritedTag],
) -> tuple[str, ...]:
    """Columns with any tag, own or inherited, and private columns; and what the load makes of
    them."""
    hidden = {*_tagged(pinned), *(item.column for item in possible), *private}
    folded = {name.casefold() for name in with_load_columns(definition, hidden)}
    return tuple(name for name in definition.table_schema.names if name.casefold() in folded)


def _tagged(pinned: PinnedRules) -> Iterator[str]:
    yield from (name for name, tags in pinned.tags.items() if tags)
    if pinned.subject is not None:
        yield from (item.column for item in pinned.subject.travelled)


def _sampled_run(tx: Transaction, task: Task, run_id: str) -> OpenRun:
    """A running build, or one ended by its decision."""
    if task.kind is not TaskKind.BUILD or task.state not in (TaskState.RUNNING, TaskState.BLOCKED):
        raise Fenced(run=run_id, reason=f"it is a {task.kind} that is {task.state}")
    return opened_run(tx, task, run_id)


def _shown_rules(decision: Decision | None) -> frozenset[str]:
    """Rules with failing rows; none if nothing may be stored."""
    if decision is None or decision.ruling.discard:
        return frozenset()
    return frozenset(
        check.check_id
        for check in decision.ruling.checks
        if check.kind is CheckKind.RULE and check.outcome in _SHOWN
    )


def _problem(sample: RowSample, run: OpenRun, shown: frozenset[str]) -> str | None:
    """Why the sample does not match the run, or None."""
    names = {name.casefold() for name in run.plan.table_schema.names}
    strange = [column for column in sample.columns if not _roots(column) & names]
    if sample.rule_id not in shown:
        return "its decision asks for no rows of it"
    if not 1 <= len(sample.rows) <= MOST_SAMPLED:
        return f"it has {len(sample.rows)} rows; 1 to {MOST_SAMPLED} are kept"
    if not sample.columns or strange or len(set(sample.columns)) < len(sample.columns):
        return f"the table has no such columns, each once: {', '.join(sample.columns)[:200]}"
    if len(set(sample.masked)) < len(sample.masked) or not {*sample.masked} <= {*sample.columns}:
        return "what is masked is not among its columns, each once"
    if any(len(row) != len(sample.columns) for row in sample.rows):
        return "a row has more or fewer values than there are columns"
    if any(len(text) > LONGEST_TEXT for row in sample.rows for text in row if text is not None):
        return f"a value has more than {LONGEST_TEXT} characters"
    return None


def _hidden(run: OpenRun, decision: Decision | None) -> frozenset[str]:
    """Columns of which no value is kept: texts too, where a pattern may be in one that a policy
    forbids."""
    found = {*run.plan.masked, *run.plan.private, *_tagged(run.pinned)}
    if decision is not None and not patterns_passed(run.pinned, decision):
        found |= set(texts(run.plan.table_schema))
    return frozenset(name.casefold() for name in found)


def patterns_passed(pinned: PinnedRules, decision: Decision) -> bool:
    """Whether all pattern policies passed."""
    passed = {
        check.check_id
        for check in decision.ruling.checks
        if check.kind is CheckKind.POLICY and check.outcome is Outcome.PASS
    }
    return all(policy.policy in passed for policy in pinned.policies if forbids_pattern(policy))


def _check_masked(sample: RowSample, run: OpenRun, hidden: frozenset[str]) -> None:
    """Refuse private values, and values claimed to be masked that are not."""
    for place, column in enumerate(sample.columns):
        if _roots(column) & hidden or column in sample.masked:
            disclosed = column not in sample.masked or any(
                row[place] != MASKED for row in sample.rows
            )
            if disclosed:
                run_id = run.plan.ticket.run_id
                raise SampleNotMasked(run=run_id, rule=sample.rule_id, column=column)


def _roots(column: str) -> set[str]:
    """Possible column names of a field path."""
    parts = column.casefold().split(".")
    return {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
