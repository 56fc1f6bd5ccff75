"""Whatever two schemas there are: differences are found, and what is accepted is taken over."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.gate.schema.changes import Approved, find_changes, reordered
from lakeguard.gate.schema.messages import change_text
from lakeguard.gate.schema.profiles import BUILT_IN
from lakeguard.gate.schema.types import grown_type, grows_into, type_changes
from lakeguard.gate.schema_comparison import accepted_schema, answered
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from lakeguard_sdk.types.schema import Column, TableSchema
from lakeguard_sdk.types.type_tree import type_text
from tests.support.examples import examples
from tests.support.strategies.column_types import column_types, names, plain_types

TYPES = column_types.map(type_text)
GROWTH = {
    SchemaChange.ADD_NULLABLE, SchemaChange.ADD_REQUIRED, SchemaChange.WIDEN,
    SchemaChange.NESTED_ADD, SchemaChange.NESTED_WIDEN,
}  # fmt: skip


def schemas(kinds: st.SearchStrategy[str] = TYPES) -> st.SearchStrategy[TableSchema]:
    columns = st.builds(
        Column, name=names, type=kinds, nullable=st.sampled_from((None, True, False))
    )
    listed = st.lists(columns, min_size=1, max_size=5, unique_by=lambda c: c.name.casefold())
    return listed.map(lambda found: TableSchema(columns=tuple(found)))


def plain(schema: TableSchema) -> TableSchema:
    """Declared columns say nothing of NULL."""
    return TableSchema(columns=tuple(Column(name=c.name, type=c.type) for c in schema.columns))


@given(schemas(), schemas(), st.booleans())
@examples(200)
def test_what_is_accepted_is_no_difference_any_more(
    declared: TableSchema, live: TableSchema, text_source: bool
) -> None:
    declared = plain(declared)
    found = find_changes(live, Approved(declared), text_source=text_source)
    answers = answered(found, BUILT_IN["permissive"])
    assert all(change_text(item) for item in answers)
    grown = accepted_schema(declared, live, answers)
    assert set(declared.names) <= set(grown.names)
    again = find_changes(live, Approved(grown), text_source=text_source)
    assert not GROWTH & {item.change for item in again}
    for column in declared.columns:
        assert grows_into(column.type, str(grown.type_of(column.name)))


@given(schemas(), st.randoms(use_true_random=False))
@examples(100)
def test_only_the_order_can_differ_between_equal_columns(
    schema: TableSchema, chance: Random
) -> None:
    declared = plain(schema)
    shuffled = list(declared.columns)
    chance.shuffle(shuffled)
    live = TableSchema(columns=tuple(shuffled))
    assert find_changes(live, Approved(declared), text_source=False) == []
    assert (reordered(live, declared) is None) is (live.names == declared.names)


@given(schemas(plain_types), schemas(plain_types))
@examples(100)
def test_strict_answers_every_difference_alike(declared: TableSchema, live: TableSchema) -> None:
    found = find_changes(live, Approved(plain(declared)), text_source=False)
    answers = answered(found, BUILT_IN["strict"])
    assert {item.reaction for item in answers} <= {Reaction.BLOCK}
    same = {(c.name, c.type) for c in declared.columns} == {(c.name, c.type) for c in live.columns}
    described = {item.change for item in found} - {SchemaChange.TIGHTEN_NULLABILITY}
    assert bool(described) is not same


@given(TYPES, TYPES)
@examples(200)
def test_a_type_grows_only_by_its_own_changes(old: str, new: str) -> None:
    changes = {item.change for item in type_changes("x", old, new)}
    grown = grown_type(old, new, lambda _: True)
    assert (grown != old) <= bool(changes & GROWTH)
    assert grown_type(grown, new, lambda _: True) == grown
