"""Back-tests: what draft rules would have decided for past runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import Row, select

from lakeguard.gate.rules.worst_values import tagged_columns
from lakeguard.insight.comparison.run_facts import NO_BUILDS
from lakeguard.insight.history.backtest_cases import BLOCKING, Draft, finding
from lakeguard.insight.history.backtest_past import Past
from lakeguard.insight.history.documents import Library
from lakeguard.insight.history.remeasure import remeasure_plan
from lakeguard.insight.history.replay import (
    RecordedCase,
    Replayer,
    case_of,
    recorded_decisions,
)
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.openings import opening_of, schema_verdict
from lakeguard.ledger.versions import pointer
from lakeguard.promotion.opening.pinned_rules import pin_rules
from lakeguard.promotion.privacy.private_columns import private_in
from lakeguard.promotion.privacy.row_samples import masked_columns, patterns_passed
from lakeguard.promotion.privacy.tag_propagation import possible_tags
from lakeguard.promotion.records.open_runs import PinnedRules
from lakeguard.registry.store import (
    RegisteredDataset,
    current_definition,
    current_policies,
    current_target,
)
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import decisions, task_attempts, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import CheckKind, Outcome, Verdict
from lakeguard_sdk.errors import UnknownRun, VersionUnreadable
from lakeguard_sdk.expressions.measures import MeasureValue
from lakeguard_sdk.model.decision import CheckResult, Ruling
from lakeguard_sdk.model.definitions import DatasetDefinition, RuleDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.history import (
    Backtest,
    BacktestedRule,
    BacktestedRun,
    DraftFinding,
    Remeasured,
    RemeasurePlan,
)
from lakeguard_sdk.model.row_sample import texts

# Redaction: columns whose values a back-test must not show, by tags of today and of then.


@dataclass(frozen=True)
class Hidden:
    """As for profiles: columns with own or inherited tags, columns under a PII policy, and texts
    that may contain what a policy forbids."""

    pinned: PinnedRules
    today: frozenset[str]
    """Hidden columns of the registered and of the draft definition."""

    @classmethod
    def read(
        cls,
        tx: Transaction,
        dataset: RegisteredDataset,
        draft: DatasetDefinition,
    ) -> Hidden:
        published = pointer(tx, dataset.dataset_id)
        pinned = pin_rules(tx, dataset, published=published)
        named = (_hidden(tx, item, pinned) for item in (dataset.definition, draft))
        return cls(pinned, frozenset(chain.from_iterable(named)))

    def in_run(self, tx: Transaction, run_id: str, case: RecordedCase) -> frozenset[str]:
        """Hidden columns today, and at the time of the run."""
        found = {*self.today, *tagged_columns(case.facts.tags, case.facts.subject)}
        with suppress(UnknownRun):  # a run that never opened has only its case facts
            plan = opening_of(tx, run_id).plan
            verdict = schema_verdict(tx, run_id)
            plan = plan if verdict is None else plan.under(verdict)
            found |= {*plan.masked, *plan.private}
        decision = decision_of_run(tx, run_id, case.facts.dataset)
        asked = {"policies": (*self.pinned.policies, *case.policies)}
        pinned = self.pinned.model_copy(update=asked)
        if decision is None or not patterns_passed(pinned, decision):
            found |= set(texts(case.facts.declared))
        return frozenset(found)


def _hidden(tx: Transaction, definition: DatasetDefinition, pinned: PinnedRules) -> Iterator[str]:
    target = current_target(tx, definition.target or "")
    transformed = target is not None and bool(target.transform)
    possible = possible_tags(tx, definition, transformed=transformed)
    policies = current_policies(tx)
    private = private_in(definition, policies, pinned, possible)
    yield from masked_columns(definition, pinned, private, possible)
    yield from (column.name for column in definition.columns if column.tags)


# Summary: runs with a changed outcome, and each rule over all runs.

_FAILS = (Outcome.FAIL, Outcome.ERROR)
_REASONS = 3


@dataclass
class _Counted:
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    unmeasured: Counter[str] = field(default_factory=Counter)
    failing: list[BacktestedRun] = field(default_factory=list)


class Tally:
    """Takes runs in any order; returns them by time."""

    def __init__(self, rules: tuple[RuleDefinition, ...]) -> None:
        self._rules = rules
        self._counted = {rule.rule_id: _Counted() for rule in rules}
        self._reported: list[BacktestedRun] = []
        self._runs = 0

    def add(
        self,
        run: BacktestedRun,
        outcomes: Iterable[tuple[str, Outcome]],
        unmeasured: Mapping[str, str],
    ) -> None:
        """One run, with each draft rule's outcome, or why it could not be evaluated."""
        self._runs += 1
        for rule_id, outcome in outcomes:
            counted = self._counted[rule_id]
            counted.outcomes[outcome] += 1
            if outcome in _FAILS:
                counted.failing.append(run)
        for rule_id, reason in unmeasured.items():
            self._counted[rule_id].unmeasured[reason] += 1
        if run.blocks or run.lets_through or run.rolled_back:
            self._reported.append(run)

    def answer(
        self,
        draft: DatasetDefinition,
        registered: DatasetDefinition | None,
        since: datetime,
        *,
        scanned: bool,
    ) -> Backtest:
        now, then = set(self._rules), set(registered.rules if registered else ())
        return Backtest(
            dataset=registered.dataset if registered else draft.dataset,
            new=registered is None,
            since=since,
            scanned=scanned,
            runs=self._runs,
            reported=tuple(sorted(self._reported, key=_order)),
            rules=tuple(map(self._rule, self._rules)),
            added=tuple(sorted(rule.rule_id for rule in now - then)),
            dropped=tuple(sorted({r.rule_id for r in then} - {r.rule_id for r in now})),
        )

    def _rule(self, rule: RuleDefinition) -> BacktestedRule:
        counted = self._counted[rule.rule_id]
        failing = sorted(counted.failing, key=_order)
        outcomes = counted.outcomes
        return BacktestedRule(
            rule_id=rule.rule_id,
            expression=rule.expression,
            severity=rule.severity,
            judged=outcomes.total() - outcomes[Outcome.NOT_EVALUATED],
            failed=sum(outcomes[outcome] for outcome in _FAILS),
            warned=outcomes[Outcome.WARN],
            unmeasured=counted.unmeasured.total(),
            reasons=tuple(reason for reason, _ in counted.unmeasured.most_common(_REASONS)),
            first=failing[0].run_id if failing else None,
            last=failing[-1].run_id if failing else None,
        )


