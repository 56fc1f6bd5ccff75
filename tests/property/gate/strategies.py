"""Rules of every type, in normal form, and evidence to go with them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from lakeguard.gate.literals import Flag, Literal_, Number, Text
from lakeguard.gate.rule import Listed, Operator, Parameter, Rule, Threshold
from lakeguard.gate.where_tree import (
    AllOf,
    AnyOf,
    Between,
    Compared,
    Membership,
    Named,
    Negation,
    NullTest,
    WhereNode,
    opposite,
)
from lakeguard_sdk.expression import Comparison
from lakeguard_sdk.words import Scope

UPWARD = (Comparison.GT, Comparison.GE)

characters = st.characters(
    exclude_categories=("Cs", "Cc"),
    exclude_characters="\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
)
plain_names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
names = (
    plain_names
    | st.text(characters, min_size=1, max_size=8)
    | st.sampled_from(["where", "NULL", "and", "a`b", "``", "it's", "scope", "min", "a.b"])
)
numbers = st.decimals(
    allow_nan=False, allow_infinity=False, min_value=Decimal("-1e30"), max_value=Decimal("1e30")
).filter(lambda number: len(number.as_tuple().digits) <= 40 and abs(number.adjusted()) < 60)
whole = st.integers(0, 10**12).map(Decimal)
texts = st.text(characters | st.sampled_from("'\n\t"), max_size=12)


def number(value: Decimal) -> Number:
    return Number(value=value if value else Decimal(0))


literals: st.SearchStrategy[Literal_] = st.one_of(
    numbers.map(number),
    texts.map(lambda text: Text(value=text)),
    st.booleans().map(lambda flag: Flag(value=flag)),
)
literal_lists = st.lists(literals, min_size=1, max_size=4, unique=True).map(tuple)


@st.composite
def tests(draw: st.DrawFn) -> WhereNode:
    column, other = draw(st.lists(names, min_size=2, max_size=2, unique=True))
    named = Named(name=column)
    negated = draw(st.booleans())
    return draw(
        st.one_of(
            st.builds(Compared, op=st.sampled_from(Comparison), left=st.just(named),
                      right=literals | st.just(Named(name=other))),
            st.just(NullTest(column=named, negated=negated)),
            literal_lists.map(lambda v: Membership(column=named, values=v, negated=negated)),
            st.builds(Between, column=st.just(named), low=literals, high=literals,
                      negated=st.just(negated)),
        )
    )  # fmt: skip


def _no_opposites(items: list[WhereNode]) -> bool:
    return {opposite(item) for item in items}.isdisjoint(items)


def _grown(inner: st.SearchStrategy[WhereNode]) -> st.SearchStrategy[WhereNode]:
    def group(kind: type[AllOf | AnyOf]) -> st.SearchStrategy[WhereNode]:
        others = inner.filter(lambda node: not isinstance(node, kind))
        lists = st.lists(others, min_size=2, max_size=3).filter(_no_opposites)
        return lists.map(lambda items: kind(items=tuple(items)))

    return st.one_of(inner.map(lambda item: Negation(item=item)), group(AllOf), group(AnyOf))


conditions = st.recursive(tests(), _grown, max_leaves=6)


@st.composite
def row_limits(draw: st.DrawFn) -> dict[str, Threshold]:
    """Limits of failing rows that the grammar accepts, fail above warn."""
    percent = draw(st.booleans())
    warn = draw(st.decimals(1, 50, places=2) if percent else whole.map(lambda n: n + 1))
    given: dict[str, Threshold] = {}
    if draw(st.booleans()):
        op = draw(st.sampled_from(UPWARD))
        given["warn_if"] = Threshold(op=op, number=warn, percent=percent)
    if draw(st.booleans()):
        given["fail_if"] = Threshold(op=Comparison.GT, number=warn + 1, percent=percent)
    return given


@st.composite
def value_limits(draw: st.DrawFn, bounds: st.SearchStrategy[Decimal]) -> dict[str, Any]:
    """Bounds in their order, or a threshold."""
    if draw(st.booleans()):
        clause = draw(st.sampled_from(["warn_if", "fail_if"]))
        op = draw(st.sampled_from(Comparison))
        return {clause: Threshold(op=op, number=number(draw(bounds)).value)}
    return {"parameters": draw(range_parameters(bounds))}


@st.composite
def range_parameters(draw: st.DrawFn, bounds: st.SearchStrategy[Decimal]) -> tuple[Parameter, ...]:
    low, high = sorted((draw(bounds), draw(bounds)))
    given = [Parameter(name="min", value=number(low)), Parameter(name="max", value=number(high))]
    chosen = draw(st.sampled_from([given, given[:1], given[1:]]))
    return tuple(chosen)


PATTERNS = ("[A-Z]{3}", "a|b", r"\d+", "it's", r"[^\n]*", "ä", r"\x{1F600}")


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    """Any rule that the grammar can say."""
    kind = draw(st.sampled_from(sorted(_MAKERS)))
    fields = draw(_MAKERS[kind])
    if draw(st.booleans()):
        fields = fields | {"where": draw(conditions)}
    if "columns" not in fields:
        fields = fields | {"columns": (draw(names),)}
    return Rule(rule_type=kind, **fields)


def _fixed(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(strategies)


def _with_limits(made: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.tuples(made, row_limits()).map(lambda pair: {**pair[0], **pair[1]})


def _parameter(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values.map(lambda value: (Parameter(name=name, value=value),))


_lists = literal_lists.map(lambda items: Listed(items=items))
_patterns = st.sampled_from(PATTERNS).map(lambda text: Text(value=text))
_operators = st.sampled_from(Comparison).map(lambda op: Operator(op=op))
_two = st.lists(names, min_size=2, max_size=2, unique=True).map(tuple)
_keys = st.lists(names, min_size=1, max_size=4, unique=True).map(tuple)
_counts = whole.map(lambda n: n + 1)

_MAKERS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "not_null": _with_limits(_fixed()),
    "range": _with_limits(_fixed(parameters=range_parameters(numbers))),
    "length": _with_limits(_fixed(parameters=range_parameters(_counts))),
    "in_set": _with_limits(_fixed(parameters=_parameter("values", _lists))),
    "regex": _with_limits(_fixed(parameters=_parameter("pattern", _patterns))),
    "compare": _with_limits(_fixed(columns=_two, parameters=_parameter("op", _operators))),
    "unique": _with_limits(_fixed(columns=_keys, scope=st.sampled_from([None, Scope.BATCH]))),
    "row_count": value_limits(_counts).map(lambda fields: fields | {"columns": ()}),
    **{name: value_limits(numbers) for name in ("mean", "min", "max", "sum")},
}
RULE_TYPE_NAMES = frozenset(_MAKERS)
