"""The questions of a run, asked of one engine: it may be any."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from lakeguard_sdk.measure import (
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
    MostCommonRows,
    OutOfOrder,
    Quantile,
    RowCount,
    SampleMatches,
    SequenceGaps,
    UnmatchedRows,
    measure_key,
)
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import Scope
from openlaketx.measure.compared_rows import compared_query
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.distinct_values import digests, values_query
from openlaketx.measure.distributions import distribution, distribution_query
from openlaketx.measure.forms import Forms
from openlaketx.measure.group_conditions import rows_of_faults, terms_query
from openlaketx.measure.group_values import breach, groups_query, parts
from openlaketx.measure.json_values import faulty_rows, texts_query
from openlaketx.measure.keys import (
    distinct_query,
    duplicates_query,
    most_common_query,
    unmatched_query,
)
from openlaketx.measure.measured import Measured
from openlaketx.measure.questions import Question, ask
from openlaketx.measure.sampled_values import sample_query
from openlaketx.measure.sequences import sequence_query
from openlaketx.measure.watch import TooLate, Watch

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
                query, tell = values_query(measure, sql, forms, origin.text)
                return digests(measure, tell, self._rows(query, sql, origin))
            case Distribution():
                query, tell = distribution_query(measure, sql, forms, origin.text)
                return distribution(measure, tell, self._rows(query, sql, origin))
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
