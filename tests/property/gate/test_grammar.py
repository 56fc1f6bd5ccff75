"""The grammar over all rules and all texts."""

from __future__ import annotations

import random
from collections.abc import Callable

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeguard.gate.grammar.rule import Rule
from lakeguard.gate.policies import parse_policy, policy_text
from lakeguard.gate.policy_types.catalog import POLICY_KINDS
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError, parse_rule, rule_text
from lakeguard_sdk.core.enums import PolicyType
from tests.property.gate.strategies import RULE_TYPE_NAMES, rules
from tests.support.examples import draws, examples
from tests.unit.gate.cases import SCHEMA

WORDS = """
where warn_if fail_if on_fail scope batch table block quarantine
and or not in is null between true false key name count delay amount day
0 1 -1 0.1 1e4 1e999 99999999999999999999 2013-12-31 2013-12-31T00:00:00Z
( ) [ ] , = <> != < <= > >= % ` ' " . ; - + * / { } \\ | : #
min= max= values= pattern= 'x' '' `ab` ['A','B'] \u202e
"""
PIECES = (*sorted(RULE_TYPE_NAMES), *WORDS.split(), " ", "\n", "`a b`")
piecemeal = st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)
anything = st.text(max_size=60)


def mutated(rule: Rule, at: float, piece: str) -> str:
    """The rule's text with something else in the middle."""
    text = rule_text(rule)
    index = int(at * len(text))
    return text[:index] + piece + text[index + len(piece) :]


mutants = st.builds(mutated, rules(), st.floats(0, 1), st.sampled_from(PIECES))


def refusal(read: Callable[[], object]) -> GrammarError | None:
    try:
        read()
    except GrammarError as error:
        return error
    return None


def stands_in(error: GrammarError, text: str) -> bool:
    """At a place of the text, or right behind its end."""
    end = error.offset + error.length
    inside = 0 <= error.offset < end <= len(text)
    return inside or (error.offset, error.length) == (len(text), 1)


def reads_or_refuses(text: str) -> None:
    """A text is a rule whose canonical text is the same rule, or it is refused at a place."""
    refused = refusal(lambda: parse_rule(text))
    if refused is not None:
        assert stands_in(refused, text)
        return
    rule = parse_rule(text)
    canonical = rule_text(rule)
    assert parse_rule(canonical) == rule
    assert rule_text(parse_rule(canonical)) == canonical
    refused = refusal(lambda: compile_text(text, SCHEMA))
    assert refused is None or stands_in(refused, text)


def test_every_rule_type_is_generated() -> None:
    assert {rule_type.name for rule_type in RULE_TYPES} == RULE_TYPE_NAMES


@given(rules())
@examples(500, quick=25, suppress_health_check=[HealthCheck.too_slow])
def test_reading_undoes_writing(rule: Rule) -> None:
    text = rule_text(rule)
    assert parse_rule(text) == rule
    assert rule_text(parse_rule(text)) == text
    assert Rule.from_json(rule.to_json()) == rule


@given(rules(), st.sampled_from([" ", "\n", "\t  "]))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_blanks_around_a_rule_mean_nothing(rule: Rule, blank: str) -> None:
    assert parse_rule(blank + rule_text(rule) + blank) == rule


@given(anything | piecemeal | mutants)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_a_rule_or_refused_at_a_place(text: str) -> None:
    reads_or_refuses(text)


def test_pieces_of_the_grammar_are_a_rule_or_refused_at_a_place() -> None:
    """Thrown together and torn apart."""
    chance = random.Random(20260131)
    for _ in range(draws(30_000, quick=1_000)):
        pieces = [chance.choice(PIECES) for _ in range(chance.randrange(20))]
        text = chance.choice(["", " "]).join(pieces)
        cut = chance.randrange(len(text) + 1)
        reads_or_refuses(text[cut:] + text[:cut] if chance.random() < 0.3 else text)


POLICY_PIECES = sorted(
    {
        piece
        for kind in POLICY_KINDS.values()
        for form in kind.forms
        for piece in (
            *form.example.split(),
            *["[", "]", ",", "%", "..", "<=", ">=", "tag:", "'x'", "24h", "06:00", "2026-12-20"],
        )
    }
)


@given(
    st.sampled_from(PolicyType),
    anything | st.lists(st.sampled_from(POLICY_PIECES), max_size=12).map(" ".join),
)
def test_any_text_is_a_policy_or_refused_at_a_place(type: PolicyType, text: str) -> None:
    refused = refusal(lambda: parse_policy(type, text))
    if refused is not None:
        assert stands_in(refused, text)
        return
    policy = parse_policy(type, text)
    assert parse_policy(type, policy_text(policy)) == policy
