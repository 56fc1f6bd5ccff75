"""Row conditions as a tree of allow-listed nodes.

Trees are typed: a literal has the type of what it is compared with. Conditions are three-valued as
in SQL; counts count TRUE. A scalar is NULL if a part of it is, except ``coalesce`` and ``if``. The
shape of a node is final: measures are identified by its hash.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel, complete
from lakeguard_sdk.types.schema import DataType


class Comparison(StrEnum):
    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="


class Arithmetic(StrEnum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"


class Function(StrEnum):
    """Scalar functions with the same meaning in every engine."""

    ABS = "abs"
    ROUND = "round"
    """Decimals, half away from zero."""
    DOUBLE = "double"
    COALESCE = "coalesce"
    NULLIF = "nullif"
    TRIM = "trim"
    """Removes blanks, tabs, line ends and no-break spaces at both ends."""
    LOWER = "lower"
    """ASCII letters only."""
    UPPER = "upper"
    SUBSTR = "substr"
    CONCAT = "concat"
    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    HOUR = "hour"
    WEEKDAY = "weekday"
    """Monday is 0."""
    DAYS_BETWEEN = "days_between"
    SIZE = "size"
    KEYS = "map_keys"
    """The keys of a map as an array."""
    NFKC = "nfkc"
    """Every character in its NFKC form, without format and other invisible characters."""


class Predicate(StrEnum):
    """Tests of a value with a constant argument."""

    IS_FINITE = "is_finite"
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    CONTAINS = "contains"
    LIKE = "like"
    """``%`` and ``_`` as in SQL; ``!`` escapes the next character."""
    CASTABLE = "castable"
    """The text is a valid value of a type."""
    DATE_FORMAT = "date_format"
    """The text is a calendar date in a format."""
    LUHN = "luhn"
    """The text is 2 to 20 digits with a valid Luhn check digit."""
    IBAN = "iban"
    """The text is an IBAN with valid check digits."""


class ColumnRef(FrozenModel):
    node: Literal["column"] = "column"
    name: str
    type: DataType


class FieldRef(FrozenModel):
    """A struct field; NULL if an enclosing struct is NULL."""

    node: Literal["field"] = "field"
    name: str
    path: tuple[str, ...]
    type: DataType


class Element(FrozenModel):
    """The current array element of an ``ElementCount``."""

    node: Literal["element"] = "element"
    type: DataType


class Value(FrozenModel):
    """A literal as text: ``1.5``, ``true``, ``2013-12-31``, ``2013-12-31T00:00Z``."""

    node: Literal["value"] = "value"
    type: DataType
    text: str


class Length(FrozenModel):
    """Code points of a string, as an integer."""

    node: Literal["length"] = "length"
    of: Operand


class Calculation(FrozenModel):
    """As in ``arithmetic_types``: exact numbers stay exact, and too many digits raise.

    ``/`` is a double; it and ``%`` are NULL where the divisor is 0.
    """

    node: Literal["calculation"] = "calculation"
    op: Arithmetic
    left: Operand
    right: Operand
    type: DataType


class Call(FrozenModel):
    node: Literal["call"] = "call"
    function: Function
    arguments: tuple[Operand, ...]
    type: DataType


class Choice(FrozenModel):
    """``then`` if the condition is TRUE, ``otherwise`` if it is FALSE or NULL."""

    node: Literal["choice"] = "choice"
    condition: Condition
    then: Operand
    otherwise: Operand
    type: DataType


class ElementCount(FrozenModel):
    """Elements of an array for which the condition is TRUE, as an integer."""

    node: Literal["element_count"] = "element_count"
    of: Operand
    condition: Condition


Scalar = (
    ColumnRef | Value | Length | FieldRef | Element | Calculation | Call | Choice | ElementCount
)
Operand = Annotated[Scalar, Field(discriminator="node")]


class Compare(FrozenModel):
    node: Literal["compare"] = "compare"
    op: Comparison
    left: Operand
    right: Operand


class IsNull(FrozenModel):
    node: Literal["is_null"] = "is_null"
    of: Operand


class IsNan(FrozenModel):
    """TRUE for NaN; only over floats and doubles."""

    node: Literal["is_nan"] = "is_nan"
    of: Operand


class InSet(FrozenModel):
    node: Literal["in_set"] = "in_set"
    of: Operand
    values: tuple[Value, ...]


class Matches(FrozenModel):
    """Full match of a pattern from the subset that means the same in every engine."""

    node: Literal["matches"] = "matches"
    of: Operand
    pattern: str


class Test(FrozenModel):
    """``argument`` is the text, pattern, type or format of the predicate."""

    __test__ = False

    node: Literal["test"] = "test"
    predicate: Predicate
    of: Operand
    argument: str = ""


class Not(FrozenModel):
    node: Literal["not"] = "not"
    item: Condition


class And(FrozenModel):
    node: Literal["and"] = "and"
    items: tuple[Condition, ...]


class Or(FrozenModel):
    node: Literal["or"] = "or"
    items: tuple[Condition, ...]


Condition = Annotated[
    Compare | IsNull | IsNan | InSet | Matches | Test | Not | And | Or,
    Field(discriminator="node"),
]

complete(Length, Calculation, Call, Choice, ElementCount, Not, And, Or)


def type_of(scalar: Scalar) -> str:
    """The type of a scalar's values."""
    return "integer" if isinstance(scalar, Length | ElementCount) else scalar.type


def holds_pattern(of: Scalar, pattern: str) -> Condition:
    """Whether the text contains the pattern, as it is stored or as people read it."""
    anywhere = f"[\\d\\D]*(?:{pattern})[\\d\\D]*"
    read = Call(function=Function.NFKC, arguments=(of,), type="string")
    return Or(items=tuple(Matches(of=text, pattern=anywhere) for text in (of, read)))
