"""Compares a live schema with the declared one and decides on every difference."""

from __future__ import annotations

from collections.abc import Iterable

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.policies import schema_mode
from lakeguard.gate.schema.changes import Approved, Difference, find_changes
from lakeguard.gate.schema.profiles import BUILT_IN, Answers, guaranteed
from lakeguard.gate.schema.types import grown_type
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.model.definitions import PolicyDefinition
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.types.schema import Column, TableSchema

_ADDED = (SchemaChange.ADD_NULLABLE, SchemaChange.ADD_REQUIRED)


def compare_schema(
    live: TableSchema,
    declared: TableSchema,
    policies: tuple[PolicyDefinition, ...],
    layer: Layer,
    *,
    text_source: bool,
) -> tuple[SchemaReaction, ...]:
    """All differences of names and types, sorted by column, with the reaction of the profile and
    the policies. Column order is ignored."""
    found = find_changes(live, Approved(declared), text_source=text_source)
    return tuple(guaranteed(answered(found, BUILT_IN["default"]), policy_modes(policies, layer)))


def answered(found: Iterable[Difference], answers: Answers) -> tuple[SchemaReaction, ...]:
    return tuple(
        SchemaReaction(
            column=item.column,
            change=item.change,
            found=item.found,
            declared=item.declared,
            reaction=answers[item.change],
            other=item.other,
        )
        for item in found
    )


def policy_modes(policies: tuple[PolicyDefinition, ...], layer: Layer) -> tuple[str, ...]:
    """Schema modes that policies enforce here; an invalid policy counts as STRICT."""
    modes = []
    for policy in policies:
        try:
            mode = schema_mode(policy, layer)
        except GrammarError:
            mode = "strict"
        modes += [mode] if mode is not None else []
    return tuple(sorted(set(modes)))


def demands_declared_columns(policies: tuple[PolicyDefinition, ...], layer: Layer) -> bool:
    """Whether a policy restricts the columns."""
    return bool(policy_modes(policies, layer))


def accepted_schema(
    declared: TableSchema, live: TableSchema, differences: Iterable[SchemaReaction]
) -> TableSchema:
    """The declared columns with accepted widenings, then accepted new columns."""
    taken = [item for item in differences if item.reaction is Reaction.ACCEPT]
    names = {item.other: item.column for item in taken if item.change is SchemaChange.CASE_RENAME}
    live_types = {names.get(column.name, column.name): column.type for column in live.columns}
    columns = [_widened(column, live_types.get(column.name), taken) for column in declared.columns]
    new = {item.column for item in taken if item.change in _ADDED}
    new |= {item.other for item in taken if item.change is SchemaChange.RENAME}
    columns += [Column(name=c.name, type=c.type) for c in live.columns if c.name in new]
    return TableSchema(columns=tuple(columns))


def _widened(column: Column, live: str | None, taken: list[SchemaReaction]) -> Column:
    own = {item.change for item in taken if _is_of(item, column.name)}
    if live is None or not own:
        return column
    return Column(name=column.name, type=grown_type(column.type, live, own.__contains__))


def _is_of(item: SchemaReaction, column: str) -> bool:
    return item.column == column or item.column.startswith((f"{column}.", f"{column}["))
