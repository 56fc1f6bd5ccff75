"""Rows that rules are suggested from, changed as the suggestions say, and judged again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import pyarrow.parquet as pq

from lakeguard.gate.evaluation.case import EarlierVersion, History
from lakeguard.insight.suggestions import (
    Answers,
    Mutation,
    MutationKind,
    ProfileFacts,
    Trial,
    VersionResult,
    required_measures,
    result_on,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.profile import ColumnProfile
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.duckdb_reader import duckdb_reader
from openlaketx.measure import ReferencedRows, Subject, take_measures
from openlaketx.measure.sql.condition_sql import quoted, sql_type
from openlaketx.source_inspection.measures import column_profiles
from openlaketx.source_inspection.sample_rows import SampleColumn
from openlaketx.stage import Candidate


class Rows:
    """One Parquet file as a whole table; datasets that keys refer to may stand beside it."""

    def __init__(
        self,
        file: Path,
        schema: TableSchema,
        others: Mapping[DatasetName, Path] | None = None,
    ) -> None:
        self.file, self.schema, self.others = file, schema, dict(others or {})
        self.count = int(pq.read_metadata(file).num_rows)

    @property
    def _origin(self) -> str:
        return f"read_parquet('{self.file}')"

    def _ask(self, query: str) -> list[tuple[object, ...]]:
        with duckdb_reader() as reader:
            return reader.rows(query, {})

    @property
    def subject(self) -> Subject:
        one = StagedFile(path=self.file.name, size=0, rows=self.count, modified_ms=0, stats="")
        references = {
            name: ReferencedRows(str(file.parent), (file.name,), self.schema)
            for name, file in self.others.items()
        }
        return Subject(
            Candidate(str(self.file.parent), (one,), ()),
            self.schema,
            (self.file.name,),
            self.count,
            references=references,
        )

    def profiles(self) -> tuple[ColumnProfile, ...]:
        nulls = self._ask(
            f"SELECT {', '.join(f'count(*) - count({quoted(n)})' for n in self.schema.names)}"
            f" FROM {self._origin}"
        )[0]
        columns = [
            SampleColumn(at, column.name, column.type, int(str(nulls[at])))
            for at, column in enumerate(self.schema.columns)
        ]
        found = column_profiles(columns, self.subject)
        return tuple(found[name] for name in self.schema.names)

    def held(
        self, trials: Sequence[Trial], at: datetime, before: Rows | None = None
    ) -> list[VersionResult]:
        """What each comes to, by the engine that measures runs; ``before`` was published last."""
        measured = take_measures(required_measures(trials), self.subject)
        history = History()
        if before is not None:
            reported = take_measures(required_measures(trials), before.subject).values
            history = History(versions=(EarlierVersion(version=1, at=at, values=reported),))
        answers = Answers(
            version=1,
            schema=self.schema,
            rows=self.count,
            values=measured.values,
            unmeasured=measured.unmeasured,
            at=at,
            history=history,
        )
        return [result_on(trial, answers) for trial in trials]

    def changed(self, mutation: Mutation, file: Path) -> Rows:
        """The rows as the mutation says, in another file."""
        rows = f"SELECT *, row_number() OVER () AS lg_at FROM {self._origin}"
        if mutation.kind is MutationKind.KEEP:
            query = f"SELECT * EXCLUDE (lg_at) FROM ({rows}) LIMIT {int(str(mutation.value)):d}"
        elif mutation.kind is MutationKind.REPEAT_ONE:
            query = f"FROM {self._origin} UNION ALL (FROM {self._origin} LIMIT 1)"
        else:
            query = f"SELECT {self._with(mutation)} FROM ({rows})"
        self._ask(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
        return Rows(file, self.schema, self.others)

    def _with(self, mutation: Mutation) -> str:
        one = "TRUE" if mutation.kind is MutationKind.SET_ALL else "lg_at = 1"
        return ", ".join(
            f"CASE WHEN {one} THEN {_literal(mutation, c.type)} ELSE {quoted(c.name)} END"
            f" AS {quoted(c.name)}"
            if c.name == mutation.column
            else quoted(c.name)
            for c in self.schema.columns
        )


def _literal(mutation: Mutation, data_type: str) -> str:
    if mutation.value is None:
        return "NULL"
    held_as = "FLOAT" if data_type == "float" else sql_type(data_type)
    text = str(mutation.value).replace("'", "''")
    return f"CAST('{text}' AS {held_as})"


def seen_in(rows: Rows, at: datetime, **known: object) -> ProfileFacts:
    return ProfileFacts.model_validate(
        {
            "schema": rows.schema,
            "rows": rows.count,
            "columns": rows.profiles(),
            "at": at,
            **known,
        }
    )
