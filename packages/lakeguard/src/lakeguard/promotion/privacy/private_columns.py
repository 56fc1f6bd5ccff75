"""Private columns, whose values are redacted in failure messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from lakeguard.gate.policies import parse_policy
from lakeguard.gate.policy_types.pii import ForbidColumns, ForbidTag
from lakeguard.gate.subject import InheritedTag
from lakeguard.promotion.privacy.load_columns import with_load_columns
from lakeguard.promotion.privacy.tag_propagation import possible_tags
from lakeguard.promotion.records.open_runs import PinnedRules
from lakeguard.registry.store import (
    RegisteredDataset,
    current_definition,
    current_policies,
    current_target,
    definitions_since,
)
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.enums import PolicyType
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition, PolicyDefinition
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.types.schema import field_names

PERSONAL = ForbidTag(tag="pii")

Marks = tuple[ForbidTag | ForbidColumns, ...]


def private_columns(
    tx: Transaction,
    dataset: RegisteredDataset,
    policies: Iterable[PolicyDefinition],
    possible: Iterable[InheritedTag],
) -> tuple[str, ...]:
    """Columns tagged ``pii``, own or inherited, and columns under a PII policy of any layer.

    Parents' columns count too: a build reads them even if it drops them.
    """
    marks = (PERSONAL, *_marks(policies))
    names = {*_marked(dataset.definition, marks), *_came_down(possible, marks)}
    for parent in dataset.definition.parents:
        found = current_definition(tx, parent)
        if found:
            marked = set(_marked(found.definition, marks))
            names |= with_load_columns(found.definition, marked)
    return tuple(sorted(with_load_columns(dataset.definition, names)))


def tagged_above(tx: Transaction, definition: DatasetDefinition) -> tuple[str, ...]:
    """Tagged columns of the parents."""
    tagged: list[str] = []
    for name in definition.parents:
        found = current_definition(tx, name)
        if found is not None:
            own = (column.name for column in found.definition.columns if column.tags)
            tagged += sorted(with_load_columns(found.definition, own))
    return tuple(tagged)


def private_in(
    definition: DatasetDefinition,
    policies: Iterable[PolicyDefinition],
    pinned: PinnedRules,
    possible: Iterable[InheritedTag],
) -> tuple[str, ...]:
    """Columns with a marking tag, own or possibly inherited."""
    marks = (PERSONAL, *_marks(policies))
    travelled = pinned.subject.travelled if pinned.subject else ()
    came_down = _came_down((*travelled, *possible), marks)
    names = {*_marked(definition, marks), *came_down}
    return tuple(sorted(with_load_columns(definition, names)))


def _came_down(travelled: Iterable[InheritedTag], marks: Marks) -> Iterator[str]:
    tags = {mark.tag for mark in marks if isinstance(mark, ForbidTag)}
    yield from (item.column for item in travelled if item.tag in tags)


def _marks(policies: Iterable[PolicyDefinition]) -> Iterator[ForbidTag | ForbidColumns]:
    for policy in policies:
        if policy.type is PolicyType.PII:
            form = parse_policy(policy.type, policy.expression)
            if isinstance(form, ForbidTag | ForbidColumns):
                yield form


def _marked(definition: DatasetDefinition, marks: Marks) -> Iterator[str]:
    for column in definition.columns:
        if any(_is_marked(column, mark) for mark in marks):
            yield column.name


def _is_marked(column: ColumnDefinition, mark: ForbidTag | ForbidColumns) -> bool:
    """A tagged struct field marks the whole column."""
    if isinstance(mark, ForbidTag):
        return mark.tag in (tag.lower() for tag in column.tags)
    names = (column.name, *field_names(column.type))
    return any(fnmatchcase(name.lower(), wanted.lower()) for name in names for wanted in mark.names)


# Hidden columns of rows written earlier, by tags since then and policies of today.


def hidden_since(
    tx: Transaction,
    dataset: RegisteredDataset,
    revision: int | None,
    read: Iterable[InputVersion] = (),
) -> frozenset[str]:
    """Columns tagged in any revision since, or under a current PII policy; a dropped column
    keeps its last tags. None means the first revision."""
    definitions = definitions_since(tx, dataset.dataset_id, revision or 0)
    policies, read = current_policies(tx), tuple(read)
    alone = PinnedRules(rules=(), policies=policies, tags={})
    found: set[str] = set()
    for definition in definitions:
        tagged = (column.name for column in definition.columns if column.tags)
        found |= with_load_columns(definition, tagged)
        found |= set(private_in(definition, policies, alone, ()))
    for definition in _last_of_each_column(definitions):
        transformed = is_transformed(tx, definition)
        possible = possible_tags(tx, definition, read, transformed=transformed)
        found |= {item.column for item in possible}
    return frozenset(found)


def is_transformed(tx: Transaction, definition: DatasetDefinition) -> bool:
    target = current_target(tx, definition.target or "")
    return target is not None and bool(target.transform)


def _last_of_each_column(definitions: Iterable[DatasetDefinition]) -> list[DatasetDefinition]:
    """A minimal set of definitions, newest first, that covers every column."""
    seen: set[str] = set()
    last: list[DatasetDefinition] = []
    for definition in reversed(tuple(definitions)):
        names = {column.name.casefold() for column in definition.columns}
        if not last or names - seen:
            last.append(definition)
        seen |= names
    return last