def _order(run: BacktestedRun) -> tuple[datetime, str]:
    return run.decided_at, run.run_id


Remeasure = Callable[[RemeasurePlan], Remeasured]
Progress = Callable[[str], None]
_PROGRESS_EVERY = 100


def backtest(
    state: OrganisationState,
    lake: str,
    draft: DatasetDefinition,
    since: datetime,
    remeasure: Remeasure | None = None,
    progress: Progress | None = None,
) -> Backtest:
    """Re-decides every recorded decision of the dataset that had evidence, with the draft's rules.

    Facts, policies, waivers and time are as recorded. With ``remeasure``, missing measures are
    taken from the version that the run published. An unregistered dataset has no runs.
    """
    tally = Tally(draft.rules)
    with state.read() as tx:
        dataset = _registered(tx, draft)
        if dataset is None:
            return tally.answer(draft, None, since, scanned=remeasure is not None)
        past = Past.read(tx, state, dataset.dataset_id)
        hidden = Hidden.read(tx, dataset, draft)
    test = _Backtest(state, lake, Draft(draft), past, hidden, remeasure, dataset)
    for made, run in enumerate(test.runs(since), 1):
        tally.add(run.run, run.outcomes, run.unmeasured)
        if progress and made % _PROGRESS_EVERY == 0:
            progress(f"{made:,} {'run' if made == 1 else 'runs'} decided again")
    return tally.answer(draft, dataset.definition, since, scanned=remeasure is not None)


def _registered(tx: Transaction, draft: DatasetDefinition) -> RegisteredDataset | None:
    """The dataset by name, or by its name before the draft renames it."""
    names = (name for name in (draft.dataset, draft.renamed_from) if name is not None)
    found = (current_definition(tx, name) for name in names)
    return next((dataset for dataset in found if dataset is not None), None)


class _RunOutcomes(NamedTuple):
    run: BacktestedRun
    outcomes: list[tuple[str, Outcome]]
    """Outcomes of every evaluated rule."""
    unmeasured: dict[str, str]


