"""Policies: guarantees of the platform, above every pipeline.

policy = "forbid" "tag:" tag        for PII
       | "mode" "STRICT"            for SCHEMA
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import Field

from lakeguard.gate.case import CaseFacts
from lakeguard.gate.grammar_error import GrammarError, Span, nearest
from lakeguard_sdk.decision import CheckResult
from lakeguard_sdk.definition import PolicyDefinition
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import SchemaReaction
from lakeguard_sdk.words import CheckKind, Enforcement, Layer, Outcome, PolicyType

LONGEST_POLICY = 400
SCHEMA_MODES = ("STRICT",)

_WORD = re.compile(r"\S+")
_TAG = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")


class ForbidTag(Noun):
    """No column of the layer carries the tag, in whatever case it is written."""

    policy: Literal["forbid_tag"] = "forbid_tag"
    tag: str


class SchemaMode(Noun):
    """How far a live schema may differ from the declared one: STRICT is not at all."""

    policy: Literal["schema_mode"] = "schema_mode"
    mode: Literal["STRICT"]


Policy = Annotated[ForbidTag | SchemaMode, Field(discriminator="policy")]


@dataclass(frozen=True)
class PolicyReference:
    """What people read about a type of policy."""

    type: PolicyType
    form: str
    example: str
    summary: str
    judged: str
    violated: str


POLICY_REFERENCE = (
    PolicyReference(
        type=PolicyType.PII,
        form="forbid tag:<tag>",
        example="forbid tag:pii",
        summary="No column of the layer carries the tag, in whatever case it is written.",
        judged="when the run opens, before the first byte is staged, and again in the decision.",
        violated="a declared column carries the tag.",
    ),
    PolicyReference(
        type=PolicyType.SCHEMA,
        form="mode STRICT",
        example="mode STRICT",
        summary="What a run finds has exactly the declared columns, of exactly their types.",
        judged="when the columns are known, before anything is staged.",
        violated="a column is added, missing or of another type; the order is free.",
    ),
)


@lru_cache(maxsize=1024)
def parse_policy(type: PolicyType, expression: str) -> ForbidTag | SchemaMode:
    """The policy that the expression says; GrammarError, with the place, if it says none."""
    if len(expression) > LONGEST_POLICY:
        raise _error(f"at most {LONGEST_POLICY} characters", expression, 0, len(expression))
    words = list(_WORD.finditer(expression))
    if type == PolicyType.PII:
        return ForbidTag(tag=_tag(expression, words))
    if type == PolicyType.SCHEMA:
        _mode(expression, words)
        return SchemaMode(mode="STRICT")
    raise _error(f"unknown policy type {type!s:.64}", expression, 0, len(expression))


def policy_text(policy: ForbidTag | SchemaMode) -> str:
    """The one spelling of a policy; it reads back as the same policy."""
    return f"forbid tag:{policy.tag}" if isinstance(policy, ForbidTag) else f"mode {policy.mode}"


def applies(policy: PolicyDefinition, layer: Layer) -> bool:
    return policy.active and policy.applies_to_layer == layer


def is_strict(policy: PolicyDefinition, layer: Layer) -> bool:
    """Whether the policy forbids every difference of schema in this layer, by blocking."""
    return (
        applies(policy, layer)
        and policy.enforcement == Enforcement.BLOCK
        and isinstance(parse_policy(policy.type, policy.expression), SchemaMode)
    )


def judge_metadata(
    facts: CaseFacts, policies: tuple[PolicyDefinition, ...]
) -> tuple[CheckResult, ...]:
    """The policies of the dataset's layer that need no data, judged; an inactive one is
    listed as not evaluated, one that cannot be read is an ERROR."""
    results = []
    for policy in policies:
        if policy.applies_to_layer != facts.dataset.layer or policy.type != PolicyType.PII:
            continue
        results.append(judge_policy(facts, policy, has_evidence=True))
    return tuple(sorted(results, key=lambda check: (check.check_id, check.to_json())))


def judge_policy(facts: CaseFacts, policy: PolicyDefinition, *, has_evidence: bool) -> CheckResult:
    """One policy; never an exception for what its definition says."""
    if not policy.active:
        return _check(policy, Outcome.NOT_EVALUATED, "not evaluated: the policy is not active")
    try:
        parsed = parse_policy(policy.type, policy.expression)
    except GrammarError as error:
        return _check(policy, Outcome.ERROR, f"the policy cannot be read: {error}")
    if isinstance(parsed, ForbidTag):
        return _judge_tag(facts, policy, parsed.tag)
    if facts.schema_differences:
        return _violated(policy, differences_text(facts.schema_differences))
    if not has_evidence:
        return _check(policy, Outcome.NOT_EVALUATED, "not evaluated: no data was looked at")
    return _check(policy, Outcome.PASS, "the columns are exactly those declared")


def differences_text(differences: tuple[SchemaReaction, ...]) -> str:
    return "; ".join(sorted(difference_text(item) for item in differences))


def difference_text(item: SchemaReaction) -> str:
    """One difference of schema as a sentence."""
    match item.change:
        case "added":
            return f"column {item.column} ({item.found}) is not declared"
        case "missing":
            return f"column {item.column} ({item.declared}) is missing"
        case "type":
            return f"column {item.column} is {item.found}, declared {item.declared}"


def _judge_tag(facts: CaseFacts, policy: PolicyDefinition, tag: str) -> CheckResult:
    tagged = sorted(
        column
        for column, tags in facts.tags.items()
        if any(found.lower() == tag.lower() for found in tags)
    )
    if not tagged:
        return _check(policy, Outcome.PASS, f"no column carries the tag {tag}")
    noun = "column" if len(tagged) == 1 else "columns"
    return _violated(policy, f"{noun} {', '.join(tagged)} tagged {tag}")


def _violated(policy: PolicyDefinition, message: str) -> CheckResult:
    alert = policy.enforcement == Enforcement.ALERT
    return _check(policy, Outcome.WARN if alert else Outcome.FAIL, message)


def _check(policy: PolicyDefinition, outcome: Outcome, message: str) -> CheckResult:
    return CheckResult(
        kind=CheckKind.POLICY,
        check_id=policy.policy,
        expression=policy.expression,
        outcome=outcome,
        message=message,
    )


def _tag(text: str, words: list[re.Match[str]]) -> str:
    _keyword(text, words, 0, "forbid")
    found = _word(text, words, 1, "tag:<name> expected, as in tag:pii")
    prefix, colon, tag = found[0].partition(":")
    if not colon or prefix.lower() != "tag":
        hint = nearest(prefix, ["tag"])
        raise _error("tag:<name> expected, as in tag:pii", text, found.start(), len(found[0]), hint)
    if not _TAG.match(tag):
        raise _error(
            "a tag starts with a letter and has letters, digits, _ - .",
            text,
            found.start(),
            len(found[0]),
        )
    _end(text, words, 2)
    return tag.lower()


def _mode(text: str, words: list[re.Match[str]]) -> None:
    _keyword(text, words, 0, "mode")
    found = _word(text, words, 1, f"a mode expected: {', '.join(SCHEMA_MODES)}")
    if found[0].upper() not in SCHEMA_MODES:
        raise _error(
            f"unknown mode {found[0][:64]!r}; there is {', '.join(SCHEMA_MODES)}",
            text,
            found.start(),
            len(found[0]),
            nearest(found[0], SCHEMA_MODES),
        )
    _end(text, words, 2)


def _keyword(text: str, words: list[re.Match[str]], index: int, keyword: str) -> None:
    found = _word(text, words, index, f"{keyword} expected")
    if found[0].lower() != keyword:
        message = f"{keyword} expected, found {found[0][:64]!r}"
        raise _error(message, text, found.start(), len(found[0]), nearest(found[0], [keyword]))


def _word(text: str, words: list[re.Match[str]], index: int, wanted: str) -> re.Match[str]:
    if index >= len(words):
        raise _error(wanted, text, len(text), 1)
    return words[index]


def _end(text: str, words: list[re.Match[str]], index: int) -> None:
    if index < len(words):
        found = words[index]
        raise _error(
            f"nothing more expected, found {found[0][:64]!r}", text, found.start(), len(found[0])
        )


def _error(message: str, text: str, offset: int, length: int, hint: str = "") -> GrammarError:
    word = text[offset : offset + length]
    return GrammarError(message, Span(offset, max(1, length)), kind="syntax", hint=hint, word=word)
