"""Rules that quarantine rows: what they come to, and which of them can."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from lakeguard.gate.evaluation.case import Quarantined
from lakeguard.gate.policies import parse_policy
from lakeguard.gate.rules.compile import compile_rule, compile_text
from lakeguard.gate.rules.parse import GrammarError
from lakeguard.gate.rules.quarantine_rules import check_quarantine, quarantine_rules
from lakeguard_sdk.core.enums import (
    Outcome,
    PolicyType,
    Severity,
    Verdict,
)
from lakeguard_sdk.expressions.measures import measure_key
from lakeguard_sdk.model.decision import CheckResult, Ruling
from lakeguard_sdk.model.definitions import PolicyDefinition
from lakeguard_sdk.model.evidence import Changes, Evidence
from lakeguard_sdk.model.quarantine import QuarantinedRows, StagedQuarantineFile
from tests.unit.gate.cases import CLOCK, SCHEMA, evidence_of, facts, policy, result_of, row, rule
from tests.unit.gate.cases import ruling as ruled
from tests.unit.gate.oracle import Row, measured

GOOD = row(key="k", name="n", count=1)
BAD = row(key="b")
TEXT = "not_null(name) on_fail quarantine"


def file(rule_id: str, rows: int, number: int = 0) -> StagedQuarantineFile:
    return StagedQuarantineFile(
        rule_id=rule_id,
        path=f"quarantine/silver/flights/0/execution_id=run_1/{number}.parquet",
        size=1,
        rows=rows,
        modified_ms=1,
        sha256="0" * 64,
        first_seen=CLOCK,
    )


def split(
    text: str,
    kept: list[Row],
    quarantined: list[Row],
    had: list[Row] | None = None,
    **changed: Any,
) -> Evidence:
    """Evidence of a batch out of which rows were quarantined under the one rule."""
    made = rule(text, changed.pop("severity", None))
    (found,) = quarantine_rules((made,), SCHEMA)
    batch, table = [*kept, *quarantined], [*(had or []), *kept, *quarantined]
    described = {measure_key(m): measured(m, batch, table) for m in (found.failed, found.scope)}
    files = (file(made.rule_id, len(quarantined)),) if quarantined else ()
    given = QuarantinedRows(rows=len(quarantined), files=files, before=described).model_copy(
        update=changed
    )
    return evidence_of((made,), kept, had).model_copy(update={"quarantined": given})


def decision(
    text: str,
    evidence: Evidence,
    *policies: PolicyDefinition,
    severity: Severity | None = None,
    **known: Any,
) -> Ruling:
    made = rule(text, severity)
    case = facts(**{"quarantine_rule_ids": (made.rule_id,), **known})
    return ruled(evidence, (made,), policies, case)


def check(text: str, evidence: Evidence, severity: Severity | None = None) -> CheckResult:
    made = rule(text, severity)
    return result_of(made.rule_id, decision(text, evidence, severity=severity))


def test_what_was_quarantined_warns_and_the_rest_is_published() -> None:
    evidence = split(TEXT, [GOOD] * 27, [BAD] * 5)
    found = check(TEXT, evidence)
    assert found.outcome is Outcome.WARN
    assert found.message == "5 of 32 new rows (16 %) quarantined"
    assert (found.failed_rows, found.scope_rows) == (5, 32)
    assert decision(TEXT, evidence).verdict is Verdict.ALLOWED


def test_nothing_to_quarantine_passes() -> None:
    found = check(TEXT, evidence_of((rule(TEXT),), [GOOD]))
    assert (found.outcome, found.message) == (Outcome.PASS, "0 of 1 new rows")


@pytest.mark.parametrize("severity", [None, Severity.WARN])
def test_a_failing_row_in_the_rest_blocks(severity: Severity | None) -> None:
    evidence = split(TEXT, [GOOD, BAD], [BAD], severity=severity)
    found = check(TEXT, evidence, severity)
    assert found.outcome is Outcome.FAIL
    assert found.message == "1 of 2 new rows fail and were not quarantined"
    assert check(TEXT, evidence_of((rule(TEXT),), [BAD])).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("clause", "outcome", "message"),
    [
        ("fail_if > 25%", Outcome.WARN, "1 of 4 new rows (25 %) quarantined, limit 25 %"),
        ("fail_if >= 25%", Outcome.FAIL, "1 of 4 new rows (25 %) quarantined, limit below 25 %"),
        ("fail_if > 0", Outcome.FAIL, "1 of 4 new rows (25 %) quarantined, limit 0 rows"),
        ("warn_if > 1", Outcome.PASS, "1 of 4 new rows (25 %) quarantined, limit 1 row"),
        ("warn_if > 0", Outcome.WARN, "1 of 4 new rows (25 %) quarantined, limit 0 rows"),
        (
            "warn_if > 1 fail_if > 2",
            Outcome.PASS,
            "1 of 4 new rows (25 %) quarantined, limit 1 row",
        ),
    ],
)
def test_limits_are_held_against_the_batch_as_it_came(
    clause: str, outcome: Outcome, message: str
) -> None:
    text = f"not_null(name) {clause} on_fail quarantine"
    found = check(text, split(text, [GOOD] * 3, [BAD]))
    assert (found.outcome, found.message) == (outcome, message)


def test_a_key_that_the_table_has_is_quarantined_from_the_batch_alone() -> None:
    text = "unique(key) on_fail quarantine"
    evidence = split(text, [row(key="c")], [row(key="a")], had=[row(key="a"), row(key="b")])
    found = check(text, evidence)
    assert found.outcome is Outcome.WARN
    assert found.message == (
        "2 of 4 rows of the table (50 %) fail; 1 new row quarantined, none remain"
    )


def test_a_key_may_be_kept_out_by_another_rule() -> None:
    text = "unique(key) on_fail quarantine"
    evidence = split(text, [row(key="c")], [row(key="a")], had=[row(key="a")])
    assert evidence.quarantined is not None
    quarantined = evidence.quarantined.model_copy(update={"files": (file("not_null.name", 1),)})
    found = check(text, evidence.model_copy(update={"quarantined": quarantined}))
    assert found.message.endswith("fail; the new ones were quarantined by other rules, none remain")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"rows": 2}, "2 rows were quarantined, but their files hold 1"),
        (
            {"files": (file("other", 1),)},
            "rows are quarantined for other, which does not quarantine rows",
        ),
        ({"files": (file("not_null.name", 1), file("not_null.name", 0, 1))}, "has no rows"),
        ({"rows": 2, "files": (file("not_null.name", 1),) * 2}, "is listed twice"),
        ({"before": {}}, "has no value from before the quarantine"),
        ({"rows": 2, "files": (file("not_null.name", 2),)}, "2 rows are quarantined for it, but 1"),
    ],
)
def test_evidence_that_contradicts_itself_blocks(changed: dict[str, Any], expected: str) -> None:
    evidence = split(TEXT, [GOOD], [BAD], **changed)
    found = decision(TEXT, evidence)
    assert found.verdict is Verdict.BLOCKED
    assert expected in " ".join(found.reasons)


def test_the_batch_is_what_is_published_and_what_was_quarantined() -> None:
    evidence = split(TEXT, [GOOD], [BAD])
    assert evidence.quarantined is not None
    described = {
        key: 9 if key.startswith("row_count") else 1 for key in evidence.quarantined.before
    }
    quarantined = evidence.quarantined.model_copy(update={"before": described})
    found = decision(TEXT, evidence.model_copy(update={"quarantined": quarantined}))
    assert "1 rows and 1 quarantined, but 9 were counted" in " ".join(found.reasons)


def test_a_rule_that_the_run_did_not_quarantine_by_blocks() -> None:
    found = decision(TEXT, evidence_of((rule(TEXT),), [BAD]), quarantine_rule_ids=())
    assert found.verdict is Verdict.BLOCKED
    assert "the rows were not quarantined" in found.reasons[0]


@pytest.mark.parametrize(
    "text",
    [
        "increasing(count, dep) on_fail quarantine",
        "sql_query(count(*) < 3) by name on_fail quarantine",
    ],
)
def test_a_rule_that_points_at_no_single_rows_quarantines_none(text: str) -> None:
    with pytest.raises(GrammarError, match="cannot quarantine: the rule blocks") as refused:
        compile_text(text, SCHEMA)
    assert text[refused.value.offset :] == "on_fail quarantine"
    stored = rule(text)
    assert compile_rule(stored, SCHEMA), "one that is stored keeps its meaning"
    assert quarantine_rules((stored,), SCHEMA) == ()


def test_a_column_that_only_the_load_writes_quarantines_none() -> None:
    batch = SCHEMA.model_copy(update={"columns": SCHEMA.columns[1:]})
    with pytest.raises(GrammarError, match="key is written by the load") as refused:
        check_quarantine("not_null(key) on_fail quarantine", batch)
    assert (refused.value.offset, refused.value.length) == (9, 3)
    check_quarantine("not_null(key)", batch)
    assert quarantine_rules((rule("not_null(key) on_fail quarantine"),), batch) == ()


def test_rules_stand_in_the_order_of_their_ids() -> None:
    texts = ("unique(name)", "not_null(name)", "json_valid(name)")
    rules = tuple(rule(f"{text} on_fail quarantine") for text in texts)
    rules += (rule("not_null(key)"), rule("not_null(day) on_fail quarantine", active=False))
    found = [item.rule_id for item in quarantine_rules(rules, SCHEMA)]
    assert found == ["json_valid.name", "not_null.name", "unique.name"]


# -- policies --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "waits", "outcome", "message"),
    [
        ("quarantine <= 1 rows", None, Outcome.FAIL, "2 of 6 rows quarantined, at most 1"),
        ("quarantine <= 50%", None, Outcome.PASS, "2 of 6 rows quarantined"),
        ("quarantine <= 1 rows", {"rows": 2, "exempt": True}, Outcome.NOT_EVALUATED, "no new"),
        ("quarantine <= 1%", {"rows": 2, "exempt": True}, Outcome.NOT_EVALUATED, "no new"),
        ("quarantine holds <= 5 rows", {"rows": 3}, Outcome.PASS, "5 rows in quarantine"),
        ("quarantine holds <= 4 rows", {"rows": 3}, Outcome.FAIL, "at most 4"),
        ("quarantine holds <= 2 rows", {"rows": 3, "renews": True}, Outcome.PASS, "2 rows"),
        ("quarantine holds <= 0 rows", {"rows": 3, "exempt": True}, Outcome.NOT_EVALUATED, "new"),
        ("quarantine holds <= 9 rows", None, Outcome.ERROR, "is unknown"),
        ("quarantine waits <= 7d", {"rows": 3, "days": 7}, Outcome.PASS, "in quarantine for 7 d"),
        ("quarantine waits <= 7d", {"rows": 3, "days": 8}, Outcome.FAIL, "for 8 d, limit 7d"),
        (
            "quarantine waits <= 7d",
            {"rows": 3, "days": 8, "renews": True},
            Outcome.PASS,
            "is empty",
        ),
        (
            "quarantine waits <= 7d",
            {"rows": 3, "days": 8, "exempt": True},
            Outcome.NOT_EVALUATED,
            "no new rows",
        ),
        ("quarantine waits <= 7d", {"rows": 0}, Outcome.PASS, "the quarantine is empty"),
    ],
)
def test_budgets(text: str, waits: dict[str, Any] | None, outcome: Outcome, message: str) -> None:
    known = None
    if waits is not None:
        days = waits.pop("days", None)
        oldest = None if days is None else CLOCK - timedelta(days=days)
        known = Quarantined(oldest=oldest, **waits)
    budget = policy(text, PolicyType.QUARANTINE_BUDGET)
    found = decision(TEXT, split(TEXT, [GOOD] * 4, [BAD] * 2), budget, quarantine=known)
    checked = result_of("guarantee", found)
    assert (checked.outcome, message in checked.message) == (outcome, True), checked.message


def test_rows_that_a_load_deletes_were_not_read() -> None:
    whole = split(TEXT, [GOOD] * 9, [BAD])
    changes = Changes(inserted=9, deleted=990)
    evidence = whole.model_copy(update={"changes": changes, "batch": 9})
    budget = policy("quarantine <= 5%", PolicyType.QUARANTINE_BUDGET)
    found = decision(TEXT, evidence, budget)
    assert "1 of 10 rows quarantined, at most 5%" in " ".join(found.reasons)


@pytest.mark.parametrize(
    ("before", "outcome", "message"),
    [
        (1, Outcome.FAIL, "rows that contain the pattern"),
        (0, Outcome.PASS, "no text"),
        (None, Outcome.ERROR, "was not searched before rows were quarantined"),
    ],
)
def test_a_pattern_is_forbidden_in_rows_quarantined_too(
    before: int | None, outcome: Outcome, message: str
) -> None:
    text = "not_null(key) on_fail quarantine"
    forbidden = policy("forbid pattern '[0-9]{3}-[0-9]{2}' in values", PolicyType.PII)
    form = parse_policy(PolicyType.PII, forbidden.expression)
    keys = [measure_key(measure) for measure in form.measures(SCHEMA)]
    whole = split(text, [GOOD], [row(name="123-45")])
    assert whole.quarantined is not None
    described = {key: before for key in keys if before is not None}
    quarantined = whole.quarantined.model_copy(
        update={"before": {**whole.quarantined.before, **described}}
    )
    measures = {**whole.measures, **dict.fromkeys(keys, 0)}
    found = decision(
        text, whole.model_copy(update={"quarantined": quarantined, "measures": measures}), forbidden
    )
    checked = result_of("guarantee", found)
    assert checked.outcome is outcome
    assert message in checked.message
    assert found.discard is (outcome is Outcome.FAIL)