@dataclass(frozen=True)
class _Backtest:
    state: OrganisationState
    lake: str
    draft: Draft
    past: Past
    hidden: Hidden
    remeasure: Remeasure | None
    dataset: RegisteredDataset

    def runs(self, since: datetime) -> Iterator[_RunOutcomes]:
        library = Library(self.state.org_id)
        replayer = Replayer(library)
        built = (
            select(task_attempts.c.run_id)
            .join(tasks, tasks.c.task_id == task_attempts.c.task_id)
            .where(tasks.c.dataset_id == self.dataset.dataset_id, tasks.c.kind.not_in(NO_BUILDS))
        )
        rows = recorded_decisions(
            self.state,
            library,
            decisions.c.dataset_id == self.dataset.dataset_id,
            decisions.c.evidence_hash.is_not(None),
            decisions.c.decided_at >= since,
            decisions.c.run_id.in_(built),
        )
        for row in rows:
            case = replayer.case(case_of(row))
            if case.evidence is not None:
                yield self._run(row, case, case.evidence)

    def _run(self, row: Row[Any], case: RecordedCase, evidence: Evidence) -> _RunOutcomes:
        version = self.past.version_of.get(row.run_id)
        unmeasured = self.draft.unmeasured(case, evidence.measures)
        if unmeasured and self.remeasure is not None:
            found, reasons = self._remeasured(case, version, unmeasured)
            evidence = evidence.model_copy(update={"measures": {**found, **evidence.measures}})
            unmeasured = self.draft.unmeasured(case, evidence.measures)
            unmeasured = {name: reasons.get(name, why) for name, why in unmeasured.items()}
        if version is not None:
            self.past.learn(version, evidence.measures)
        history = self.past.history(self.draft.rules, case, row.decided_at)
        ruling = self.draft.judge(case, evidence, history, row.decided_at, unmeasured)
        checks = [check for check in ruling.checks if check.kind is CheckKind.RULE]
        backtested = BacktestedRun(
            run_id=row.run_id,
            decided_at=row.decided_at,
            version=version,
            recorded=Verdict(row.verdict),
            drafted=ruling.verdict,
            rolled_back=version in self.past.rolled_back,
            findings=self._findings(row, case, checks),
            lifted=_lifted(row, {c.check_id for c in ruling.checks if c.outcome in BLOCKING}),
            unmeasured=tuple(sorted(unmeasured)),
        )
        outcomes = [(check.check_id, check.outcome) for check in checks]
        return _RunOutcomes(backtested, outcomes, unmeasured)

    def _findings(
        self, row: Row[Any], case: RecordedCase, checks: Sequence[CheckResult]
    ) -> tuple[DraftFinding, ...]:
        failing = [check for check in checks if check.outcome in BLOCKING]
        if not failing:
            return ()
        with self.state.read() as tx:
            hidden = self.hidden.in_run(tx, row.run_id, case)
        return tuple(finding(check, hidden) for check in failing)

    def _remeasured(
        self, case: RecordedCase, version: int | None, rules: dict[str, str]
    ) -> tuple[dict[str, MeasureValue], dict[str, str]]:
        """Missing measures, and the reason per rule if they cannot be taken."""
        missing = self.draft.missing(case, rules)
        if version is None or self.remeasure is None or not missing:
            why = "the run published no version" if missing else ""
            return {}, dict.fromkeys(rules, why) if why else {}
        try:
            with self.state.read() as tx:
                plan = remeasure_plan(tx, self.lake, self.dataset.name, version, missing)
            found = self.remeasure(plan)
        except VersionUnreadable as error:
            return {}, dict.fromkeys(rules, str(error))
        needs = self.draft.over(case.facts).needs
        reasons = {
            name: found.unmeasured[key]
            for name in rules
            for key in needs[name].measures
            if key in found.unmeasured
        }
        return found.values, reasons


def _lifted(row: Row[Any], blocking: set[str]) -> tuple[str, ...]:
    """Checks that blocked the run then but not with the draft."""
    if row.verdict == Verdict.ALLOWED.value:
        return ()
    checks = Ruling.from_json(row.ruling).checks
    stopped = {check.check_id for check in checks if check.outcome in BLOCKING}
    return tuple(sorted(stopped - blocking))
