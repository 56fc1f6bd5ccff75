"""The questions of a run, asked of one engine: it may be any."""

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
from openlaketx.measure.time_limit import TooLate, Watch

RowMeasure = RowCount | CountIf | Aggregate | Quantile


class Relation(NamedTuple):
    """Rows to ask, as a FROM clause names them, with the parameters that it binds."""

    text: str
    parameters: Mapping[str, Any]


class MeasuringEngine(ABC):
    """An engine over the rows of one run. Its ``failures`` are what a query may raise."""

    name: str
    forms: Forms
    failures: tuple[type[Exception], ...]

    @abstractmethod
    def rows(self, query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """All rows of the answer."""

    @abstractmethod
    def batches(
        self, query: str, parameters: Mapping[str, Any]
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        """All rows of the answer, some at a time: it is never in memory as a whole."""

    @abstractmethod
    def origin(self, scope: Scope) -> Relation:
        """The new rows, or the table as the publish would leave it."""

    @abstractmethod
    def touched(self, measure: DuplicateRows) -> Relation | None:
        """The new rows beside the table's, where no other key can have duplicates."""

    @abstractmethod
    def reference(self, dataset: DatasetName) -> tuple[Relation, TableSchema]:
        """Another dataset at its pinned version; ValueError where none is pinned."""

    @abstractmethod
    def stop(self) -> None:
        """From any thread: what is being asked ends, with one of the failures."""

    @abstractmethod
    def reason(self, error: Exception) -> str:
        """One line for the evidence."""


class Measuring:
    """Asks everything, and keeps a value or a reason for each measure."""

    def __init__(self, engine: MeasuringEngine, measured: Measured, watch: Watch) -> None:
        self._engine = engine
        self._measured = measured
        self._watch = watch

    def take(self, measures: Sequence[AnyMeasure]) -> None:
        """One pass over the batch, one over the table for counts of it, one query per key."""
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
        for scope, asked in passes.items():
            self._one_pass(asked, scope)
        for measure, wanted in parts(grouped).items():
            self._groups(measure, wanted)

    def _one_pass(self, measures: Sequence[RowMeasure], scope: Scope) -> None:
        """All in one query; where it raises, each alone, so that only the guilty has no value."""
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
            raise ValueError(f"{measure.measure} is not asked alone")
        origin = self._engine.origin(getattr(measure, "scope", Scope.BATCH))
        match measure:
            case DuplicateRows():
                touched = self._engine.touched(measure)
                beside = None if touched is None else touched.text
                query = duplicates_query(measure, sql, forms, origin.text, beside)
                return self._number(query, sql, origin, touched)
            case DistinctCount():
                query = distinct_query(measure, sql, forms, origin.text)
                return self._number(query, sql, origin)
            case MostCommonRows():
                query = most_common_query(measure, sql, forms, origin.text)
                return self._number(query, sql, origin)
            case UnmatchedRows() | ComparedRows():
                return self._beside_another(measure, sql, origin)
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
                query, tell = _values_query(measure, sql, forms, origin.text)
                return _digests(measure, tell, self._rows(query, sql, origin))
            case Distribution():
                query, tell = _distribution_query(measure, sql, forms, origin.text)
                return _distribution(measure, tell, self._rows(query, sql, origin))
        raise ValueError(f"no engine takes {measure.measure}")

    def _beside_another(
        self, measure: UnmatchedRows | ComparedRows, sql: ConditionSql, origin: Relation
    ) -> int:
        """What is counted against the rows of another dataset."""
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
        self._watch.check()
        try:
            found = self._engine.rows(query, bound)
        except self._engine.failures:
            self._watch.check()
            raise
        self._watch.check()
        return found

    def _batches(
        self, query: str, sql: ConditionSql, origin: Relation
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        """The same, some rows at a time; the time may be over between any two."""
        self._watch.check()
        for found in self._engine.batches(query, {**sql.parameters, **origin.parameters}):
            yield found
            self._watch.check()

    @property
    def _failures(self) -> tuple[type[Exception], ...]:
        return (*self._engine.failures, ValueError, OverflowError, TooLate)

    def _sql(self) -> ConditionSql:
        return ConditionSql(self._engine.forms.dialect)

    def _unmeasured(self, measure: AnyMeasure, error: Exception) -> None:
        self._measured.unmeasured[measure_key(measure)] = self._engine.reason(error)


# How the values of a column are spread: places with the rows up to each, or frequent values.

Tell = Callable[[Any], MeasureValue]


def _distribution_query(
    measure: Distribution, sql: ConditionSql, forms: Forms, origin: str
) -> tuple[str, Tell]:
    """The rows that :func:`distribution` makes an answer of, and how to tell a value."""
    name = forms.quoted(measure.column.name)
    value, tell = plain_value(Valued(name, measure.column.type), forms)
    counted = (
        f"SELECT {value} AS lg_value, count(*){chosen_rows(sql, measure.where)} AS lg_rows"  # noqa: S608
        f" FROM {origin} WHERE {name} IS NOT NULL GROUP BY {value}"
    )
    there = "lg_rows > 0"
    if measure.column.type in FLOATS:
        there += f" AND NOT {forms.dialect.is_nan('lg_value')}"
    found = f"SELECT lg_value, lg_rows FROM ({counted}) WHERE {there}"  # noqa: S608
    return (_places if measure.placed else _frequent)(found, measure.most), tell


def _places(counted: str, steps: int) -> str:
    """The least value, and each at which another step of all rows is reached."""
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
    """Where several have as many rows, those with the lowest MD5: every engine has the same."""
    return (
        "SELECT lg_value, lg_rows, sum(lg_rows) OVER () AS lg_all"  # noqa: S608
        f" FROM ({counted}) ORDER BY lg_rows DESC, md5(lg_value), lg_value LIMIT {most:d}"
    )


def _distribution(measure: Distribution, tell: Tell, found: Sequence[Sequence[Any]]) -> str:
    """As evidence holds it: canonical JSON."""
    if measure.placed:
        rows = int(found[-1][2]) if found else 0
        places = [[tell(value), int(up_to) - int(own), int(up_to)] for value, own, up_to in found]
        return canonical_json({"rows": rows, "places": places})
    rows = int(found[0][2]) if found else 0
    values = sorted(([_digest(tell(value)), int(own)] for value, own, _ in found), key=_order)
    return canonical_json({"rows": rows, "values": values})


def _order(item: list[Any]) -> tuple[int, str]:
    return -item[1], item[0]


# The different values of a column, as digests: the values themselves stay where they are.

_DIGITS = 16


def _values_query(
    measure: DistinctValues, sql: ConditionSql, forms: Forms, origin: str
) -> tuple[str, Callable[[Any], MeasureValue]]:
    """One row for each value, and one more than there may be; how to tell a value."""
    of = Valued(forms.quoted(measure.column.name), measure.column.type)
    value, tell = plain_value(of, forms)
    query = (
        f"SELECT lg_value FROM (SELECT {value} AS lg_value,"  # noqa: S608 - names are quoted
        f" count(*){chosen_rows(sql, measure.where)} AS lg_rows FROM {origin}"
        f" WHERE {forms.quoted(measure.column.name)} IS NOT NULL GROUP BY {value})"
        f" WHERE lg_rows > 0 LIMIT {measure.most + 1:d}"
    )
    return query, tell


def _digests(
    measure: DistinctValues, tell: Callable[[Any], MeasureValue], found: Sequence[Sequence[Any]]
) -> str:
    """OverflowError where there are more values than may be."""
    if len(found) > measure.most:
        raise OverflowError(f"{measure.column.name} has more than {measure.most:,} values")
    return ",".join(sorted(_digest(tell(row[0])) for row in found))


def _digest(value: MeasureValue) -> str:
    """Who can guess the value can find it: there is no salt."""
    return sha256(str(value).encode()).hexdigest()[:_DIGITS]
