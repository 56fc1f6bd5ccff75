"""Columns that must have a value: what ``required: true`` says, and a row's ``is_nullable``."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.gate.where_tree import column_text
from lakeguard_sdk.definition import RuleDefinition
from lakeguard_sdk.words import Severity


def is_required(name: str, rules: Sequence[RuleDefinition]) -> bool:
    """Whether a rule of a dataset blocks on any NULL in the column."""
    return any(
        rule.rule_id == f"not_null.{name}"
        and rule.expression == f"not_null({column_text(name)})"
        and rule.severity is Severity.FAIL
        and rule.active
        for rule in rules
    )
