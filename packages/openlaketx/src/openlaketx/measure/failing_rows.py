"""The rows that a measure counted, asked of the engine that counted them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lakeguard_sdk.measure import (
    AnyMeasure,
    CountIf,
    DuplicateRows,
    GroupBreach,
    IntervalFaults,
    JsonFaults,
    OutOfOrder,
    SequenceGaps,
    UnmatchedRows,
)
from lakeguard_sdk.sample import MOST_SAMPLED
from lakeguard_sdk.words import Scope
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.found_rows import FoundRows
from openlaketx.measure.group_values import groups_query, is_failing
from openlaketx.measure.json_values import faulty_texts, texts_query
from openlaketx.measure.keys import duplicate_rows, unmatched_rows
from openlaketx.measure.measuring import MeasuringEngine, Relation
from openlaketx.measure.questions import Valued, plain_value
from openlaketx.measure.sequences import sequence_rows

Rows = list[tuple[Any, ...]]
Ask = Callable[[str, ConditionSql, Sequence[Relation]], Rows]
"""Puts a query to the engine, with the parameters of its conditions and of what it reads."""


def failing_rows(
    measure: AnyMeasure,
    engine: MeasuringEngine,
    sql: ConditionSql,
    beside: Sequence[str],
    ask: Ask,
) -> Rows:
    """At most ``MOST_SAMPLED`` of them: the values that are asked for as ``lg_shown_…``.

    ValueError where the measure counts no rows.
    """
    scope = getattr(measure.of if isinstance(measure, GroupBreach) else measure, "scope", None)
    origin = engine.origin(scope or Scope.BATCH)
    read = [origin]
    match measure:
        case CountIf():
            found = _counted(measure, sql, origin.text, beside)
        case DuplicateRows():
            touched = engine.touched(measure)
            read += [touched] if touched else []
            near = touched.text if touched else None
            most = MOST_SAMPLED // 2
            found = duplicate_rows(measure, sql, engine.forms, origin.text, near, beside, most)
        case UnmatchedRows(dataset=dataset):
            other, schema = engine.reference(dataset)
            read.append(other)
            of = (other.text, schema)
            found = unmatched_rows(measure, sql, engine.forms, origin.text, of, beside)
        case SequenceGaps() | OutOfOrder() | IntervalFaults():
            found = sequence_rows(measure, sql, engine.forms, origin.text, beside)
        case JsonFaults():
            found = _misread(measure, engine, sql, origin, beside)
        case GroupBreach():
            found = _grouped(measure, engine, sql, beside, ask)
        case _:
            raise ValueError(f"{measure.measure} counts no rows that could be shown")
    names = ", ".join(f"lg_shown_{at}" for at in range(len(beside)))
    return ask(found.shown(names, MOST_SAMPLED), sql, read)


def _counted(measure: CountIf, sql: ConditionSql, origin: str, beside: Sequence[str]) -> FoundRows:
    """The condition is asked of those rows alone for which ``where`` is TRUE: of others it may
    have no value, and raise."""
    failing = sql.condition(measure.condition)
    if measure.where is not None:
        failing = f"CASE WHEN {sql.condition(measure.where)} THEN {failing} ELSE FALSE END"
    rows = f"SELECT {failing} AS lg_failing, {', '.join(beside)} FROM {origin}"  # noqa: S608 - bound
    return FoundRows(f"({rows})", "lg_failing")


def _misread(
    measure: JsonFaults,
    engine: MeasuringEngine,
    sql: ConditionSql,
    origin: Relation,
    beside: Sequence[str],
) -> FoundRows:
    """Rows with one of a few texts that are not as they must be."""
    asked = ConditionSql(engine.forms.dialect)
    query = texts_query(measure, asked, engine.forms, origin.text)
    batches = engine.batches(query, {**asked.parameters, **origin.parameters})
    texts = faulty_texts(measure, batches, MOST_SAMPLED)
    some = ", ".join(sql.dialect.bound(text, sql.parameters) for text in texts)
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    held = [f"{chosen} AS lg_chosen", f"{engine.forms.quoted(measure.column.name)} AS lg_text"]
    rows = f"(SELECT {', '.join([*held, *beside])} FROM {origin.text})"  # noqa: S608 - bound
    return FoundRows(rows, f"lg_chosen AND lg_text IN ({some})" if texts else "FALSE")


def _grouped(
    measure: GroupBreach,
    engine: MeasuringEngine,
    sql: ConditionSql,
    beside: Sequence[str],
    ask: Ask,
) -> FoundRows:
    """Rows of a few failing groups, which are known by the texts of what they share."""
    forms, origin = engine.forms, engine.origin(getattr(measure.of, "scope", Scope.BATCH))
    keys = [_key_text(column.name, column.type, engine) for column in measure.by]
    grouped = ConditionSql(forms.dialect)
    query, question = groups_query(measure, grouped, forms, origin.text, keys)
    failing = [
        row[: len(keys)]
        for row in ask(query, grouped, [origin])
        if is_failing(measure, question.finish(row[len(keys) : -1]))
    ]
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    held = [f"{key} AS lg_key_{at}" for at, key in enumerate(keys)]
    rows = f"SELECT {', '.join([*held, *beside])}, {chosen} AS lg_chosen FROM {origin.text}"  # noqa: S608
    order = ", ".join(f"lg_key_{at}" for at in range(len(keys)))
    some = sorted(failing, key=lambda key: tuple(map(str, key)))[:MOST_SAMPLED]
    among = " OR ".join(_same(key, sql) for key in some) or "FALSE"
    return FoundRows(f"({rows})", f"lg_chosen AND ({among})", order)


def _key_text(name: str, data_type: str, engine: MeasuringEngine) -> str:
    """One text for values that are one group; NULL for NULL."""
    plain, _ = plain_value(Valued(engine.forms.quoted(name), data_type), engine.forms)
    return engine.forms.text(plain)


def _same(key: Sequence[str | None], sql: ConditionSql) -> str:
    parts = [
        f"lg_key_{at} IS NULL"
        if text is None
        else f"lg_key_{at} = {sql.dialect.bound(text, sql.parameters)}"
        for at, text in enumerate(key)
    ]
    return f"({' AND '.join(parts)})"
