"""A live schema against the declared one: every difference, and the answer to it."""

from __future__ import annotations

from typing import Literal

from lakeguard.gate.grammar_error import GrammarError
from lakeguard.gate.policies import is_strict
from lakeguard_sdk.definition import PolicyDefinition
from lakeguard_sdk.run import SchemaReaction
from lakeguard_sdk.schema import TableSchema, is_nested, widens
from lakeguard_sdk.words import Layer

Reaction = Literal["LEFT_OUT", "CAST", "BLOCK"]


def compare_schema(
    live: TableSchema,
    declared: TableSchema,
    policies: tuple[PolicyDefinition, ...],
    layer: Layer,
    *,
    text_source: bool,
) -> tuple[SchemaReaction, ...]:
    """Every difference once, sorted by column. The order of columns is no difference; names
    that differ in case alone are two names; all that also holds of the fields of a struct. From a
    text source every plain type is read out of strings, so that a string there is no difference
    of type."""
    strict = demands_declared_columns(policies, layer)
    found = []
    for column in declared.columns:
        live_type = live.type_of(column.name)
        if live_type is None:
            found.append(_reaction(column.name, None, column.type, "BLOCK"))
        elif not _same(live_type, column.type, text_source=text_source):
            answer: Reaction = "CAST" if widens(live_type, column.type) else "BLOCK"
            found.append(_reaction(column.name, live_type, column.type, answer, strict))
    for column in live.columns:
        if declared.type_of(column.name) is None:
            found.append(_reaction(column.name, column.type, None, "LEFT_OUT", strict))
    return tuple(sorted(found, key=lambda item: (item.column, item.change)))


def demands_declared_columns(policies: tuple[PolicyDefinition, ...], layer: Layer) -> bool:
    """A policy that cannot be read forbids what it might have forbidden."""
    try:
        return any(is_strict(policy, layer) for policy in policies)
    except GrammarError:
        return True


def _same(live: str, declared: str, *, text_source: bool) -> bool:
    if text_source and live == "string" and not is_nested(declared):
        return True
    return widens(live, declared) and widens(declared, live)


def _reaction(
    column: str, found: str | None, declared: str | None, answer: Reaction, strict: bool = False
) -> SchemaReaction:
    change: Literal["added", "missing", "type"] = (
        "missing" if found is None else "added" if declared is None else "type"
    )
    return SchemaReaction(
        column=column,
        change=change,
        found=found,
        declared=declared,
        reaction="BLOCK" if strict else answer,
    )
