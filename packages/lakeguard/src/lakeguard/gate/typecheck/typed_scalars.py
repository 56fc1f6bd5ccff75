"""Types the values of a condition; a literal takes the type of its neighbour."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from lakeguard.gate.grammar.functions import FUNCTIONS
from lakeguard.gate.grammar.grammar_error import nearest
from lakeguard.gate.grammar.literals import (
    Flag,
    Literal_,
    Number,
    Text,
)
from lakeguard.gate.grammar.rule import ParsedRule
from lakeguard.gate.grammar.syntax_tree import (
    Aggregated,
    Calculated,
    Called,
    Chosen,
    Named,
    WhereNode,
    WrittenNode,
)
from lakeguard.gate.typecheck.comparability import shared_type
from lakeguard.gate.typecheck.constant_conditions import divides_by_zero
from lakeguard.gate.typecheck.typed_calls import (
    Argument,
    BadArgument,
    fixed_argument,
    typed_argument,
    typed_call,
)
from lakeguard.gate.typecheck.typed_values import NoSuchValue, literal_type, typed_value
from lakeguard_sdk.expressions.arithmetic_types import NotExact, arithmetic_types
from lakeguard_sdk.expressions.conditions import (
    Calculation,
    Choice,
    ColumnRef,
    Condition,
    FieldRef,
    Scalar,
    type_of,
)
from lakeguard_sdk.types.schema import FLOATS, TableSchema, is_nested
from lakeguard_sdk.types.type_parser import parse_type
from lakeguard_sdk.types.type_tree import StructOf, type_text


@dataclass(frozen=True)
class Pending:
    """A literal whose type depends on its neighbour."""

    literal: Literal_
    part: str


def find_column(read: ParsedRule, part: str, name: str, schema: TableSchema) -> ColumnRef:
    data_type = schema.type_of(name)
    if data_type is None:
        raise read.error(
            part, f"unknown column {name}", kind="column", hint=nearest(name, schema.names)
        )
    return ColumnRef(name=name, type=data_type)


class ScalarTyper(ABC):
    """Visits a tree in the order in which the parser recorded its spans."""

    def __init__(self, read: ParsedRule, schema: TableSchema, prefix: str = "where") -> None:
        self._read = read
        self._schema = schema
        self._prefix = prefix
        self._index = 0

    @abstractmethod
    def condition(self, tree: WhereNode) -> Condition:
        """The typed condition; GrammarError if it is meaningless for the schema."""

    def scalar(self, node: WrittenNode) -> Scalar:
        """The typed value, in a type that every engine supports."""
        return self._settled(self._first(node))

    def _next(self) -> str:
        self._index += 1
        return f"{self._prefix} {self._index - 1}"

    @property
    def _here(self) -> str:
        return f"{self._prefix} {self._index}"

    def _first(self, node: WrittenNode) -> Scalar | Pending:
        match node:
            case Number() | Text() | Flag():
                return Pending(node, self._next())
            case Named():
                return self._named(node)
            case Calculated():
                return self._calculated(node)
            case Chosen():
                return self._chosen(node)
            case Called():
                return self._called(node)
            case Aggregated():
                raise self._read.error(self._here, "aggregates are not allowed in a row condition")

    def _settled(self, found: Scalar | Pending, data_type: str | None = None) -> Scalar:
        if not isinstance(found, Pending):
            return found
        try:
            return typed_value(found.literal, data_type or literal_type(found.literal))
        except NoSuchValue as reason:
            raise self._read.error(found.part, str(reason)) from None

    def _named(self, node: Named) -> Scalar:
        part = self._next()
        column = find_column(self._read, part, node.name, self._schema)
        if not node.path:
            return column
        found = parse_type(column.type)
        for index, name in enumerate(node.path):
            fields = dict(found.fields) if isinstance(found, StructOf) else {}
            if name not in fields:
                holder = ".".join((node.name, *node.path[:index]))
                message = f"{holder} is {type_text(found)} and has no field {name}"
                raise self._read.error(part, message, kind="column", hint=nearest(name, fields))
            found = fields[name]
        return FieldRef(name=node.name, path=node.path, type=type_text(found))

    def _calculated(self, node: Calculated) -> Scalar:
        left = self._first(node.left)
        part = self._next()
        right = self._first(node.right)
        settled = [self._operand(one, other) for one, other in ((left, right), (right, left))]
        try:
            found = arithmetic_types(node.op, type_of(settled[0]), type_of(settled[1]))
        except NotExact as reason:
            raise self._read.error(part, str(reason)) from None
        made = Calculation(op=node.op, left=settled[0], right=settled[1], type=found.result)
        if self._read.fresh and divides_by_zero(made):
            raise self._read.error(part, "division by zero: the result would always be NULL")
        return made

    def _operand(self, one: Scalar | Pending, other: Scalar | Pending) -> Scalar:
        beside_float = not isinstance(other, Pending) and type_of(other) in FLOATS
        return self._settled(one, "double" if beside_float else None)

    def _chosen(self, node: Chosen) -> Scalar:
        part = self._next()
        condition = self.condition(node.condition)
        branches = [self._first(node.then), self._first(node.otherwise)]
        then, otherwise = self._alike(branches, part)
        kind = _shared([then, otherwise])
        return Choice(condition=condition, then=then, otherwise=otherwise, type=kind)

    def _alike(self, found: list[Scalar | Pending], part: str) -> list[Scalar]:
        """All in one type; literals take the type of the others."""
        typed = [item for item in found if not isinstance(item, Pending)]
        kind = _shared(typed or [self._settled(item) for item in found])
        if not kind:
            types = ", ".join(dict.fromkeys(map(type_of, typed))) or "these values"
            raise self._read.error(part, f"{types} have no common type")
        return [self._settled(item, kind) for item in found]

    def _called(self, node: Called) -> Scalar:
        made = self.call(node)
        if not isinstance(made, Scalar):
            raise self._read.error(self._here, f"{node.function} is a condition, not a value")
        return made

    def call(self, node: Called) -> Scalar | Condition:
        """A function call: a value, or a condition if it is a predicate."""
        part = self._next()
        spec = FUNCTIONS[node.function]
        places: list[str] = []
        found: list[Scalar | Pending] = []
        for argument in node.arguments:
            places.append(self._here)
            found.append(self._first(argument))
        try:
            arguments = self._arguments(node, found, part)
            return typed_call(spec, arguments)
        except BadArgument as reason:
            raise self._read.error(places[reason.index], reason.message) from None

    def _arguments(self, node: Called, found: list[Scalar | Pending], part: str) -> list[Argument]:
        spec = FUNCTIONS[node.function]
        if spec.takes[0] == "any":
            return list(self._alike(found, part))
        arguments: list[Argument] = []
        for index, item in enumerate(found):
            if spec.kind(index) in ("word", "whole"):
                literal = item.literal if isinstance(item, Pending) else None
                arguments.append(fixed_argument(spec, index, literal))
            else:
                arguments.append(typed_argument(spec, index, self._settled(item)))
        return arguments


def _shared(found: list[Scalar]) -> str:
    """The common type; empty if there is none."""
    kind = type_of(found[0])
    for item in found:
        kind = shared_type(kind, type_of(item)) or ""
    return "" if is_nested(kind) or kind == "binary" else kind
