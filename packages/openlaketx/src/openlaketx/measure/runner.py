"""Runs the queries of a run's measures on any engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.measures import (
    Aggregate,
    AnyMeasure,
    ComparedRows,
    CountIf,
    DistinctCount,
    DistinctValues,
    Distribution,
    DuplicateRows,
    GroupBreach,
    GroupFaults,
    IntervalFaults,
    JsonFaults,
    MeasureValue,
    MostCommonRows,
    OutOfOrder,
    Quantile,
    RowCount,
    SampleMatches,
    SequenceGaps,
    UnmatchedRows,
    measure_key,
)
from lakeguard_sdk.types.schema import FLOATS, TableSchema
from openlaketx.measure.result import Measured
from openlaketx.measure.sql.aggregate_sql import Forms
from openlaketx.measure.sql.aggregates import Question, Valued, ask, chosen_rows, plain_value
from openlaketx.measure.sql.compared_rows import compared_query
from openlaketx.measure.sql.condition_sql import ConditionSql
from openlaketx.measure.sql.group_values import (
    breach,
    groups_query,
    parts,
    rows_of_faults,
    terms_query,
)
from openlaketx.measure.sql.json_values import faulty_rows, sample_query, texts_query
from openlaketx.measure.sql.keys import (
    distinct_query,
    duplicates_query,
    most_common_query,
    unmatched_query,
)
from openlaketx.measure.sql.sequences import sequence_query
from openlaketx.measure.time_limit import TimeLimit, TimeLimitExceeded

RowMeasure = RowCount | CountIf | Aggregate | Quantile


class Relation(NamedTuple):
    """A FROM clause with its bound parameters."""

    text: str
    parameters: Mapping[str, Any]


class MeasuringEngine(ABC):
    """An engine over the rows of one run; ``failures`` are the exceptions that a query may
    raise."""

    name: str
    forms: Forms
    failures: tuple[type[Exception], ...]

    @abstractmethod
    def rows(self, query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All result rows."""

    @abstractmethod
    def batches(
        self, query: str, parameters: Mapping[str, Any]
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The result rows in batches, never all in memory."""

    @abstractmethod
    def origin(self, scope: Scope) -> Relation:
        """The new rows, or the table as it would be after publishing."""

    @abstractmethod
    def touched(self, measure: DuplicateRows) -> Relation | None:
        """The new rows, if only their keys can have duplicates in the table; else None."""

    @abstractmethod
    def reference(self, dataset: DatasetName) -> tuple[Relation, TableSchema]:
        """Another dataset at its pinned version; ValueError if none is pinned."""

    @abstractmethod
    def stop(self) -> None:
        """Cancels the running query from any thread; it raises one of the ``failures``."""

    @abstractmethod
    def reason(self, error: Exception) -> str:
        """One line for the evidence."""


class MeasureRunner:
    """Takes measures and stores a value or a reason for each."""

    def __init__(self, engine: MeasuringEngine, measured: Measured, limit: TimeLimit) -> None:
        self._engine = engine
        self._measured = measured
        self._limit = limit

    def take(self, measures: Sequence[AnyMeasure]) -> None:
        """One scan of the batch, one of the table for its counts, and one query per key."""
        passes: dict[Scope, list[RowMeasure]] = {scope: [] for scope in Scope}
        grouped: list[GroupBreach] = []
        for measure in measures:
            match measure:
                case RowCount(scope=scope):
                    passes[scope].append(measure)
                case CountIf() | Aggregate() | Quantile():
                    passes[Scope.BATCH].append(measure)
                case GroupBreach():
                    grouped.append(measure)
                case _:
                    self._one(measure)
        for scope, scoped in passes.items():
            self._one_pass(scoped, scope)
        for measure, wanted in parts(grouped).items():
            self._groups(measure, wanted)

    def _one_pass(self, measures: Sequence[RowMeasure], scope: Scope) -> None:
        """All measures in one query; if it raises, one query each, to find the failing one."""
        sql = self._sql()
        questions = []
        for measure in measures:
            try:
                questions.append(ask(measure, sql, self._engine.forms))
            except (ValueError, OverflowError) as error:
                self._unmeasured(measure, error)
        try:
            self._ask_all(questions, sql, scope)
        except self._failures as error:
            if len(measures) == 1:
                self._unmeasured(measures[0], error)
                return
            for measure in measures:
                if measure_key(measure) not in self._measured.unmeasured:
                    self._one_pass([measure], scope)

    def _ask_all(self, questions: Sequence[Question], sql: ConditionSql, scope: Scope) -> None:
        if not questions:
            return
        expressions = list(dict.fromkeys(text for ask in questions for text in ask.expressions))
        origin = self._engine.origin(scope)
        query = f"SELECT {', '.join(expressions)} FROM {origin.text}"  # noqa: S608 - bound
        row = self._rows(query, sql, origin)[0]
        found = dict(zip(expressions, row, strict=True))
        for question in questions:
            try:
                value = question.finish([found[text] for text in question.expressions])
                self._measured.values[question.key] = value
            except OverflowError as error:
                self._measured.unmeasured[question.key] = self._engine.reason(error)

    def _one(self, measure: AnyMeasure) -> None:
        try:
            value = self._value(measure, self._sql())
        except self._failures as error:
            self._unmeasured(measure, error)
        else:
            self._measured.values[measure_key(measure)] = value

    def _value(self, measure: AnyMeasure, sql: ConditionSql) -> int | str:
        forms = self._engine.forms
        if isinstance(measure, GroupBreach | CountIf | Aggregate | Quantile):
            raise ValueError(f"{measure.measure} cannot be taken by a query of its own")
        origin = self._engine.origin(getattr(measure, "scope", Scope.BATCH))
        match measure:
            case DuplicateRows():
                touched = self._engine.touched(measure)
                touched_rows = None if touched is None else touched.text
                query = duplicates_query(measure, sql, forms, origin.text, touched_rows)
                return self._number(query, sql, origin, touched)
            case DistinctCount():
                query = distinct_query(measure, sql, forms, origin.text)
                return self._number(query, sql, origin)
            case MostCommonRows():
                query = most_common_query(measure, sql, forms, origin.text)
                return self._number(query, sql, origin)
            case UnmatchedRows() | ComparedRows():
                return self._against_reference(measure, sql, origin)
            case SequenceGaps() | OutOfOrder() | IntervalFaults():
                return self._number(sequence_query(measure, sql, forms, origin.text), sql, origin)
            case SampleMatches():
                return self._number(sample_query(measure, sql, forms, origin.text), sql, origin)
            case GroupFaults():
                query, questions = terms_query(measure, sql, forms, origin.text)
                return rows_of_faults(measure, questions, self._rows(query, sql, origin))
            case JsonFaults():
                query = texts_query(measure, sql, forms, origin.text)
                return faulty_rows(measure, self._batches(query, sql, origin))
            case DistinctValues():
                query, decode = _values_query(measure, sql, forms, origin.text)
                return _digests(measure, decode, self._rows(query, sql, origin))
            case Distribution():
                query, decode = _distribution_query(measure, sql, forms, origin.text)
                return _distribution(measure, decode, self._rows(query, sql, origin))
        raise ValueError(f"no engine takes {measure.measure}")

    def _against_reference(
        self, measure: UnmatchedRows | ComparedRows, sql: ConditionSql, origin: Relation
    ) -> int:
        """Counts against the rows of another dataset."""
        forms = self._engine.forms
        other, schema = self._engine.reference(measure.dataset)
        if isinstance(measure, UnmatchedRows):
            query = unmatched_query(measure, sql, forms, origin.text, (other.text, schema))
        else:
            query = compared_query(measure, forms, origin.text, (other.text, schema))
        return self._number(query, sql, origin, other)

    def _groups(self, measure: GroupBreach, wanted: Sequence[GroupBreach]) -> None:
        sql = self._sql()
        try:
            origin = self._engine.origin(getattr(measure.of, "scope", Scope.BATCH))
            query, question = groups_query(measure, sql, self._engine.forms, origin.text)
            found = breach(measure, question, self._rows(query, sql, origin))
        except self._failures as error:
            for one in wanted:
                self._unmeasured(one, error)
            return
        for one in wanted:
            self._measured.values[measure_key(one)] = found.part(one.part)

    def _number(self, query: str, sql: ConditionSql, *relations: Relation | None) -> int:
        return int(self._rows(query, sql, *relations)[0][0])

    def _rows(
        self, query: str, sql: ConditionSql, *relations: Relation | None
    ) -> list[tuple[Any, ...]]:
        bound = {**sql.parameters}
        for relation in relations:
            bound.update({} if relation is None else relation.parameters)
        self._limit.check()
        try:
            found = self._engine.rows(query, bound)
        except self._engine.failures:
            self._limit.check()
            raise
        self._limit.check()
        return found

    def _batches(
        self, query: str, sql: ConditionSql, origin: Relation
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Yields rows in batches and checks the time limit after each."""
        self._limit.check()
        for found in self._engine.batches(query, {**sql.parameters, **origin.parameters}):
            yield found
            self._limit.check()

    @property
    def _failures(self) -> tuple[type[Exception], ...]:
        return (*self._engine.failures, ValueError, OverflowError, TimeLimitExceeded)

    def _sql(self) -> ConditionSql:
        return ConditionSql(self._engine.forms.dialect)

    def _unmeasured(self, measure: AnyMeasure, error: Exception) -> None:
        self._measured.unmeasured[measure_key(measure)] = self._engine.reason(error)


# Distributions: quantile boundaries with cumulative row counts, or the most frequent values.

Decode = Callable[[Any], MeasureValue]


def _distribution_query(
    measure: Distribution, sql: ConditionSql, forms: Forms, origin: str
) -> tuple[str, Decode]:
    """The query that feeds :func:`_distribution`, and how to decode a value."""
    name = forms.quoted(measure.column.name)
    value, decode = plain_value(Valued(name, measure.column.type), forms)
    counted = (
        f"SELECT {value} AS lg_value, count(*){chosen_rows(sql, measure.where)} AS lg_rows"  # noqa: S608
        f" FROM {origin} WHERE {name} IS NOT NULL GROUP BY {value}"
    )
    there = "lg_rows > 0"
    if measure.column.type in FLOATS:
        there += f" AND NOT {forms.dialect.is_nan('lg_value')}"
    found = f"SELECT lg_value, lg_rows FROM ({counted}) WHERE {there}"  # noqa: S608
    return (_places if measure.placed else _frequent)(found, measure.most), decode


def _places(counted: str, steps: int) -> str:
    """The minimum, and every value at which another quantile step is reached."""
    summed = (
        "SELECT lg_value, lg_rows, sum(lg_rows) OVER (ORDER BY lg_value"  # noqa: S608
        " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS lg_up_to,"
        f" sum(lg_rows) OVER () AS lg_all FROM ({counted})"
    )
    before, after = (
        f"floor(CAST({rows} AS DECIMAL(38,0)) * {steps:d} / lg_all)"
        for rows in ("(lg_up_to - lg_rows)", "lg_up_to")
    )
    return (
        f"SELECT lg_value, lg_rows, lg_up_to FROM ({summed})"  # noqa: S608
        f" WHERE lg_up_to = lg_rows OR {before} < {after} ORDER BY lg_value"
    )


def _frequent(counted: str, most: int) -> str:
    """Ties are broken by the lowest MD5, so that every engine returns the same values."""
    return (
        "SELECT lg_value, lg_rows, sum(lg_rows) OVER () AS lg_all"  # noqa: S608
        f" FROM ({counted}) ORDER BY lg_rows DESC, md5(lg_value), lg_value LIMIT {most:d}"
    )


def _distribution(measure: Distribution, decode: Decode, found: Sequence[Sequence[Any]]) -> str:
    """Canonical JSON, as stored in evidence."""
    if measure.placed:
        rows = int(found[-1][2]) if found else 0
        places = [[decode(value), int(up_to) - int(own), int(up_to)] for value, own, up_to in found]
        return canonical_json({"rows": rows, "places": places})
    rows = int(found[0][2]) if found else 0
    values = sorted(([_digest(decode(value)), int(own)] for value, own, _ in found), key=_order)
    return canonical_json({"rows": rows, "values": values})


def _order(item: list[Any]) -> tuple[int, str]:
    return -item[1], item[0]


# Distinct values, as digests: the values themselves are not stored.

_DIGITS = 16


def _values_query(
    measure: DistinctValues, sql: ConditionSql, forms: Forms, origin: str
) -> tuple[str, Callable[[Any], MeasureValue]]:
    """One row per value, at most one more than the limit; and how to decode a value."""
    of = Valued(forms.quoted(measure.column.name), measure.column.type)
    value, decode = plain_value(of, forms)
    query = (
        f"SELECT lg_value FROM (SELECT {value} AS lg_value,"  # noqa: S608 - names are quoted
        f" count(*){chosen_rows(sql, measure.where)} AS lg_rows FROM {origin}"
        f" WHERE {forms.quoted(measure.column.name)} IS NOT NULL GROUP BY {value})"
        f" WHERE lg_rows > 0 LIMIT {measure.most + 1:d}"
    )
    return query, decode


def _digests(
    measure: DistinctValues, decode: Callable[[Any], MeasureValue], found: Sequence[Sequence[Any]]
) -> str:
    """OverflowError if there are more values than the limit."""
    if len(found) > measure.most:
        raise OverflowError(f"{measure.column.name} has more than {measure.most:,} values")
    return ",".join(sorted(_digest(decode(row[0])) for row in found))


def _digest(value: MeasureValue) -> str:
    """Unsalted: a value that can be guessed can be confirmed."""
    return sha256(str(value).encode()).hexdigest()[:_DIGITS]
