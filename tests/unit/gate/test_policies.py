"""Policies: one strict grammar, and which of them are about a dataset."""

from __future__ import annotations

import pytest

from lakeguard.gate.policies import evaluate_metadata, parse_policy, policy_text
from lakeguard.gate.policy_types.catalog import POLICY_KINDS
from lakeguard.gate.rules.parse import GrammarError
from lakeguard_sdk.core.enums import (
    CheckKind,
    Enforcement,
    Layer,
    Outcome,
    PolicyType,
)
from tests.unit.gate.cases import CLOCK, facts, policy, subject

TAGGED = facts(tags={"name": ("identifier", "PII"), "key": ("pii",), "count": ()})
PII, SLA = PolicyType.PII, PolicyType.SLA

SPELLINGS = [
    (PII, "  FORBID   Tag:PII ", "forbid tag:pii"),
    (PII, "forbid tag:gdpr.special-category_1", "forbid tag:gdpr.special-category_1"),
    (
        PII,
        "forbid tag:pii Unless Masked By [SHA2, md5]",
        "forbid tag:pii unless masked by [md5, sha2]",
    ),
    (
        PII,
        "forbid columns [ssn, 'e-mail', 'it''s', 'pass*']",
        "forbid columns ['e-mail', 'it''s', 'pass*', ssn]",
    ),
    (PII, "forbid pattern '[0-9]{3}' IN samples", "forbid pattern '[0-9]{3}' in samples"),
    (PII, "forbid pattern '[0-9]{3}' in values", "forbid pattern '[0-9]{3}' in values"),
    (PolicyType.SCHEMA, "Mode strict", "mode STRICT"),
    (PolicyType.SCHEMA, "mode BACKWARD", "mode BACKWARD"),
    (SLA, "freshness<=24H", "freshness <= 24h"),
    (SLA, "arrival by 06:00", "arrival by 06:00"),
    (SLA, "duration <= 90m", "duration <= 90m"),
    (PolicyType.OWNERSHIP, "owner required", "owner required"),
    (PolicyType.OWNERSHIP, "owner in ['team-b', 'Team A']", "owner in ['Team A', 'team-b']"),
    (PolicyType.OWNERSHIP, "description required", "description required"),
    (PolicyType.RULE_COVERAGE, "rules >= 3", "rules >= 3"),
    (PolicyType.RULE_COVERAGE, "rules cover keys", "rules cover keys"),
    (PolicyType.RULE_COVERAGE, "columns covered >= 80.0 %", "columns covered >= 80%"),
    (PolicyType.LINEAGE_PARENT, "parents required", "parents required"),
    (PolicyType.LINEAGE_PARENT, "parents forbidden", "parents forbidden"),
    (PolicyType.LINEAGE_PARENT, "parents from SILVER", "parents from silver"),
    (PolicyType.LINEAGE_PARENT, "parents from [gold, silver]", "parents from [silver, gold]"),
    (PolicyType.LINEAGE_PARENT, "INPUTS known", "inputs known"),
    (PolicyType.VOLUME_CAP, "rows <= 10000000", "rows <= 10000000"),
    (PolicyType.VOLUME_CAP, "bytes <= 5gb", "bytes <= 5GB"),
    (PolicyType.VOLUME_CAP, "bytes <= 1024", "bytes <= 1024"),
    (PolicyType.VOLUME_CAP, "growth <= 300%", "growth <= 300%"),
    (PolicyType.QUARANTINE_BUDGET, "quarantine <= 0.5%", "quarantine <= 0.5%"),
    (PolicyType.QUARANTINE_BUDGET, "quarantine <= 1000 rows", "quarantine <= 1000 rows"),
    (PolicyType.QUARANTINE_BUDGET, "Quarantine holds<=10 rows", "quarantine holds <= 10 rows"),
    (PolicyType.QUARANTINE_BUDGET, "quarantine waits <= 7D", "quarantine waits <= 7d"),
    (PolicyType.QUARANTINE_BUDGET, "quarantine waits <= 7 days", "quarantine waits <= 7d"),
    (PolicyType.NAMING, "columns match '[a-z]+'", "columns match '[a-z]+'"),
    (PolicyType.NAMING, "dataset match '[a-z]+'", "dataset match '[a-z]+'"),
    (PolicyType.NAMING, "dataset match '[a-z_]{1,127}'", "dataset match '[a-z_]{1,127}'"),
    (PolicyType.NAMING, "columns match '[^ ]+'", "columns match '[^ ]+'"),
    (
        PolicyType.CHANGE_FREEZE,
        "freeze 2026-12-20 .. 2027-01-03",
        "freeze 2026-12-20..2027-01-03",
    ),
    (
        PolicyType.CHANGE_FREEZE,
        "freeze 2026-12-20T18:00Z..2026-12-21T06:00+01:00",
        "freeze 2026-12-20T18:00Z..2026-12-21T06:00+01:00",
    ),
    (PolicyType.CHANGE_FREEZE, "freeze Friday..sunday", "freeze friday..sunday"),
]


