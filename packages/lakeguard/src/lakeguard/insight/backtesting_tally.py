"""Counting up a back-test: runs that come out otherwise, and each rule over all runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from lakeguard_sdk.definition import DatasetDefinition, RuleDefinition
from lakeguard_sdk.memory import Backtest, BacktestedRule, BacktestedRun
from lakeguard_sdk.words import Outcome

_FAILS = (Outcome.FAIL, Outcome.ERROR)
_REASONS = 3


@dataclass
class _Counted:
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    unmeasured: Counter[str] = field(default_factory=Counter)
    failing: list[BacktestedRun] = field(default_factory=list)


class Tally:
    """Runs in any order; the answer has them by time."""

    def __init__(self, rules: tuple[RuleDefinition, ...]) -> None:
        self._rules = rules
        self._counted = {rule.rule_id: _Counted() for rule in rules}
        self._told: list[BacktestedRun] = []
        self._runs = 0

    def add(
        self,
        run: BacktestedRun,
        outcomes: Iterable[tuple[str, Outcome]],
        unmeasured: Mapping[str, str],
    ) -> None:
        """One run, with what each rule of the draft came to in it, or why it was not asked."""
        self._runs += 1
        for rule_id, outcome in outcomes:
            counted = self._counted[rule_id]
            counted.outcomes[outcome] += 1
            if outcome in _FAILS:
                counted.failing.append(run)
        for rule_id, reason in unmeasured.items():
            self._counted[rule_id].unmeasured[reason] += 1
        if run.blocks or run.lets_through or run.rolled_back:
            self._told.append(run)

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
            told=tuple(sorted(self._told, key=_order)),
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
