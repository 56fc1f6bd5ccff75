"""Selects the rows that a measure counted, with the engine that counted them."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import (
    AnyMeasure,
    ComparedRows,
    CountIf,
    DuplicateRows,
    GroupBreach,
    GroupFaults,
    IntervalFaults,
    JsonFaults,
    OutOfOrder,
    SequenceGaps,
    UnmatchedRows,
)
from lakeguard_sdk.model.row_sample import MOST_SAMPLED
from openlaketx.measure.runner import MeasuringEngine, Relation
from openlaketx.measure.sql.aggregate_sql import FoundRows
from openlaketx.measure.sql.aggregates import Valued, plain_value
from openlaketx.measure.sql.compared_rows import surplus_rows
from openlaketx.measure.sql.condition_sql import ConditionSql
from openlaketx.measure.sql.group_values import groups_query, is_failing, is_faulty, terms_query
from openlaketx.measure.sql.json_values import faulty_texts, texts_query
from openlaketx.measure.sql.keys import duplicate_rows, unmatched_rows
from openlaketx.measure.sql.sequences import sequence_rows
from openlaketx.measure.timed_engine import Rows, TimedEngine


def failing_rows(
    measure: AnyMeasure, timed: TimedEngine, sql: ConditionSql, extra: Sequence[str]
) -> Rows:
    """At most ``MOST_SAMPLED`` rows; the requested values are named ``lg_shown_…``.

    ValueError if the measure does not count rows.
    """
    scope = getattr(measure.of if isinstance(measure, GroupBreach) else measure, "scope", None)
    origin = timed.engine.origin(scope or Scope.BATCH)
    found, others = _found(measure, timed, sql, origin, extra)
    names = ", ".join(f"lg_shown_{at}" for at in range(len(extra)))
    return timed.rows(found.shown(names, MOST_SAMPLED), sql, [origin, *others])


def _found(
    measure: AnyMeasure,
    timed: TimedEngine,
    sql: ConditionSql,
    origin: Relation,
    extra: Sequence[str],
) -> tuple[FoundRows, list[Relation]]:
    """The failing rows, and the other relations that the query reads."""
    engine, rows = timed.engine, origin.text
    match measure:
        case CountIf():
            return _counted(measure, sql, rows, extra), []
        case DuplicateRows():
            return _repeated(measure, engine, sql, rows, extra)
        case UnmatchedRows(dataset=dataset):
            other, schema = engine.reference(dataset)
            of = (other.text, schema)
            return unmatched_rows(measure, sql, engine.forms, rows, of, extra), [other]
        case ComparedRows(dataset=dataset):
            other, schema = engine.reference(dataset)
            return surplus_rows(measure, engine.forms, rows, (other.text, schema), extra), [other]
        case SequenceGaps() | OutOfOrder() | IntervalFaults():
            return sequence_rows(measure, sql, engine.forms, rows, extra), []
        case JsonFaults():
            return _misread(measure, timed, sql, origin, extra), []
        case GroupBreach() | GroupFaults():
            return _grouped(measure, timed, sql, origin, extra), []
    raise ValueError(f"{measure.measure} does not count rows")


def _counted(measure: CountIf, sql: ConditionSql, origin: str, extra: Sequence[str]) -> FoundRows:
    """The condition is evaluated only where ``where`` is TRUE: it may raise for other rows."""
    failing = sql.condition(measure.condition)
    if measure.where is not None:
        failing = f"CASE WHEN {sql.condition(measure.where)} THEN {failing} ELSE FALSE END"
    rows = f"SELECT {failing} AS lg_failing, {', '.join(extra)} FROM {origin}"  # noqa: S608 - bound
    return FoundRows(f"({rows})", "lg_failing")


def _repeated(
    measure: DuplicateRows,
    engine: MeasuringEngine,
    sql: ConditionSql,
    rows: str,
    extra: Sequence[str],
) -> tuple[FoundRows, list[Relation]]:
    touched = engine.touched(measure)
    near, most = touched.text if touched else None, MOST_SAMPLED // 2
    found = duplicate_rows(measure, sql, engine.forms, rows, near, extra, most)
    return found, [touched] if touched else []


def _misread(
    measure: JsonFaults,
    timed: TimedEngine,
    sql: ConditionSql,
    origin: Relation,
    extra: Sequence[str],
) -> FoundRows:
    """Rows with one of the first few invalid texts."""
    forms = timed.engine.forms
    texts_sql = ConditionSql(forms.dialect)
    query = texts_query(measure, texts_sql, forms, origin.text)
    texts = faulty_texts(measure, timed.batches(query, texts_sql, [origin]), MOST_SAMPLED)
    some = ", ".join(sql.dialect.bound(text, sql.parameters) for text in texts)
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    held = [f"{chosen} AS lg_chosen", f"{forms.quoted(measure.column.name)} AS lg_text"]
    rows = f"(SELECT {', '.join([*held, *extra])} FROM {origin.text})"  # noqa: S608 - bound
    return FoundRows(rows, f"lg_chosen AND lg_text IN ({some})" if texts else "FALSE")


def _grouped(
    measure: GroupBreach | GroupFaults,
    timed: TimedEngine,
    sql: ConditionSql,
    origin: Relation,
    extra: Sequence[str],
) -> FoundRows:
    """Rows of the first few failing groups, selected by their group key as text."""
    keys = [_key_text(column.name, column.type, timed.engine) for column in measure.by]
    failing = _failing_groups(measure, timed, origin, keys)
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    held = [f"{key} AS lg_key_{at}" for at, key in enumerate(keys)]
    rows = f"SELECT {', '.join([*held, *extra])}, {chosen} AS lg_chosen FROM {origin.text}"  # noqa: S608
    order = ", ".join(f"lg_key_{at}" for at in range(len(keys)))
    some = sorted(failing, key=lambda key: tuple(map(str, key)))[:MOST_SAMPLED]
    among = " OR ".join(_same(key, sql) for key in some) or "FALSE"
    return FoundRows(f"({rows})", f"lg_chosen AND ({among})", order)


def _failing_groups(
    measure: GroupBreach | GroupFaults, timed: TimedEngine, origin: Relation, keys: Sequence[str]
) -> Rows:
    forms, many = timed.engine.forms, len(keys)
    sql = ConditionSql(forms.dialect)
    if isinstance(measure, GroupFaults):
        query, terms = terms_query(measure, sql, forms, origin.text, keys)
        found = timed.rows(query, sql, [origin])
        return [row[:many] for row in found if is_faulty(measure, terms, row[many:])]
    query, value = groups_query(measure, sql, forms, origin.text, keys)
    found = timed.rows(query, sql, [origin])
    return [row[:many] for row in found if is_failing(measure, value.finish(row[many:-1]))]


def _key_text(name: str, data_type: str, engine: MeasuringEngine) -> str:
    """One text per group; NULL for NULL."""
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
