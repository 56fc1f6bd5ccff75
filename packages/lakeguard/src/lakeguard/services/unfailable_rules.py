"""Rules that no recorded run could have failed, whatever its rows had been."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lakeguard.gate.grammar.rule import Rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.gate.rules.thresholds import reached
from lakeguard.services.plain_text import plural
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import DatasetDefinition, RuleDefinition
from lakeguard_sdk.ports import Reader

RUNS = 50
"""How many of a dataset's last runs are looked at."""
_JUDGED = (Outcome.PASS, Outcome.WARN, Outcome.FAIL)


class UnfailableRule(FrozenModel):
    """A rule, and why none of the runs could have failed it."""

    dataset: DatasetName
    rule_id: str
    expression: str
    why: str


def unfailable_rules(
    reader: Reader, datasets: Iterable[DatasetDefinition]
) -> Iterator[UnfailableRule]:
    """Active rules about rows whose limits were out of reach in every recorded run that judged
    them: even if all rows in scope had failed. Rules about a value and rules without a run are not
    listed.
    """
    registered = {row.dataset_name for row in reader.datasets()}
    for dataset in datasets:
        if dataset.dataset not in registered:
            continue
        results = _results(reader, dataset.dataset)
        for rule in dataset.rules:
            found = [item for item in results if _is_of(item, rule)] if rule.active else []
            why = _why(parse_rule(rule.expression), found)
            if why:
                yield UnfailableRule(
                    dataset=dataset.dataset,
                    rule_id=rule.rule_id,
                    expression=rule.expression,
                    why=why,
                )


def _results(reader: Reader, name: DatasetName) -> list[CheckResult]:
    runs = reader.runs(name, RUNS)
    decided = (reader.decision(run.run_id) for run in runs if run.decision_id is not None)
    return [
        check
        for decision in decided
        for check in decision.ruling.checks
        if check.kind is CheckKind.RULE
    ]


def _is_of(check: CheckResult, rule: RuleDefinition) -> bool:
    same = (check.check_id, check.expression) == (rule.rule_id, rule.expression)
    return same and check.outcome in _JUDGED and check.scope_rows is not None


def _why(rule: Rule, judged: Sequence[CheckResult]) -> str:
    """Why the rule could not fail; empty if it could, or if no run tells."""
    scopes = [check.scope_rows or 0 for check in judged]
    if not scopes or any(_could_fail(rule, rows) for rows in scopes):
        return ""
    runs, most = plural(len(scopes), "run"), max(scopes)
    if not most:
        return f"in {runs} it was about no row at all"
    return f"in {runs} it was about at most {plural(most, 'row')}, which do not reach its limit"


def _could_fail(rule: Rule, rows: int) -> bool:
    """Whether so many failing rows, of as many, would fail the rule or make it warn."""
    limits = [limit for limit in (rule.fail_if, rule.warn_if) if limit is not None]
    if not limits:
        return rows > 0
    return any(reached(limit, rows, rows) for limit in limits)
