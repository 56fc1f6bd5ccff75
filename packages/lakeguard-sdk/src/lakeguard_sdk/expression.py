"""Row conditions as an allow-listed tree: what is not a node here cannot be asked of data.

Trees are typed: a literal carries the type of the column it is compared with. A condition
is TRUE, FALSE or NULL as in SQL; whoever counts, counts TRUE.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.noun import Noun
from lakeguard_sdk.schema import DataType


class Comparison(StrEnum):
    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


class ColumnRef(Noun):
    node: Literal["column"] = "column"
    name: str
    type: DataType


class Value(Noun):
    """A literal as text of its type: ``1.5``, ``true``, ``2013-12-31``, ``2013-12-31T00:00Z``."""

    node: Literal["value"] = "value"
    type: DataType
    text: str


class Length(Noun):
    """Code points of a string, as an integer."""

    node: Literal["length"] = "length"
    of: ColumnRef


Operand = Annotated[ColumnRef | Value | Length, Field(discriminator="node")]


class Compare(Noun):
    node: Literal["compare"] = "compare"
    op: Comparison
    left: Operand
    right: Operand


class IsNull(Noun):
    node: Literal["is_null"] = "is_null"
    of: ColumnRef


class IsNan(Noun):
    """TRUE for NaN; only over float and double columns."""

    node: Literal["is_nan"] = "is_nan"
    of: ColumnRef


class InSet(Noun):
    node: Literal["in_set"] = "in_set"
    of: ColumnRef
    values: tuple[Value, ...]


class Matches(Noun):
    """Full match of a pattern from the subset that means the same in every engine."""

    node: Literal["matches"] = "matches"
    of: ColumnRef
    pattern: str


class Not(Noun):
    node: Literal["not"] = "not"
    item: Condition


class And(Noun):
    node: Literal["and"] = "and"
    items: tuple[Condition, ...]


class Or(Noun):
    node: Literal["or"] = "or"
    items: tuple[Condition, ...]


Condition = Annotated[
    Compare | IsNull | IsNan | InSet | Matches | Not | And | Or, Field(discriminator="node")
]


for _node in (Not, And, Or):
    _node.model_rebuild()