@pytest.mark.parametrize(("type", "text", "canonical"), SPELLINGS)
def test_one_spelling(type: PolicyType, text: str, canonical: str) -> None:
    parsed = parse_policy(type, text)
    assert policy_text(parsed) == canonical
    assert parse_policy(type, canonical) == parsed


def test_every_form_of_every_type_is_spelled_here() -> None:
    read = {(type, parse_policy(type, text).__class__) for type, text, _ in SPELLINGS}
    listed = {
        (kind.type, parse_policy(kind.type, form.example).__class__)
        for kind in POLICY_KINDS.values()
        for form in kind.forms
    }
    assert read >= listed
    assert set(POLICY_KINDS) == set(PolicyType)


@pytest.mark.parametrize(
    ("type", "text", "offset", "length", "message", "hint"),
    [
        (PII, "", 0, 1, "forbid expected", ""),
        (PII, "forbit tag:pii", 0, 6, "forbid expected", " did you mean forbid?"),
        (PII, "forbid", 6, 1, "tag:<name>", ""),
        (PII, "forbid tga:pii", 7, 7, "tag:<name>", " did you mean tag?"),
        (PII, "forbid pii", 7, 3, "tag:<name>", ""),
        (PII, "forbid tag:", 7, 4, "a tag starts with a letter", ""),
        (PII, "forbid tag:p*", 7, 6, "a tag starts with a letter", ""),
        (PII, "forbid tag:pii now", 15, 3, "nothing more expected", ""),
        (PII, "forbid tag:pii unless masked by []", 33, 1, "the name of a function", ""),
        (PII, "forbid tag:pii unless masked by [upper]", 32, 1, "upper does not mask", ""),
        (PII, "forbid tag:pii unless masked by [sha2, mask]", 32, 1, "mask does not mask", ""),
        *(
            (PII, f"forbid tag:pii unless masked by [{name}]", 32, 1, f"{name} does not mask", "")
            for name in ("approx_count_distinct", "count", "crc32", "hash", "xxhash64")
        ),
        (PII, r"forbid pattern '[^\d\D]' in values", 15, 9, "no text matches", ""),
        (PolicyType.VOLUME_CAP, "rows <= 999999999999", 8, 12, "this always holds", ""),
        (PolicyType.VOLUME_CAP, "bytes <= 1000000TB", 9, 9, "this always holds", ""),
        (PolicyType.VOLUME_CAP, "growth <= 10000000000000%", 10, 14, "this always holds", ""),
        (PolicyType.QUARANTINE_BUDGET, "quarantine <= 100%", 14, 3, "this always holds", ""),
        (
            PolicyType.QUARANTINE_BUDGET,
            "quarantine <= 100000000000 rows",
            14,
            12,
            "this always holds",
            "",
        ),
        (PolicyType.RULE_COVERAGE, "rules >= 0", 9, 1, "this always holds", ""),
        (PolicyType.RULE_COVERAGE, "columns covered >= 0%", 19, 1, "more than 0%", ""),
        (PolicyType.NAMING, r"columns match '[\d\D]+'", 14, 9, "this always holds", ""),
        (PolicyType.NAMING, r"columns match '[^\n]+'", 14, 8, "every name of a column", ""),
        (PolicyType.NAMING, "dataset match '[a-z][a-z0-9_]*'", 14, 17, "every name of a data", ""),
        (PolicyType.NAMING, r"dataset match '\w{1,128}'", 14, 11, "every name of a dataset", ""),
        (PII, "forbid columns ssn", 15, 3, "'[' expected", ""),
        (PII, "forbid columns [ssn, ssn]", 21, 3, "duplicate or empty item", ""),
        (PII, "forbid columns [e-mail]", 17, 1, "unexpected", ""),
        (PII, "forbid pattern '.*' in samples", 15, 4, "differs between engines", ""),
        (PII, "forbid pattern '(a+)+b' in samples", 15, 8, "", ""),
        (
            PII,
            "forbid pattern '^a' in values",
            15,
            4,
            "match anywhere in a text: remove '^'",
            "",
        ),
        (PII, r"forbid pattern 'a\Z' in values", 15, 5, r"anywhere in a text: remove \Z", ""),
        (PII, "forbid pattern '' in values", 15, 2, "the pattern is empty", ""),
        (
            PII,
            "forbid pattern '[a]' in sample",
            24,
            6,
            "samples or values",
            " did you mean samples?",
        ),
        (PII, "mode STRICT", 0, 4, "forbid expected", ""),
        (PolicyType.SCHEMA, "mode STRIKT", 5, 6, "unknown mode", " did you mean STRICT?"),
        (PolicyType.SCHEMA, "mode", 4, 1, "a mode expected", ""),
        (PolicyType.SCHEMA, "mode STRICT or not", 12, 2, "nothing more expected", ""),
        (PolicyType.SCHEMA, "x" * 4001, 4000, 1, "too long", ""),
        (SLA, "freshness <= 24", 13, 2, "a duration expected", ""),
        (SLA, "freshness <= 0h", 13, 2, "from 1 to", ""),
        (SLA, "freshness < 24h", 10, 1, "'<=' expected", ""),
        (SLA, "freshnes <= 24h", 0, 8, "freshness", " did you mean freshness?"),
        (SLA, "arrival by 6:00", 11, 4, "is not a number", ""),
        (SLA, "arrival by 25:00", 11, 5, "a time of the day", ""),
        (PolicyType.OWNERSHIP, "owner in []", 10, 1, "an owner expected", ""),
        (PolicyType.OWNERSHIP, "owner in ['']", 10, 2, "duplicate or empty item", ""),
        (PolicyType.RULE_COVERAGE, "rules >= 3.5", 9, 3, "a whole number", ""),
        (PolicyType.RULE_COVERAGE, "columns covered >= 101%", 19, 3, "at most 100%", ""),
        (
            PolicyType.LINEAGE_PARENT,
            "parents from sliver",
            13,
            6,
            "a layer",
            " did you mean silver?",
        ),
        (PolicyType.LINEAGE_PARENT, "parents from [raw]", 13, 1, "layers are", ""),
        (PolicyType.VOLUME_CAP, "rows <= -1", 8, 2, "is not a number", ""),
        (PolicyType.VOLUME_CAP, "rows <= 1e9", 8, 3, "is not a number", ""),
        (PolicyType.VOLUME_CAP, "bytes <= 5XB", 9, 3, "a size expected", ""),
        (PolicyType.QUARANTINE_BUDGET, "quarantine <= 1000", 18, 1, "% or rows", ""),
        (PolicyType.QUARANTINE_BUDGET, "quarantine holds <= 1%", 21, 1, "rows expected", ""),
        (PolicyType.QUARANTINE_BUDGET, "quarantine waits <= 7 weeks", 22, 5, "hours or days", ""),
        (PolicyType.QUARANTINE_BUDGET, "quarantine waits <= 0 days", 20, 1, "from 1 to", ""),
        (PolicyType.NAMING, "columns match 'a$'", 14, 4, "the whole name: remove '$'", ""),
        (PolicyType.NAMING, "columns match [a-z]", 14, 1, "a pattern in single quotes", ""),
        (PolicyType.NAMING, r"columns match '\p{Z}'", 14, 7, "plain characters", ""),
        (PolicyType.CHANGE_FREEZE, "freeze 2026-12-20", 17, 1, "'..' expected", ""),
        (PolicyType.CHANGE_FREEZE, "freeze 2026-13-01..2026-12-02", 7, 10, "no such date", ""),
        (PolicyType.CHANGE_FREEZE, "freeze '20261220'..2026-12-21", 7, 10, "a date or a time", ""),
        (
            PolicyType.CHANGE_FREEZE,
            "freeze 2026-12-20T18:00..2026-12-21",
            7,
            16,
            "needs a zone",
            "",
        ),
        (PolicyType.CHANGE_FREEZE, "freeze 2026-12-20..2026-12-19", 19, 10, "before", ""),
        ("RESIDENCY", "in europe", 0, 9, "unknown policy type RESIDENCY", ""),
    ],
)
def test_refusals_stand_where_the_mistake_is(
    type: PolicyType, text: str, offset: int, length: int, message: str, hint: str
) -> None:
    with pytest.raises(GrammarError) as caught:
        parse_policy(type, text)
    assert (caught.value.offset, caught.value.length) == (offset, length)
    assert message in caught.value.message
    assert caught.value.hint == hint


