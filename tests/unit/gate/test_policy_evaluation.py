"""Every form of policy: what holds, what violates it, and what does not arise."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakeguard.gate.policies import evaluate_metadata, policy_measures
from lakeguard.gate.subject import InheritedTag, ReadInput
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    Enforcement,
    Outcome,
    PolicyType,
    Verdict,
)
from lakeguard_sdk.expressions.measures import measure_key
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.evidence import Changes, Evidence
from tests.unit.gate.cases import (
    CLOCK,
    SCHEMA,
    evidence_of,
    facts,
    policy,
    result_of,
    row,
    ruling,
    schema,
    subject,
)

BRONZE, SILVER = DatasetName("bronze.raw"), DatasetName("silver.people")
PII, SLA = PolicyType.PII, PolicyType.SLA
HELD, BROKEN, MOOT = Outcome.PASS, Outcome.FAIL, Outcome.NOT_EVALUATED


def judged(type: PolicyType, text: str, **known: Any) -> CheckResult:
    """What one policy comes to without data."""
    given = {key: known.pop(key) for key in ("tags", "declared") if key in known}
    case = facts(subject=subject(**known)).model_copy(update=given)
    (found,) = evaluate_metadata(case, (policy(text, type),), CLOCK)
    return found


def decided(
    type: PolicyType, text: str, evidence: Evidence, clock: datetime = CLOCK, **known: Any
) -> CheckResult:
    """What one policy comes to in the decision."""
    case = facts(subject=subject(**known))
    return result_of("guarantee", ruling(evidence, (), (policy(text, type),), case, clock=clock))


def of_rows(count: int, before: int = 0, **changes: object) -> Evidence:
    found = evidence_of((), [row(key=str(n)) for n in range(count)], [row()] * before)
    return found.model_copy(update=changes)


def with_counts(counts: dict[str, int]) -> Evidence:
    found = of_rows(1)
    return found.model_copy(update={"measures": {**found.measures, **counts}})


def read(dataset: DatasetName, age: timedelta) -> ReadInput:
    return ReadInput(dataset=dataset, version=3, promoted_at=CLOCK - age)


MASKED = InheritedTag(column="name", tag="pii", source="bronze.raw.email", through=("sha2",))
BARE = InheritedTag(column="key", tag="PII", source="bronze.raw.email", through=("upper",))


@pytest.mark.parametrize(
    ("text", "known", "outcome", "message"),
    [
        ("forbid tag:pii", {}, HELD, "no column carries the tag pii"),
        ("forbid tag:pii", {"tags": {"key": ("PII",)}}, BROKEN, "column key tagged pii"),
        (
            "forbid tag:pii",
            {"travelled": (BARE,)},
            BROKEN,
            "column key derives from bronze.raw.email, tagged pii",
        ),
        (
            "forbid tag:pii unless masked by [sha2]",
            {"travelled": (MASKED,)},
            HELD,
            "no column carries the tag pii",
        ),
        (
            "forbid tag:pii unless masked by [md5]",
            {"travelled": (MASKED,)},
            BROKEN,
            "column name derives from bronze.raw.email, tagged pii",
        ),
        (
            "forbid tag:pii unless masked by [sha2]",
            {"travelled": (MASKED, BARE)},
            BROKEN,
            "column key derives from bronze.raw.email, tagged pii",
        ),
        ("forbid columns [ssn]", {}, HELD, "no column has a forbidden name"),
        ("forbid columns [KEY]", {}, BROKEN, "column key forbidden by name"),
        ("forbid columns ['?ey', '[k]ey']", {}, HELD, "no column has a forbidden name"),
        (
            "forbid columns ['*ount']",
            {},
            BROKEN,
            "columns amount, count forbidden by name",
        ),
        (
            "forbid columns [ssn]",
            {"declared": schema(who="struct<id:long,SSN:string>")},
            BROKEN,
            "column who has a field SSN forbidden by name",
        ),
    ],
)
def test_personal_data_by_tag_and_name(
    text: str, known: dict[str, Any], outcome: Outcome, message: str
) -> None:
    found = judged(PII, text, **known)
    assert found.outcome is outcome
    assert message in found.message


@pytest.mark.parametrize("within", ["samples", "values"])
def test_personal_data_by_pattern_is_counted_and_never_seen(within: str) -> None:
    pattern = policy(f"forbid pattern '[0-9]{{3}}-[0-9]{{2}}' in {within}", PII)
    measures = policy_measures((pattern,), SCHEMA)
    texts = [column.name for column in SCHEMA.columns if column.type == "string"]
    assert len(measures) == len(texts) == 2
    zeros = dict.fromkeys(map(measure_key, measures), 0)
    clean = ruling(with_counts(zeros), (), (pattern,), facts(subject=subject()))
    assert result_of("guarantee", clean).outcome is HELD
    assert (clean.verdict, clean.discard) == (Verdict.ALLOWED, False)
    found = {**zeros, measure_key(measures[0]): 2}
    dirty = ruling(with_counts(found), (), (pattern,), facts(subject=subject()))
    assert result_of("guarantee", dirty).outcome is BROKEN
    assert "(2)" in result_of("guarantee", dirty).message
    assert dirty.discard, "what may not be kept must go"
    unmeasured = ruling(of_rows(1), (), (pattern,), facts(subject=subject()))
    assert result_of("guarantee", unmeasured).outcome is Outcome.ERROR
    assert not unmeasured.discard, "what was not measured is kept to be looked at"


def test_an_alert_on_a_pattern_keeps_the_files() -> None:
    alert = policy("forbid pattern '[0-9]' in values", PII, enforcement=Enforcement.ALERT)
    found = dict.fromkeys(map(measure_key, policy_measures((alert,), SCHEMA)), 1)
    ruled = ruling(with_counts(found), (), (alert,), facts(subject=subject()))
    assert result_of("guarantee", ruled).outcome is Outcome.WARN
    assert (ruled.verdict, ruled.discard) == (Verdict.ALLOWED, False)


def test_an_inactive_policy_asks_for_no_measure() -> None:
    off = policy("forbid pattern '[0-9]' in values", PII, active=False)
    assert policy_measures((off, policy("forbid nothing", PII)), SCHEMA) == ()


@pytest.mark.parametrize(
    ("type", "text", "known", "outcome", "message"),
    [
        (SLA, "freshness <= 24h", {"inputs": None}, MOOT, "no input is read"),
        (SLA, "freshness <= 24h", {"inputs": ()}, HELD, "no inputs"),
        (SLA, "freshness <= 24h", {"inputs": (read(SILVER, timedelta(hours=24)),)}, HELD, ""),
        (
            SLA,
            "freshness <= 24h",
            {"inputs": (read(SILVER, timedelta(hours=25)),)},
            BROKEN,
            "input silver.people@v3 is 1 d 1 h old, limit 24h",
        ),
        (SLA, "arrival by 06:00", {"promoted_at": None}, HELD, "in time"),
        (SLA, "arrival by 06:00", {"promoted_at": CLOCK - timedelta(hours=7)}, HELD, "in time"),
        (
            SLA,
            "arrival by 06:00",
            {"promoted_at": CLOCK - timedelta(hours=13)},
            BROKEN,
            "due by 2026-01-31 06:00 UTC",
        ),
        (SLA, "arrival by 13:00", {"promoted_at": CLOCK - timedelta(hours=13)}, HELD, "in time"),
        (SLA, "arrival by 13:00", {"promoted_at": CLOCK - timedelta(hours=48)}, BROKEN, "01-30"),
        (PolicyType.OWNERSHIP, "owner required", {}, HELD, ""),
        (PolicyType.OWNERSHIP, "owner required", {"owner": " "}, BROKEN, "has no owner"),
        (PolicyType.OWNERSHIP, "owner in ['flights-team']", {}, HELD, "owned by flights-team"),
        (PolicyType.OWNERSHIP, "owner in [others]", {}, BROKEN, "the owner is flights-team"),
        (PolicyType.OWNERSHIP, "description required", {}, HELD, ""),
        (
            PolicyType.OWNERSHIP,
            "description required",
            {"description": ""},
            BROKEN,
            "silver.flights has no description",
        ),
        (PolicyType.RULE_COVERAGE, "rules >= 1", {"rules": (("key",),)}, HELD, "1 active rule,"),
        (PolicyType.RULE_COVERAGE, "rules >= 2", {"rules": (("key",),)}, BROKEN, "at least 2"),
        (PolicyType.RULE_COVERAGE, "rules cover keys", {}, MOOT, "the load has no keys"),
        (
            PolicyType.RULE_COVERAGE,
            "rules cover keys",
            {"keys": ("key", "day"), "rules": (("day", "key"),)},
            HELD,
            "key, day",
        ),
        (
            PolicyType.RULE_COVERAGE,
            "rules cover keys",
            {"keys": ("key", "day"), "rules": (("key",),)},
            BROKEN,
            "no active rule covers the key day",
        ),
        (
            PolicyType.RULE_COVERAGE,
            "columns covered >= 15%",
            {"rules": (("key",), ("key", "day"))},
            HELD,
            "2 of 13 columns",
        ),
        (
            PolicyType.RULE_COVERAGE,
            "columns covered >= 15.5%",
            {"rules": (("key",), ("key", "day"))},
            BROKEN,
            "2 of 13 columns, at least 15.5%",
        ),
        (PolicyType.LINEAGE_PARENT, "parents required", {"parents": (BRONZE,)}, HELD, ""),
        (PolicyType.LINEAGE_PARENT, "parents required", {}, BROKEN, "built from no dataset"),
        (PolicyType.LINEAGE_PARENT, "parents forbidden", {}, HELD, ""),
        (PolicyType.LINEAGE_PARENT, "parents forbidden", {"parents": (BRONZE,)}, BROKEN, "raw"),
        (PolicyType.LINEAGE_PARENT, "parents from silver", {"parents": (SILVER,)}, HELD, ""),
        (PolicyType.LINEAGE_PARENT, "parents from silver", {}, BROKEN, "needs one in silver"),
        (
            PolicyType.LINEAGE_PARENT,
            "parents from silver",
            {"parents": (SILVER, BRONZE)},
            BROKEN,
            "built from bronze.raw, which is not silver",
        ),
        (
            PolicyType.LINEAGE_PARENT,
            "parents from [bronze, silver]",
            {"parents": (SILVER, BRONZE)},
            HELD,
            "",
        ),
        (PolicyType.NAMING, "columns match '[a-z]+'", {}, HELD, ""),
        (
            PolicyType.NAMING,
            "columns match '[a-z]{4,}'",
            {},
            BROKEN,
            "key, day, dep, arr, raw does not match",
        ),
        (PolicyType.NAMING, "dataset match 'flights'", {}, HELD, ""),
        (PolicyType.NAMING, "dataset match 'fact_[a-z]+'", {}, BROKEN, "flights does not match"),
        (PolicyType.CHANGE_FREEZE, "freeze 2026-01-31..2026-01-31", {}, BROKEN, "frozen at"),
        (PolicyType.CHANGE_FREEZE, "freeze 2026-02-01..2026-02-02", {}, HELD, "not frozen"),
        (PolicyType.CHANGE_FREEZE, "freeze 2026-01-30..2026-01-30", {}, HELD, "not frozen"),
        (
            PolicyType.CHANGE_FREEZE,
            "freeze 2026-01-31T11:00Z..2026-01-31T12:00Z",
            {},
            HELD,
            "not frozen",
        ),
        (
            PolicyType.CHANGE_FREEZE,
            "freeze 2026-01-31T13:00+01:00..2026-02-01",
            {},
            BROKEN,
            "frozen at 2026-01-31 12:00 UTC",
        ),
        (PolicyType.CHANGE_FREEZE, "freeze saturday..saturday", {}, BROKEN, "on a saturday"),
        (PolicyType.CHANGE_FREEZE, "freeze friday..monday", {}, BROKEN, "on a saturday"),
        (PolicyType.CHANGE_FREEZE, "freeze sunday..friday", {}, HELD, "not frozen on a saturday"),
    ],
)
def test_what_needs_no_data(
    type: PolicyType, text: str, known: dict[str, Any], outcome: Outcome, message: str
) -> None:
    found = judged(type, text, **known)
    assert found.outcome is outcome, found.message
    assert message in found.message


@pytest.mark.parametrize(
    ("type", "text", "evidence", "known", "outcome", "message"),
    [
        (SLA, "duration <= 2h", of_rows(1), {"opened_at": None}, MOOT, "no run builds it"),
        (SLA, "duration <= 2h", of_rows(1), {}, HELD, "took 0 s until the decision"),
        (
            SLA,
            "duration <= 2h",
            of_rows(1),
            {"opened_at": CLOCK - timedelta(minutes=121)},
            BROKEN,
            "took 2 h 1 m until the decision, limit 2h",
        ),
        (PolicyType.VOLUME_CAP, "rows <= 5", of_rows(2, before=3), {}, HELD, "5 rows"),
        (PolicyType.VOLUME_CAP, "rows <= 5", of_rows(3, before=3), {}, BROKEN, "6 rows, at most 5"),
        (PolicyType.VOLUME_CAP, "bytes <= 1", of_rows(1), {}, HELD, "1 byte, at most 1"),
        (PolicyType.VOLUME_CAP, "bytes <= 0", of_rows(1), {}, BROKEN, "at most 0"),
        (PolicyType.VOLUME_CAP, "growth <= 50%", of_rows(9), {}, MOOT, "no rows to grow from"),
        (
            PolicyType.VOLUME_CAP,
            "growth <= 50%",
            of_rows(1, before=2),
            {"rows_before": 2},
            HELD,
            "from 2 to 3 rows, at most 50% more",
        ),
        (
            PolicyType.VOLUME_CAP,
            "growth <= 50%",
            of_rows(2, before=2),
            {"rows_before": 2},
            BROKEN,
            "from 2 to 4 rows",
        ),
        (
            PolicyType.QUARANTINE_BUDGET,
            "quarantine <= 25%",
            of_rows(3, rejected=1),
            {},
            HELD,
            "1 of 4 rows quarantined",
        ),
        (
            PolicyType.QUARANTINE_BUDGET,
            "quarantine <= 24.9%",
            of_rows(3, rejected=1),
            {},
            BROKEN,
            "at most 24.9%",
        ),
        (
            PolicyType.QUARANTINE_BUDGET,
            "quarantine <= 10%",
            of_rows(0, rejected=1, batch=9, changes=Changes(unchanged=8, late=1)),
            {},
            HELD,
            "1 of 10 rows",
        ),
        (
            PolicyType.QUARANTINE_BUDGET,
            "quarantine <= 1 rows",
            of_rows(3, rejected=1),
            {},
            HELD,
            "at most 1",
        ),
        (
            PolicyType.QUARANTINE_BUDGET,
            "quarantine <= 1 rows",
            of_rows(3, rejected=2),
            {},
            BROKEN,
            "2 of 5 rows quarantined, at most 1",
        ),
    ],
)
def test_what_needs_data(
    type: PolicyType,
    text: str,
    evidence: Evidence,
    known: dict[str, Any],
    outcome: Outcome,
    message: str,
) -> None:
    found = decided(type, text, evidence, **known)
    assert found.outcome is outcome, found.message
    assert message in found.message


def test_a_freeze_that_begins_while_a_run_works_blocks_its_decision() -> None:
    text, begin = "freeze 2026-02-01..2026-02-02", datetime(2026, 2, 1, tzinfo=UTC)
    assert judged(PolicyType.CHANGE_FREEZE, text).outcome is HELD
    found = decided(PolicyType.CHANGE_FREEZE, text, of_rows(1), clock=begin)
    assert found.outcome is BROKEN


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (PolicyType.OWNERSHIP, "owner required"),
        (PolicyType.RULE_COVERAGE, "rules >= 1"),
        (SLA, "freshness <= 1d"),
    ],
)
def test_what_is_not_known_blocks(type: PolicyType, text: str) -> None:
    (found,) = evaluate_metadata(facts(), (policy(text, type),), CLOCK)
    assert found.outcome is Outcome.ERROR
    assert "unknown" in found.message
