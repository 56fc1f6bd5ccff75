"""Relations of a SELECT and their columns, with names resolved as Spark resolves them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakeguard_sdk.core.dataset_name import DatasetName

PLAIN = re.compile(r"[^\W\d]\w*")
"""A name that Spark generates for a call, such as ``max(a)``, is none of these."""
MOST_COLUMNS = 10_000
MOST_PATHS = 64
"""Ways from one input column to a value, by the functions applied."""


@dataclass(frozen=True)
class ColumnSource:
    """A source column of a value, and the functions applied to it."""

    dataset: DatasetName
    column: str
    through: frozenset[str]


Value = frozenset[ColumnSource] | None
"""What a value is made of; None if unknown."""


class NotModelled(Exception):
    """The SQL has a construct whose columns are not known here."""


def together(values: Iterable[Value]) -> Value:
    """Unknown if one of them is."""
    found: set[ColumnSource] = set()
    for value in values:
        if value is None:
            return None
        found |= value
    return _bounded(found)


def _bounded(found: set[ColumnSource]) -> frozenset[ColumnSource]:
    """With very many ways from a column, it counts as read without any function."""
    if len(found) <= MOST_PATHS:
        return frozenset(found)
    ways: dict[tuple[DatasetName, str], set[ColumnSource]] = {}
    for source in found:
        ways.setdefault((source.dataset, source.column), set()).add(source)
    plain = (
        {ColumnSource(*column, frozenset())} if len(sources) > MOST_PATHS else sources
        for column, sources in ways.items()
    )
    return frozenset().union(*plain)


class Ingredients:
    """Collects what one value is made of."""

    def __init__(self) -> None:
        self.value: Value = frozenset()

    def add(self, value: Value, through: frozenset[str]) -> None:
        if value is not None and through:
            value = frozenset(replace(source, through=source.through | through) for source in value)
        self.value = together((self.value, value))


@dataclass(frozen=True)
class Field:
    """A column of a relation."""

    spelled: str | None
    """None if Spark generates the name."""
    value: Value
    qualifier: str | None = None

    @property
    def name(self) -> str | None:
        return None if self.spelled is None else self.spelled.casefold()


@dataclass(frozen=True)
class Relation:
    """The columns of a FROM clause or a query, in order."""

    fields: tuple[Field, ...] = ()
    hidden: tuple[Field, ...] = ()
    """Found by their qualified name only: keys of a USING join that it merged."""
    open: frozenset[str | None] = frozenset()
    """Qualifiers of relations that have further columns, or columns that are not known."""

    def __post_init__(self) -> None:
        if len(self.fields) > MOST_COLUMNS:
            raise NotModelled

    @property
    def is_certain(self) -> bool:
        """Whether a name that is not found is the name of no column."""
        return not self.open and all(item.name is not None for item in self.fields)

    @property
    def names(self) -> set[str]:
        return {item.name for item in (*self.fields, *self.hidden) if item.name is not None}

    def aliased(self, alias: str | None, columns: Sequence[str] = ()) -> Relation:
        """Under a new qualifier, and new names if there are any."""
        if columns and self.open:
            return Relation(tuple(Field(name, None, alias) for name in columns))
        if self.open:
            return Relation(
                tuple(replace(item, qualifier=alias) for item in self.fields),
                open=frozenset({alias}),
            )
        if columns and len(columns) != len(self.fields):
            raise NotModelled
        names: Sequence[str | None] = columns or [item.spelled for item in self.fields]
        return Relation(
            tuple(
                Field(name, item.value, alias)
                for name, item in zip(names, self.fields, strict=True)
            )
        )

    def find(self, parts: Sequence[str]) -> list[Field]:
        """Columns of a dotted name, of which trailing parts may be fields of a struct.

        Hidden ones are found last, as in Spark.
        """
        if len(parts) > 1:
            found = _qualified(self.fields, parts)
            if found:
                return found
            if parts[0] in self.open or self._has_unnamed(parts[0]):
                return [Field(parts[1], None)]
        found = [item for item in self.fields if item.name == parts[0]]
        if not found and not self.is_certain:
            return [Field(parts[0], None)]
        return found or _qualified(self.hidden, parts)

    def has(self, parts: Sequence[str]) -> bool:
        """Whether the dotted name is that of a column, and not of a field of one."""
        *qualifier, name = parts
        if not qualifier:
            return any(item.name == name for item in self.fields)
        hidden = () if any(item.name == qualifier[0] for item in self.fields) else self.hidden
        known = (*hidden, *self.fields)
        return any([item.qualifier] == qualifier and item.name == name for item in known)

    def _has_unnamed(self, qualifier: str) -> bool:
        return any(item.qualifier == qualifier and item.name is None for item in self.fields)

    def star(self, qualifier: str | None = None) -> Relation:
        """The columns of ``*`` or ``qualifier.*``; unknown ones for the fields of a struct."""
        if qualifier is None:
            return replace(self, hidden=())
        found = tuple(item for item in (*self.hidden, *self.fields) if item.qualifier == qualifier)
        if not found or qualifier in self.open:
            return Relation(found, open=frozenset({qualifier}))
        return Relation(found)

    def beside(self, other: Relation) -> Relation:
        """The columns of a join with a condition."""
        return Relation(
            self.fields + other.fields, self.hidden + other.hidden, self.open | other.open
        )

    def merged(self, other: Relation, keys: Sequence[str] | None, side: str) -> Relation:
        """The columns of a USING or, without keys, NATURAL join: keys first, each once."""
        if not (self.is_certain and other.is_certain):
            raise NotModelled
        pairs = self.key_pairs(other, keys)
        left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        match side:
            case "RIGHT":
                shown, hidden = right, left
            case "FULL":
                shown = [Field(one.spelled, together((one.value, two.value))) for one, two in pairs]
                hidden = left + right
            case _:
                shown, hidden = left, right
        rest = (item for item in self.fields if item not in left)
        others = (item for item in other.fields if item not in right)
        return Relation(
            (*shown, *rest, *others), (*hidden, *self.hidden, *other.hidden), frozenset()
        )

    def filtered(self, keys: Sequence[str]) -> Relation:
        """The columns of a SEMI or ANTI join with USING: keys first."""
        shown = [_only(self, key) for key in keys]
        rest = (item for item in self.fields if item not in shown)
        return replace(self, fields=(*shown, *rest))

    def key_pairs(self, other: Relation, keys: Sequence[str] | None) -> list[tuple[Field, Field]]:
        """The columns that a USING or, without keys, NATURAL join compares."""
        if keys is None:
            if not (self.is_certain and other.is_certain):
                raise NotModelled
            keys = self._shared(other)
        return [(_only(self, key), _only(other, key)) for key in keys]

    def _shared(self, other: Relation) -> list[str]:
        """Spark compares the names of a NATURAL join with case."""
        spelled = {item.spelled for item in other.fields}
        shared = [item for item in self.fields if item.name in other.names]
        if any(item.spelled not in spelled for item in shared):
            raise NotModelled
        return [item.name for item in shared if item.name is not None]


def _qualified(fields: Iterable[Field], parts: Sequence[str]) -> list[Field]:
    return [item for item in fields if [item.qualifier, item.name] == [*parts[:2]]]


def _only(relation: Relation, name: str) -> Field:
    found = [item for item in relation.fields if item.name == name]
    if len(found) != 1:
        raise NotModelled
    return found[0]


@dataclass
class Aliases:
    """Names that items of a SELECT list give to their values; later items may read them."""

    values: dict[str, Value] = field(default_factory=dict)
    open: bool = False
    """Whether there are further names, which are not known."""
    has_calls: bool = False
    """Whether there are further names such as ``max(a)``."""

    def add(self, name: str, value: Value) -> None:
        self.values[name] = together((self.values.get(name, frozenset()), value))

    def find(self, name: str) -> list[Field]:
        if self.open or (self.has_calls and not PLAIN.fullmatch(name)):
            return [Field(name, None)]
        return [Field(name, self.values[name])] if name in self.values else []


@dataclass(frozen=True)
class Scope:
    """What a name may refer to: columns of FROM, then aliases of the SELECT, then outer columns.

    A name is looked up further out only if all names of the nearer scopes are known.
    """

    relation: Relation
    outer: Scope | None = None
    aliases: Aliases = field(default_factory=Aliases)
    common: Mapping[str, Relation] = field(default_factory=dict)
    """Common table expressions by folded name."""

    def find(self, parts: Sequence[str]) -> list[Field]:
        """The columns of a name, or none; several if it is ambiguous.

        Where an alias hides an outer column, both: Spark prefers the outer one to a generator's.
        """
        found = self.relation.find(parts)
        if found:
            return found
        further = [] if self.outer is None else self.outer.find(parts)
        return [*self.aliases.find(parts[0]), *further]

    def options(self, qualifier: str | None) -> set[str]:
        """Column names to suggest."""
        found: set[str] = set()
        scope: Scope | None = self
        while scope is not None:
            relation = scope.relation
            found |= {
                item.spelled
                for item in (*relation.fields, *relation.hidden)
                if item.spelled is not None and qualifier in (None, item.qualifier)
            }
            found |= set(scope.aliases.values) if qualifier is None else set()
            scope = scope.outer
        return found