@pytest.mark.parametrize("type", PolicyType)
@pytest.mark.parametrize(
    "text",
    [
        "forbid tag:pii; drop table x",
        "{{ config() }}",
        "reflect('java.lang.Runtime', 'exec')",
        "(select 1)",
        "forbid columns [" + "[" * 10_000,
        "mode STRICT\x00",
        "mode \u202eTCIRTS",
        "1=1",
        "x -> x",
        "owner in [" + ", ".join(f"a{n}" for n in range(201)) + "]",
    ],
)
def test_hostile_texts_are_refused(type: PolicyType, text: str) -> None:
    with pytest.raises(GrammarError):
        parse_policy(type, text)


@pytest.mark.parametrize(
    ("enforcement", "outcome"),
    [(Enforcement.BLOCK, Outcome.FAIL), (Enforcement.ALERT, Outcome.WARN)],
)
def test_a_tag_is_found_in_whatever_case(enforcement: Enforcement, outcome: Outcome) -> None:
    (found,) = evaluate_metadata(
        TAGGED, (policy("forbid tag:pii", enforcement=enforcement),), CLOCK
    )
    assert (found.kind, found.check_id) == (CheckKind.POLICY, "guarantee")
    assert found.outcome is outcome
    assert found.message == "columns key, name tagged pii"


