"""Taking all measures of a run: footers first, then one pass, then one query per key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import duckdb

from lakeguard_sdk import faultpoints
from lakeguard_sdk.measure import Aggregate, CountIf, DuplicateRows, RowCount, measure_key
from lakeguard_sdk.schema import FLOATS, TableSchema
from lakeguard_sdk.storage import join
from lakeguard_sdk.words import Scope
from openlaketx.engine.shown_values import foreign_words
from openlaketx.measure.condition_sql import ConditionSql, quoted, sql_type
from openlaketx.measure.duckdb_reader import ENGINE, DuckdbReader, duckdb_reader, file_list
from openlaketx.measure.duplicates import duplicates_query
from openlaketx.measure.footer_answers import NoAnswer, answer
from openlaketx.measure.log_columns import rows_with_log_columns
from openlaketx.measure.measured import Measured
from openlaketx.measure.questions import Question, ask
from openlaketx.stage import Candidate

_REASON = 300
_FILES = "read_parquet($files, hive_partitioning = false, union_by_name = true)"
"""By name, because files that are older than a column do not have it."""
_TOUCHED = "read_parquet($touched, hive_partitioning = false)"


@dataclass(frozen=True)
class Subject:
    """What is measured: the rows that a run brings, and the table as it would be with them."""

    batch: Candidate
    schema: TableSchema
    table: tuple[str, ...]
    """Every file that the table would show, below its root."""
    table_rows: int
    proven: tuple[str, ...] = ()
    """Measures of duplicates that the table had none of before."""
    lacking: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """Files of the table that may lack columns, with what its log says of those."""

    def origin(self, scope: Scope) -> tuple[str, dict[str, Any]]:
        """The rows to ask; without a file, none, under the same names and types."""
        staged = tuple(file.path for file in self.batch.files)
        paths = self.table if scope is Scope.TABLE else staged
        if any(path in self.lacking for path in paths):
            return rows_with_log_columns(self.batch.location, self.schema, paths, self.lacking)
        files = self.files(scope)
        return (_FILES, {"files": files}) if files else (_empty_rows(self.schema), {})

    def files(self, scope: Scope) -> list[str]:
        staged = tuple(file.path for file in self.batch.files)
        paths = self.table if scope is Scope.TABLE else staged
        return file_list([join(self.batch.location, path) for path in paths])


Rows = RowCount | CountIf | Aggregate


def take_measures(
    measures: Sequence[RowCount | CountIf | DuplicateRows | Aggregate], subject: Subject
) -> Measured:
    """Every measure has a value or a reason; none stops another."""
    measured = Measured(engine=ENGINE)
    rest = []
    for measure in measures:
        try:
            measured.values[measure_key(measure)] = answer(
                measure, subject.batch, subject.schema, subject.table_rows
            )
        except NoAnswer:
            rest.append(measure)
        except (OverflowError, ValueError) as error:
            measured.unmeasured[measure_key(measure)] = _reason(error)
    if rest:
        with duckdb_reader() as reader:
            _read_rows(rest, subject, reader, measured)
    faultpoints.reached("measure.taken")
    return measured


def _read_rows(
    measures: Sequence[RowCount | CountIf | DuplicateRows | Aggregate],
    subject: Subject,
    reader: DuckdbReader,
    measured: Measured,
) -> None:
    """One pass over the batch, one over the table for counts of it, one per key."""
    batch: list[Rows] = []
    table: list[Rows] = []
    for measure in measures:
        if isinstance(measure, DuplicateRows):
            _duplicates(measure, subject, reader, measured)
        elif isinstance(measure, RowCount) and measure.scope is Scope.TABLE:
            table.append(measure)
        else:
            batch.append(measure)
    _one_pass(batch, subject.origin(Scope.BATCH), reader, measured)
    _one_pass(table, subject.origin(Scope.TABLE), reader, measured)


def _one_pass(
    measures: Sequence[Rows],
    rows: tuple[str, dict[str, Any]],
    reader: DuckdbReader,
    measured: Measured,
) -> None:
    """All in one query; where it raises, each alone, so that only the guilty has no value."""
    sql = ConditionSql()
    questions = []
    for measure in measures:
        try:
            questions.append(ask(measure, sql))
        except (ValueError, OverflowError) as error:
            measured.unmeasured[measure_key(measure)] = _reason(error)
    try:
        _ask_all(questions, sql, rows, reader, measured)
    except duckdb.Error as error:
        if len(measures) == 1:
            measured.unmeasured[measure_key(measures[0])] = _reason(error)
            return
        for measure in measures:
            if measure_key(measure) not in measured.unmeasured:
                _one_pass([measure], rows, reader, measured)


def _ask_all(
    questions: Sequence[Question],
    sql: ConditionSql,
    rows: tuple[str, dict[str, Any]],
    reader: DuckdbReader,
    measured: Measured,
) -> None:
    if not questions:
        return
    expressions = list(dict.fromkeys(text for ask in questions for text in ask.expressions))
    origin, parameters = rows
    row = reader.row(
        f"SELECT {', '.join(expressions)} FROM {origin}",  # noqa: S608 - literals are bound
        {**sql.parameters, **parameters},
    )
    found = dict(zip(expressions, row, strict=True))
    for question in questions:
        try:
            value = question.finish([found[text] for text in question.expressions])
            measured.values[question.key] = value
        except OverflowError as error:
            measured.unmeasured[question.key] = _reason(error)


def _duplicates(
    measure: DuplicateRows, subject: Subject, reader: DuckdbReader, measured: Measured
) -> None:
    sql = ConditionSql()
    origin, parameters = subject.origin(measure.scope)
    touched = None
    if _only_new_keys_matter(measure, subject):
        touched, parameters["touched"] = _TOUCHED, subject.files(Scope.BATCH)
    try:
        query = duplicates_query(measure, sql, origin, touched)
        row = reader.row(query, {**sql.parameters, **parameters})
        measured.values[measure_key(measure)] = int(row[0])
    except (duckdb.Error, ValueError) as error:
        measured.unmeasured[measure_key(measure)] = _reason(error)


def _only_new_keys_matter(measure: DuplicateRows, subject: Subject) -> bool:
    """Whether a key that the run does not bring cannot have duplicates, and is not worth a look.

    Not for floats: statistics by which row groups are left out know nothing of NaN.
    """
    if measure.scope is not Scope.TABLE or measure_key(measure) not in subject.proven:
        return False
    exact = all(column.type not in FLOATS for column in measure.columns)
    return exact and 0 < subject.batch.rows < subject.table_rows


def _empty_rows(schema: TableSchema) -> str:
    columns = [f"CAST(NULL AS {sql_type(c.type)}) AS {quoted(c.name)}" for c in schema.columns]
    return f"(SELECT {', '.join(columns)} WHERE FALSE)"


def _reason(error: Exception) -> str:
    """Evidence keeps it: what DuckDB says of a value is told like every message of others."""
    kind = type(error).__name__
    line = next(iter(str(error).splitlines()), kind)
    return (foreign_words(line, kind) if isinstance(error, duckdb.Error) else line)[:_REASON]
