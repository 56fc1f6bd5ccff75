"""The rows that a measure counted, asked of the engine that counted them."""

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
from openlaketx.measure.timed_engine import Rows, Watched


def failing_rows(
    measure: AnyMeasure, watched: Watched, sql: ConditionSql, beside: Sequence[str]
) -> Rows:
    """At most ``MOST_SAMPLED`` of them: the values that are asked for as ``lg_shown_…``.

    ValueError where the measure counts no rows.
    """
    scope = getattr(measure.of if isinstance(measure, GroupBreach) else measure, "scope", None)
    origin = watched.engine.origin(scope or Scope.BATCH)
    found, others = _found(measure, watched, sql, origin, beside)
    names = ", ".join(f"lg_shown_{at}" for at in range(len(beside)))
    return watched.rows(found.shown(names, MOST_SAMPLED), sql, [origin, *others])


def _found(
    measure: AnyMeasure,
    watched: Watched,
    sql: ConditionSql,
    origin: Relation,
    beside: Sequence[str],
) -> tuple[FoundRows, list[Relation]]:
    """The rows, and what is read to find them besides those of the run."""
    engine, rows = watched.engine, origin.text
    match measure:
        case CountIf():
            return _counted(measure, sql, rows, beside), []
        case DuplicateRows():
            return _repeated(measure, engine, sql, rows, beside)
        case UnmatchedRows(dataset=dataset):
            other, schema = engine.reference(dataset)
            of = (other.text, schema)
            return unmatched_rows(measure, sql, engine.forms, rows, of, beside), [other]
        case ComparedRows(dataset=dataset):
            other, schema = engine.reference(dataset)
            return surplus_rows(measure, engine.forms, rows, (other.text, schema), beside), [other]
        case SequenceGaps() | OutOfOrder() | IntervalFaults():
            return sequence_rows(measure, sql, engine.forms, rows, beside), []
        case JsonFaults():
            return _misread(measure, watched, sql, origin, beside), []
        case GroupBreach() | GroupFaults():
            return _grouped(measure, watched, sql, origin, beside), []
    raise ValueError(f"{measure.measure} counts no rows that could be shown")


def _counted(measure: CountIf, sql: ConditionSql, origin: str, beside: Sequence[str]) -> FoundRows:
    """The condition is asked of those rows alone for which ``where`` is TRUE: of others it may
    have no value, and raise."""
    failing = sql.condition(measure.condition)
    if measure.where is not None:
        failing = f"CASE WHEN {sql.condition(measure.where)} THEN {failing} ELSE FALSE END"
    rows = f"SELECT {failing} AS lg_failing, {', '.join(beside)} FROM {origin}"  # noqa: S608 - bound
    return FoundRows(f"({rows})", "lg_failing")


def _repeated(
    measure: DuplicateRows,
    engine: MeasuringEngine,
    sql: ConditionSql,
    rows: str,
    beside: Sequence[str],
) -> tuple[FoundRows, list[Relation]]:
    touched = engine.touched(measure)
    near, most = touched.text if touched else None, MOST_SAMPLED // 2
    found = duplicate_rows(measure, sql, engine.forms, rows, near, beside, most)
    return found, [touched] if touched else []


def _misread(
    measure: JsonFaults,
    watched: Watched,
    sql: ConditionSql,
    origin: Relation,
    beside: Sequence[str],
) -> FoundRows:
    """Rows with one of a few texts that are not as they must be."""
    forms = watched.engine.forms
    asked = ConditionSql(forms.dialect)
    query = texts_query(measure, asked, forms, origin.text)
    texts = faulty_texts(measure, watched.batches(query, asked, [origin]), MOST_SAMPLED)
    some = ", ".join(sql.dialect.bound(text, sql.parameters) for text in texts)
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    held = [f"{chosen} AS lg_chosen", f"{forms.quoted(measure.column.name)} AS lg_text"]
    rows = f"(SELECT {', '.join([*held, *beside])} FROM {origin.text})"  # noqa: S608 - bound
    return FoundRows(rows, f"lg_chosen AND lg_text IN ({some})" if texts else "FALSE")


def _grouped(
    measure: GroupBreach | GroupFaults,
    watched: Watched,
    sql: ConditionSql,
    origin: Relation,
    beside: Sequence[str],
) -> FoundRows:
    """Rows of a few failing groups, which are known by the texts of what they share."""
    keys = [_key_text(column.name, column.type, watched.engine) for column in measure.by]
    failing = _failing_groups(measure, watched, origin, keys)
    chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
    held = [f"{key} AS lg_key_{at}" for at, key in enumerate(keys)]
    rows = f"SELECT {', '.join([*held, *beside])}, {chosen} AS lg_chosen FROM {origin.text}"  # noqa: S608
    order = ", ".join(f"lg_key_{at}" for at in range(len(keys)))
    some = sorted(failing, key=lambda key: tuple(map(str, key)))[:MOST_SAMPLED]
    among = " OR ".join(_same(key, sql) for key in some) or "FALSE"
    return FoundRows(f"({rows})", f"lg_chosen AND ({among})", order)


def _failing_groups(
    measure: GroupBreach | GroupFaults, watched: Watched, origin: Relation, keys: Sequence[str]
) -> Rows:
    forms, many = watched.engine.forms, len(keys)
    sql = ConditionSql(forms.dialect)
    if isinstance(measure, GroupFaults):
        query, terms = terms_query(measure, sql, forms, origin.text, keys)
        found = watched.rows(query, sql, [origin])
        return [row[:many] for row in found if is_faulty(measure, terms, row[many:])]
    query, value = groups_query(measure, sql, forms, origin.text, keys)
    found = watched.rows(query, sql, [origin])
    return [row[:many] for row in found if is_failing(measure, value.finish(row[many:-1]))]


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
