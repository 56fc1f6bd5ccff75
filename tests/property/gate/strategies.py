"""Rules of every type, in normal form, and evidence to go with them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from lakeguard.gate.grammar.functions import FUNCTIONS
from lakeguard.gate.grammar.literals import (
    MOST_ROWS,
    Flag,
    Literal_,
    Number,
    Text,
)
from lakeguard.gate.grammar.rule import (
    AggregateArgument,
    ConditionArgument,
    Listed,
    Operator,
    Parameter,
    Rule,
    Threshold,
)
from lakeguard.gate.grammar.syntax_tree import (
    Aggregated,
    AllOf,
    AnyOf,
    Between,
    Calculated,
    Called,
    Chosen,
    Compared,
    LikeTest,
    Membership,
    Named,
    Negation,
    NullTest,
    WhereNode,
    WrittenNode,
    columns_in,
    opposite,
)
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import Arithmetic, Comparison
from tests.property.gate.content_strategies import content_makers
from tests.property.gate.measured_strategies import WITHOUT_WHERE, measured_makers

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


named = st.one_of(
    names.map(lambda name: Named(name=name)),
    st.builds(Named, name=names, path=st.lists(names, max_size=2).map(tuple)),
)


def _computed(inner: st.SearchStrategy[WrittenNode]) -> st.SearchStrategy[WrittenNode]:
    """Arithmetic, functions and choices over values, of which one at least names a column."""
    some = inner | literals
    calculated = st.builds(Calculated, op=st.sampled_from(Arithmetic), left=some, right=some)
    condition = inner.map(lambda node: NullTest(of=node))
    chosen = st.builds(Chosen, condition=condition, then=some, otherwise=some)
    return st.one_of(calculated, chosen, _called(some, predicate=False)).filter(
        lambda node: next(columns_in(node), None) is not None
    )


@st.composite
def _called(draw: st.DrawFn, some: st.SearchStrategy[WrittenNode], *, predicate: bool) -> Called:
    known = [spec for spec in FUNCTIONS.values() if spec.predicate is predicate]
    spec = draw(st.sampled_from(known))
    fewest, most = spec.counts
    given = draw(st.lists(some, min_size=fewest, max_size=min(most, 3)))
    return Called(function=spec.name, arguments=tuple(given))


values = st.recursive(named, _computed, max_leaves=4)


@st.composite
def tests(draw: st.DrawFn) -> WhereNode:
    of = draw(values)
    negated = draw(st.booleans())
    others = (values | literals).filter(lambda node: node != of)
    predicates = _called(st.just(of) | literals, predicate=True)
    return draw(
        st.one_of(
            st.builds(Compared, op=st.sampled_from(Comparison), left=st.just(of), right=others),
            st.just(NullTest(of=of, negated=negated)),
            literal_lists.map(lambda v: Membership(of=of, values=v, negated=negated)),
            st.builds(Between, of=st.just(of), low=others, high=others, negated=st.just(negated)),
            texts.map(lambda text: LikeTest(of=of, pattern=text, negated=negated)),
            predicates.filter(lambda node: next(columns_in(node), None) is not None),
        )
    )


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
    counts = st.integers(1, MOST_ROWS - 2).map(Decimal)
    warn = draw(st.decimals(1, 50, places=2) if percent else counts)
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
    if kind not in WITHOUT_WHERE and draw(st.booleans()):
        fields = fields | {"where": draw(conditions)}
    if "columns" not in fields:
        fields = fields | {"columns": (draw(names),)}
    return Rule(rule_type=kind, **fields)


def _fixed(**strategies: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(strategies)


def _with_limits(made: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    on_fail = st.sampled_from([{}, {}, {"on_fail": "quarantine"}])
    return st.tuples(made, row_limits(), on_fail).map(lambda parts: parts[0] | parts[1] | parts[2])


def _parameter(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return values.map(lambda value: (Parameter(name=name, value=value),))


@st.composite
def _said(draw: st.DrawFn, own: st.SearchStrategy[str] | None = None) -> dict[str, Any]:
    given = Parameter(name="condition", value=ConditionArgument(tree=draw(conditions)))
    return {"columns": (draw(own),) if own is not None else (), "parameters": (given,)}


@st.composite
def _totalled(draw: st.DrawFn) -> dict[str, Any]:
    aggregates = st.one_of(
        st.builds(Aggregated, function=st.sampled_from(["sum", "min", "max", "avg"]), of=values),
        st.builds(Aggregated, function=st.just("count"), of=st.none() | values),
        st.builds(Aggregated, function=st.just("count"), of=values, distinct=st.just(True)),
    )
    number_nodes = numbers.map(number)
    combined = st.builds(
        Calculated,
        op=st.sampled_from(Arithmetic),
        left=aggregates,
        right=aggregates | number_nodes,
    )
    tree = draw(aggregates | combined)
    fields = draw(value_limits(numbers))
    total = Parameter(name="aggregate", value=AggregateArgument(tree=tree))
    return fields | {"columns": (), "parameters": (total, *fields.get("parameters", ()))}


@st.composite
def _grouped(draw: st.DrawFn) -> dict[str, Any]:
    """A condition over aggregates, of which no two are the same."""
    of = st.builds(Aggregated, function=st.sampled_from(["sum", "min", "max", "avg"]), of=values)
    rows = Aggregated(function="count")
    more = Calculated(op=draw(st.sampled_from(Arithmetic)), left=rows, right=draw(of))
    compared = Compared(op=draw(st.sampled_from(Comparison)), left=draw(of), right=more)
    limits = numbers.map(number)
    tree = draw(
        st.sampled_from(
            [
                compared,
                Between(of=more, low=draw(limits), high=rows, negated=draw(st.booleans())),
                AllOf(items=(compared, NullTest(of=more))),
                AnyOf(items=(Negation(item=NullTest(of=more)), compared)),
            ]
        )
    )
    return {"columns": (), "by": draw(_keys), "parameters": (_condition_of(tree),)}


def _condition_of(tree: WhereNode) -> Parameter:
    return Parameter(name="condition", value=ConditionArgument(tree=tree))


@st.composite
def _relation(draw: st.DrawFn) -> tuple[Parameter, ...]:
    given = [Parameter(name="op", value=draw(_operators))]
    if draw(st.booleans()):
        tolerance = number(draw(st.decimals(0, 100, places=2)))
        given.append(Parameter(name="tolerance", value=tolerance))
    return tuple(given)


@st.composite
def _both_bounds(draw: st.DrawFn) -> tuple[Parameter, ...]:
    low, high = sorted((draw(numbers), draw(numbers)))
    return (Parameter(name="min", value=number(low)), Parameter(name="max", value=number(high)))


def _texts(*known: str) -> st.SearchStrategy[Text]:
    return st.sampled_from(known).map(lambda text: Text(value=text))


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
    "compare": _with_limits(_fixed(columns=_two, parameters=_relation())),
    "null": _with_limits(_fixed()),
    **{
        name: _with_limits(_fixed(parameters=_parameter("value", literals)))
        for name in ("eq", "ne", "gt", "ge", "lt", "le")
    },
    "not_range": _with_limits(_fixed(parameters=_both_bounds())),
    "not_in_set": _with_limits(_fixed(parameters=_parameter("values", _lists))),
    "not_regex": _with_limits(_fixed(parameters=_parameter("pattern", _patterns))),
    "like": _with_limits(_fixed(parameters=_parameter("pattern", _texts("a%", "!!_", "it's")))),
    "castable": _with_limits(_fixed(parameters=_parameter("type", _texts("int", "date")))),
    "date_format": _with_limits(_fixed(parameters=_parameter("format", _texts("dd.MM.yyyy")))),
    "array_size": _with_limits(_fixed(parameters=range_parameters(_counts))),
    "array_elements": _with_limits(_said(names)),
    "sql_row": _with_limits(_said()),
    "sql_agg": _totalled(),
    "sql_query": _with_limits(_grouped()),
    "unique": _with_limits(_fixed(columns=_keys, scope=st.sampled_from([None, Scope.BATCH]))),
    "row_count": value_limits(_counts).map(lambda fields: fields | {"columns": ()}),
    **{name: value_limits(numbers) for name in ("mean", "min", "max", "sum")},
    **content_makers(_with_limits),
    **measured_makers(
        names, value_limits(numbers), value_limits(_counts), range_parameters(_counts), _with_limits
    ),
}
RULE_TYPE_NAMES = frozenset(_MAKERS)
