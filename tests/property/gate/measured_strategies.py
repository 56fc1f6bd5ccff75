"""Rules about shares, spreads, keys elsewhere, sequences, ages and the table itself."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from lakeguard.gate.grammar.literals import Flag, Number, Text
from lakeguard.gate.grammar.rule import (
    Listed,
    Parameter,
    Percent,
    Reference,
    Threshold,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import Comparison

Fields = dict[str, Any]
Made = st.SearchStrategy[Fields]

_SCOPES = st.sampled_from([None, Scope.BATCH])
_SHARES = st.decimals(0, 100, places=2).map(lambda share: share if share else Decimal(0))
_SPANS = st.sampled_from(["90s", "15m", "24h", "7d", "2w"]).map(lambda text: Text(value=text))
WITHOUT_WHERE = frozenset(
    {
        "column_exists", "column_type", "column_count", "column_order", "schema_match",
        "file_count", "partition_present", "dataset_equal",
    }
)  # fmt: skip


def _parameter(name: str, value: Any) -> tuple[Parameter, ...]:
    return (Parameter(name=name, value=value),)


_ONE = Number(value=Decimal(1))


@st.composite
def _percents(draw: st.DrawFn) -> Fields:
    if draw(st.booleans()):
        op = draw(st.sampled_from(Comparison))
        return {"fail_if": Threshold(op=op, number=draw(_SHARES), percent=True)}
    low, high = sorted((draw(_SHARES), draw(_SHARES)))
    given = (Parameter(name="min", value=Percent(value=low)),)
    return {"parameters": (*given, Parameter(name="max", value=Percent(value=high)))}


@st.composite
def _past(draw: st.DrawFn, least_value: Number | Percent = _ONE) -> Fields:
    """A value that is held against earlier versions, with bounds until there are some."""
    given = [Parameter(name="min", value=least_value)] * draw(st.integers(0, 1))
    if draw(st.booleans()):
        return {"parameters": (*given, *_parameter("change", Percent(value=draw(_SHARES))))}
    band = Text(value=draw(st.sampled_from(["mad", "weekday", "hour"])))
    least = Number(value=Decimal(draw(st.integers(2, 30))))
    return {"parameters": (*given, *_parameter("band", band), *_parameter("least", least))}


@st.composite
def _common(draw: st.DrawFn) -> Fields:
    """The value alone, limits alone, or both."""
    value = _parameter("value", draw(st.sampled_from([_ONE, Flag(value=True), Text(value="it's")])))
    fields = draw(_percents() | _past(Percent(value=Decimal(1))))
    both = fields | {"parameters": (*value, *fields.get("parameters", ()))}
    return draw(st.sampled_from([{"parameters": value}, fields, both]))


def _joined(*parts: Made) -> Made:
    return st.tuples(*parts).map(lambda found: {k: v for part in found for k, v in part.items()})


@st.composite
def _references(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Fields:
    count = draw(st.integers(1, 3))
    several = st.lists(names, min_size=count, max_size=count, unique=True).map(tuple)
    name = DatasetName(draw(st.sampled_from(["silver.carriers", "gold.a_1"])))
    to = Reference(dataset=name, columns=draw(several))
    return {"columns": draw(several), "parameters": _parameter("to", to), "scope": draw(_SCOPES)}


@st.composite
def _compared(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Fields:
    """All columns, or some of either side."""
    fields = draw(_references(names)) | {"scope": None}
    if draw(st.booleans()):
        to = Reference(dataset=DatasetName("silver.carriers"), columns=())
        fields |= {"columns": (), "parameters": _parameter("to", to)}
    if draw(st.booleans()):
        fields["fail_if"] = Threshold(op=Comparison.GT, number=Decimal(1), percent=True)
    return fields


@st.composite
def _quantiles(draw: st.DrawFn, limits: Made) -> Fields:
    q = _parameter("q", Number(value=Decimal(draw(st.sampled_from(["0", "0.5", "0.95", "1"])))))
    fields = draw(limits)
    return fields | {"parameters": (*q, *fields.get("parameters", ()))}


def measured_makers(
    names: st.SearchStrategy[str],
    values: Made,
    counts: Made,
    bounds: st.SearchStrategy[Any],
    with_limits: Callable[[Made], Made],
) -> dict[str, Made]:
    """By rule type, the fields of a rule that the grammar accepts."""
    several = st.lists(names, min_size=1, max_size=3, unique=True).map(tuple)
    two = st.lists(names, min_size=2, max_size=2, unique=True).map(tuple)
    fixed = st.fixed_dictionaries
    groups = fixed({"by": st.just(()) | several, "scope": _SCOPES})
    keyed = fixed({"columns": several, "scope": _SCOPES})
    strict = st.sampled_from([(), _parameter("strict", Flag(value=True))])
    ordered = with_limits(_joined(groups, fixed({"columns": two, "parameters": strict})))
    spans = fixed({"parameters": _SPANS.map(lambda span: _parameter("max", span))})
    steps = fixed({"parameters": _SPANS.map(lambda span: _parameter("step", span))})
    shape = fixed({"columns": st.just(()), "parameters": bounds})
    listed = Listed(items=(Text(value="a"), Text(value="b")))
    day = _parameter("value", Text(value="2026-01-31"))
    return {
        "completeness": _percents() | _past(Percent(value=Decimal(1))),
        "distinct": _joined(keyed, counts | _past()),
        "distinct_ratio": _joined(keyed, _percents()),
        "unique_ratio": _joined(keyed, _percents()),
        "most_common": _joined(fixed({"scope": _SCOPES}), _common()),
        "deviation": values | _past(),
        "quantile": _quantiles(values),
        "foreign_key": with_limits(_references(names)),
        "not_in_reference": with_limits(_references(names)),
        "dataset_equal": _compared(names),
        "freshness": spans,
        "not_older_than": spans,
        "not_future": st.just({}),
        "gaps": with_limits(_joined(groups, steps)),
        "increasing": ordered,
        "decreasing": ordered,
        "no_overlap": with_limits(_joined(groups, fixed({"columns": two}))),
        "no_interval_gap": with_limits(_joined(groups, fixed({"columns": two}))),
        "set_drift": _joined(
            fixed({"scope": _SCOPES}),
            st.just({"parameters": _parameter("new", Number(value=Decimal(0)))}),
        ),
        "psi": _joined(
            fixed({"scope": _SCOPES}),
            st.just({"parameters": _parameter("max", Number(value=Decimal("0.2")))}),
        ),
        "null_drift": st.just({"parameters": _parameter("max", Percent(value=Decimal(5)))}),
        "column_exists": fixed({"columns": several}),
        "column_type": st.just({"parameters": _parameter("type", Text(value="long"))}),
        "column_count": shape,
        "column_order": fixed({"columns": two}),
        "schema_match": st.just({"columns": (), "parameters": _parameter("columns", listed)}),
        "file_count": shape,
        "partition_present": st.just({"parameters": day}),
    }
