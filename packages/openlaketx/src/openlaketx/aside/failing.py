"""Which rows of a batch fail which rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pyspark.sql import SparkSession

from lakeguard_sdk.measure import AnyMeasure, CountIf, DuplicateRows, JsonFaults, UnmatchedRows
from openlaketx.aside.marked_rows import MarkedRows
from openlaketx.aside.placed_rows import PlacingEngine, placing_engine
from openlaketx.measure.condition_sql import ConditionSql
from openlaketx.measure.found_rows import FoundRows
from openlaketx.measure.how import How
from openlaketx.measure.json_values import judge_of
from openlaketx.measure.keys import duplicate_rows, unmatched_rows
from openlaketx.measure.measuring import Relation
from openlaketx.measure.subject import Subject
from openlaketx.measure.watch import TooLate, Watch
from openlaketx.measure.watched import Watched

Failing = dict[str, MarkedRows]
"""By file below the table's root; only files of which a row fails."""
_TEXTS_KNOWN = 100_000
_FAILURES = (ValueError, OverflowError, TooLate)


class NotFound(Exception):
    """The rows could not be told; says why."""


def failing_rows(
    rules: Mapping[int, AnyMeasure], subject: Subject, how: How, session: SparkSession | None
) -> Failing:
    """Every row of the batch that one of the measures counts; ``NotFound`` where an engine could
    not tell. Rules are known by their number."""
    watch = Watch(how.seconds)
    with placing_engine(subject, how, list(rules.values()), session, watch) as engine:
        looking = _Looking(engine, Watched(engine, watch), subject)
        failures: tuple[type[Exception], ...] = (*engine.failures, *_FAILURES)
        try:
            return looking.rows_of(rules)
        except failures as error:
            raise NotFound(engine.reason(error)) from None


class _Looking:
    def __init__(self, engine: PlacingEngine, watched: Watched, subject: Subject) -> None:
        self._engine = engine
        self._watched = watched
        self._placed = engine.placed()
        self._place = engine.place
        self._rows = {file.path: file.rows for file in subject.batch.files}
        self._found: Failing = {}
        self._paths: dict[str, MarkedRows] = {}

    def rows_of(self, rules: Mapping[int, AnyMeasure]) -> Failing:
        """Conditions of a row share one pass; each other measure has its own."""
        counted: dict[int, CountIf] = {}
        for number, measure in rules.items():
            match measure:
                case CountIf():
                    counted[number] = measure
                case DuplicateRows():
                    self._repeated(number, measure)
                case UnmatchedRows():
                    self._unmatched(number, measure)
                case JsonFaults():
                    self._misread(number, measure)
                case _:
                    raise ValueError(f"{measure.measure} points at no single rows")
        if counted:
            self._counted(counted)
        return self._found

    def _counted(self, rules: Mapping[int, CountIf]) -> None:
        """A condition is asked of those rows alone for which its ``where`` is TRUE."""
        sql = self._sql()
        asked = []
        for number, measure in rules.items():
            failing = sql.condition(measure.condition)
            if measure.where is not None:
                failing = f"CASE WHEN {sql.condition(measure.where)} THEN {failing} ELSE FALSE END"
            asked.append(f"coalesce({failing}, FALSE) AS lg_fails_{number}")
        names = [f"lg_fails_{number}" for number in rules]
        rows = f"(SELECT {', '.join([*self._place, *asked])} FROM {self._placed.text})"  # noqa: S608
        query = self._where(FoundRows(rows, " OR ".join(names)), names)
        for batch in self._batches(query, sql):
            for file, row, *fails in batch:
                for number in (at for at, told in zip(rules, fails, strict=True) if told):
                    self._mark(file, row, number)

    def _repeated(self, number: int, measure: DuplicateRows) -> None:
        """Rows of the batch whose key stands more than once in what the measure is over."""
        sql, engine = self._sql(), self._engine
        origin, touched = engine.origin(measure.scope), engine.touched(measure)
        near = touched.text if touched else None
        among = self._placed.text
        found = duplicate_rows(
            measure, sql, engine.forms, origin.text, near, self._place, most=None, among=among
        )
        self._mark_all(number, found, sql, origin, *([touched] if touched else []))

    def _unmatched(self, number: int, measure: UnmatchedRows) -> None:
        sql, engine = self._sql(), self._engine
        other, schema = engine.reference(measure.dataset)
        of = (other.text, schema)
        found = unmatched_rows(measure, sql, engine.forms, self._placed.text, of, self._place)
        self._mark_all(number, found, sql, other)

    def _misread(self, number: int, measure: JsonFaults) -> None:
        sql = self._sql()
        is_right = lru_cache(_TEXTS_KNOWN)(judge_of(measure))
        chosen = "TRUE" if measure.where is None else sql.condition(measure.where)
        text = f"{self._engine.forms.quoted(measure.column.name)} AS lg_text"
        held = ", ".join([*self._place, text, f"{chosen} AS lg_chosen"])
        rows = f"(SELECT {held} FROM {self._placed.text})"  # noqa: S608
        query = self._where(FoundRows(rows, "lg_chosen AND lg_text IS NOT NULL"), ["lg_text"])
        for batch in self._batches(query, sql):
            for file, row, told in batch:
                if not is_right(told):
                    self._mark(file, row, number)

    def _mark_all(self, number: int, found: FoundRows, sql: ConditionSql, *read: Relation) -> None:
        for batch in self._batches(self._where(found), sql, *read):
            for file, row in batch:
                self._mark(file, row, number)

    def _mark(self, file: str, row: int, number: int) -> None:
        rows = self._paths.get(file)
        if rows is None:
            path = self._engine.path(file)
            if path not in self._rows:
                raise ValueError("a failing row is in no file of the batch")
            rows = self._found.setdefault(path, MarkedRows(self._rows[path]))
            self._paths[file] = rows
        rows.mark(row, number)

    def _batches(
        self, query: str, sql: ConditionSql, *read: Relation
    ) -> Iterable[Sequence[tuple[Any, ...]]]:
        return self._watched.batches(query, sql, [self._placed, *read])

    def _sql(self) -> ConditionSql:
        return ConditionSql(self._engine.forms.dialect)

    def _where(self, found: FoundRows, more: Sequence[str] = ()) -> str:
        """All of them, asked in a form by which no row group is left out."""
        asked = f"CASE WHEN {found.failing} THEN 1 ELSE 0 END = 1"
        told = ", ".join([*self._place, *more])
        return f"SELECT {told} FROM {found.source} WHERE {asked}"  # noqa: S608 - names are ours
