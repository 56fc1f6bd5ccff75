"""``rules >= 3``, ``rules cover keys``, ``columns covered >= 80%``"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from lakeguard.gate.evaluation.messages import counted
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.literals import EXACT
from lakeguard.gate.policy_types.policy_form import (
    FormReference,
    PolicyForm,
    PolicyInput,
    PolicyKind,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import (
    expect_count,
    expect_least_percent,
    expect_one_of,
    percent_text,
)
from lakeguard_sdk.core.enums import PolicyType


class RulesAtLeast(PolicyForm):
    policy: Literal["rules_at_least"] = "rules_at_least"
    count: int

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        found = len(policy_input.subject.rules)
        message = f"{counted(found, 'active rule')}, at least {self.count:,}"
        return PolicyResult(found >= self.count, message)

    def __str__(self) -> str:
        return f"rules >= {self.count}"


class RulesCoverKeys(PolicyForm):
    policy: Literal["rules_cover_keys"] = "rules_cover_keys"

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        keys = policy_input.subject.keys
        if not keys:
            return PolicyResult(None, "the load has no keys")
        bare = [key for key in keys if key not in _covered(policy_input)]
        if bare:
            return PolicyResult(False, f"no active rule covers the key {', '.join(bare)}")
        return PolicyResult(True, f"active rules cover every key: {', '.join(keys)}")

    def __str__(self) -> str:
        return "rules cover keys"


class ColumnsCovered(PolicyForm):
    policy: Literal["columns_covered"] = "columns_covered"
    percent: Decimal

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        columns = policy_input.facts.declared.names
        covered = len(_covered(policy_input) & set(columns))
        enough = EXACT.multiply(self.percent, Decimal(len(columns))) <= 100 * covered
        message = f"active rules cover {covered:,} of {len(columns):,} columns"
        return PolicyResult(enough, f"{message}, at least {percent_text(self.percent)}")

    def __str__(self) -> str:
        return f"columns covered >= {percent_text(self.percent)}"


def _covered(policy_input: PolicyInput) -> set[str]:
    return {column for columns in policy_input.subject.rules for column in columns}


def _read(cursor: Cursor) -> PolicyForm:
    wanted = "rules >= 3, rules cover keys or columns covered >= 80%"
    if expect_one_of(cursor, wanted, "rules", "columns") == "columns":
        expect_one_of(cursor, "covered", "covered")
        cursor.expect_mark(">=")
        return ColumnsCovered(percent=expect_least_percent(cursor))
    if cursor.take_word("cover"):
        expect_one_of(cursor, "keys", "keys")
        return RulesCoverKeys()
    if not cursor.at_mark(">="):
        raise cursor.error(">= or cover keys expected")
    cursor.advance()
    start = cursor.token
    count = expect_count(cursor)
    if count == 0:
        raise cursor.refuse(start, "this always holds: there are at least 0 rules")
    return RulesAtLeast(count=count)


RULE_COVERAGE = PolicyKind(
    type=PolicyType.RULE_COVERAGE,
    summary="How much of a dataset is covered by active rules.",
    read=_read,
    forms=(
        FormReference(
            form="rules >= <number>",
            example="rules >= 3",
            meaning="The dataset has at least that many active rules.",
            violated="there are fewer.",
        ),
        FormReference(
            form="rules cover keys",
            example="rules cover keys",
            meaning="Every key of the load is covered by an active rule.",
            violated="a key is not covered.",
        ),
        FormReference(
            form="columns covered >= <number>%",
            example="columns covered >= 80%",
            meaning="At least that share of the table's columns is covered by active rules.",
            violated="the share is smaller.",
        ),
    ),
)
