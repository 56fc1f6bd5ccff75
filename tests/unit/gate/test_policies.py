"""Policies: their grammar, and what they say of a dataset before any data is read."""

from __future__ import annotations

import pytest

from lakeguard.gate.grammar import GrammarError
from lakeguard.gate.policies import judge_metadata, parse_policy, policy_text
from lakeguard_sdk.words import CheckKind, Enforcement, Layer, Outcome, PolicyType
from tests.unit.gate.cases import facts, policy

TAGGED = facts(tags={"name": ("identifier", "PII"), "key": ("pii",), "count": ()})


@pytest.mark.parametrize(
    ("type", "text", "canonical"),
    [
        (PolicyType.PII, "forbid tag:pii", "forbid tag:pii"),
        (PolicyType.PII, "  FORBID   Tag:PII ", "forbid tag:pii"),
        (
            PolicyType.PII,
            "forbid tag:gdpr.special-category_1",
            "forbid tag:gdpr.special-category_1",
        ),
        (PolicyType.SCHEMA, "mode STRICT", "mode STRICT"),
        (PolicyType.SCHEMA, "Mode strict", "mode STRICT"),
    ],
)
def test_one_spelling(type: PolicyType, text: str, canonical: str) -> None:
    parsed = parse_policy(type, text)
    assert policy_text(parsed) == canonical
    assert parse_policy(type, canonical) == parsed


@pytest.mark.parametrize(
    ("type", "text", "offset", "length", "message", "hint"),
    [
        (PolicyType.PII, "", 0, 1, "forbid expected", ""),
        (PolicyType.PII, "forbit tag:pii", 0, 6, "forbid expected", " did you mean forbid?"),
        (PolicyType.PII, "forbid", 6, 1, "tag:<name> expected", ""),
        (PolicyType.PII, "forbid tga:pii", 7, 7, "tag:<name> expected", " did you mean tag?"),
        (PolicyType.PII, "forbid pii", 7, 3, "tag:<name> expected", ""),
        (PolicyType.PII, "forbid tag:", 7, 4, "a tag starts with a letter", ""),
        (PolicyType.PII, "forbid tag:p*", 7, 6, "a tag starts with a letter", ""),
        (PolicyType.PII, "forbid tag:pii now", 15, 3, "nothing more expected", ""),
        (PolicyType.PII, "mode STRICT", 0, 4, "forbid expected", ""),
        (PolicyType.SCHEMA, "mode STRIKT", 5, 6, "unknown mode", " did you mean STRICT?"),
        (PolicyType.SCHEMA, "mode BACKWARD", 5, 8, "there is STRICT", ""),
        (PolicyType.SCHEMA, "mode", 4, 1, "a mode expected", ""),
        (PolicyType.SCHEMA, "forbid tag:pii", 0, 6, "mode expected", ""),
        (PolicyType.SCHEMA, "mode STRICT or not", 12, 2, "nothing more expected", ""),
        (PolicyType.SCHEMA, "x" * 401, 0, 401, "at most 400 characters", ""),
        ("SLA", "freshness <= 24h", 0, 16, "unknown policy type SLA", ""),
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


@pytest.mark.parametrize(
    ("enforcement", "outcome"),
    [(Enforcement.BLOCK, Outcome.FAIL), (Enforcement.ALERT, Outcome.WARN)],
)
def test_a_tag_is_found_in_whatever_case(enforcement: Enforcement, outcome: Outcome) -> None:
    (found,) = judge_metadata(TAGGED, (policy("forbid tag:pii", enforcement=enforcement),))
    assert (found.kind, found.check_id) == (CheckKind.POLICY, "guarantee")
    assert found.outcome is outcome
    assert found.message == "columns key, name tagged pii"


def test_no_tag_no_violation() -> None:
    (found,) = judge_metadata(TAGGED, (policy("forbid tag:secret"),))
    assert found.outcome is Outcome.PASS
    assert found.message == "no column carries the tag secret"
    (untagged,) = judge_metadata(facts(), (policy("forbid tag:pii"),))
    assert untagged.outcome is Outcome.PASS


def test_only_policies_of_the_layer_that_need_no_data_are_judged() -> None:
    policies = (
        policy("forbid tag:pii", layer=Layer.GOLD, name="gold_only"),
        policy("mode STRICT", PolicyType.SCHEMA, name="needs_data"),
        policy("forbid tag:pii", active=False, name="retired"),
        policy("forbid everything", name="unreadable"),
    )
    found = {check.check_id: check.outcome for check in judge_metadata(TAGGED, policies)}
    assert found == {"retired": Outcome.NOT_EVALUATED, "unreadable": Outcome.ERROR}