def test_only_policies_over_the_dataset_that_need_no_data_are_judged() -> None:
    policies = (
        policy("forbid tag:pii", layer=Layer.GOLD, name="gold_only"),
        policy("mode STRICT", PolicyType.SCHEMA, name="needs_columns"),
        policy("rows <= 5", PolicyType.VOLUME_CAP, name="needs_data"),
        policy("forbid tag:pii", active=False, name="retired"),
        policy("forbid everything", name="unreadable"),
    )
    found = {check.check_id: check.outcome for check in evaluate_metadata(TAGGED, policies, CLOCK)}
    assert found == {"retired": Outcome.NOT_EVALUATED, "unreadable": Outcome.ERROR}


@pytest.mark.parametrize(
    ("scope", "judged"),
    [
        ({}, True),
        ({"layer": None}, True),
        ({"layer": Layer.GOLD}, False),
        ({"layer": None, "domain": "Aviation"}, True),
        ({"layer": None, "domain": "finance"}, False),
        ({"layer": None, "tag": "pii"}, True),
        ({"layer": None, "tag": "secret"}, False),
        ({"layer": Layer.SILVER, "domain": "aviation", "tag": "pii"}, True),
        ({"layer": Layer.SILVER, "domain": "aviation", "tag": "secret"}, False),
        ({"layer": Layer.GOLD, "domain": "aviation", "tag": "pii"}, False),
    ],
)
def test_layer_domain_and_tag_must_all_hold(scope: dict[str, object], judged: bool) -> None:
    case = TAGGED.model_copy(update={"subject": subject(domain="aviation")})
    found = evaluate_metadata(case, (policy("forbid tag:pii", **scope),), CLOCK)
    assert bool(found) is judged
