"""Rules that set rows aside: how many of the batch failed, and that none is left in the rest."""

from __future__ import annotations

from lakeguard.gate.grounds import Grounds, Unmeasured, result
from lakeguard.gate.judged_rows import counts_of, rows_message, rows_words
from lakeguard.gate.judgement import Judgement, RowsJudged
from lakeguard.gate.rule import Rule, Threshold
from lakeguard.gate.thresholds import reached
from lakeguard.gate.wording import counted, rows_limit
from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.measure import RowCount
from lakeguard_sdk.words import Outcome, Scope


def judge_aside(
    definition: RuleDefinition, rule: Rule, judged: Judgement, grounds: Grounds
) -> CheckResult:
    """FAIL where a failing row is left, or more failed than ``fail_if`` allows; limits are held
    against the batch as it was with the rows that were set aside."""
    if not isinstance(judged, RowsJudged):
        raise Unmeasured("the rule points at no single rows, so that none can be set aside")
    rows = rows_words(rule, judged)
    left, whole = counts_of([grounds.answer(judged.failed), grounds.answer(judged.scope)])
    if left:
        message = f"{left:,} of {whole:,} {rows} fail and were not set aside"
        return result(definition, Outcome.FAIL, message, failed_rows=left, scope_rows=whole)
    failed, scope, filed = _before(definition.rule_id, judged, grounds)
    outcome, limit = _outcome(rule, failed, scope)
    message = rows_message(failed, scope, rows, limit)
    if failed:
        message += _became(judged, failed, filed)
    allowed = None if limit is None else rows_limit(limit)
    if failed and limit is not None:
        message += f", limit {allowed}"
    return result(definition, outcome, message, failed_rows=failed, scope_rows=scope, limit=allowed)


def _before(rule_id: str, judged: RowsJudged, grounds: Grounds) -> tuple[int, int, int]:
    """Failing rows and all rows, with those that were set aside; and those that are filed."""
    answer = grounds.answer_before
    failed, scope = counts_of([answer(judged.failed), answer(judged.scope)])
    aside = grounds.evidence.aside
    filed = sum(file.rows for file in aside.files if file.rule_id == rule_id) if aside else 0
    if filed > failed:
        raise Unmeasured(f"{filed:,} rows are filed under it, but {failed:,} failed")
    return failed, scope, filed


def _outcome(rule: Rule, failed: int, scope: int) -> tuple[Outcome, Threshold | None]:
    """The outcome, and the threshold that it is to be explained by."""
    if rule.fail_if is not None and reached(rule.fail_if, failed, scope):
        return Outcome.FAIL, rule.fail_if
    if rule.warn_if is None:
        return (Outcome.WARN if failed else Outcome.PASS), rule.fail_if
    warned = reached(rule.warn_if, failed, scope)
    return (Outcome.WARN if warned else Outcome.PASS), rule.warn_if


def _became(judged: RowsJudged, failed: int, filed: int) -> str:
    """Of a key that the table has too only the new rows are set aside, by whichever rule."""
    measure = judged.scope.measure
    if not isinstance(measure, RowCount) or measure.scope is not Scope.TABLE:
        return " set aside"
    new = (
        f"{counted(filed, 'new row')} set aside" if filed else "other rules set the new ones aside"
    )
    return f" {'fails' if failed == 1 else 'fail'}; {new}, none is left"
