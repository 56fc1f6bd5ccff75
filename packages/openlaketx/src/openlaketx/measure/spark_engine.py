"""Spark over the files of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from lakeguard_sdk.measure import DuplicateRows
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.schema import TableSchema
from lakeguard_sdk.words import Scope
from openlaketx.engine.places import spark_read_path
from openlaketx.engine.spark_errors import SPARK_ERRORS
from openlaketx.engine.spark_errors import reason as spark_reason
from openlaketx.engine.spark_types import spark_schema
from openlaketx.measure.measuring import MeasuringEngine, Relation
from openlaketx.measure.spark_forms import SPARK_FORMS
from openlaketx.measure.subject import Subject

_REASON = 300
_AT_ONCE = 10_000
AS_WRITTEN = {
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}


class SparkEngine(MeasuringEngine):
    """Reads the files by name, under the declared types, as views that go when it is closed."""

    forms = SPARK_FORMS
    failures = SPARK_ERRORS

    def __init__(self, subject: Subject, session: SparkSession) -> None:
        self.name = f"spark {session.version}"
        self._subject = subject
        self._session = session
        self._tag = f"lg_measure_{uuid4().hex}"
        self._views: dict[str, str] = {}

    def rows(self, query: str, parameters: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        found = self._session.sql(query, args=dict(parameters)).collect()
        return [tuple(row) for row in found]

    def batches(
        self, query: str, parameters: Mapping[str, Any]
    ) -> Iterator[Sequence[tuple[Any, ...]]]:
        """One partition at a time is here, and no more."""
        rows = iter(self._session.sql(query, args=dict(parameters)).toLocalIterator())
        while found := [tuple(row) for row in islice(rows, _AT_ONCE)]:
            yield found

    def origin(self, scope: Scope) -> Relation:
        subject = self._subject
        return self._view(scope.value, subject.locations(scope), subject.schema)

    def touched(self, measure: DuplicateRows) -> Relation | None:
        return None

    def reference(self, dataset: DatasetName) -> tuple[Relation, TableSchema]:
        pinned = self._subject.reference(dataset)
        name = "reference_" + dataset.replace(".", "_")
        return self._view(name, pinned.files, pinned.schema), pinned.schema

    def reason(self, error: Exception) -> str:
        told = spark_reason(error) if isinstance(error, SPARK_ERRORS) else str(error)
        return next(iter(told.splitlines()), type(error).__name__)[:_REASON]

    def stop(self) -> None:
        with suppress(*SPARK_ERRORS):
            if hasattr(self._session, "interruptTag"):
                self._session.interruptTag(self._tag)
            else:
                self._session.sparkContext.cancelJobsWithTag(self._tag)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """What this thread asks in the block can be stopped from another."""
        tags: Any = self._session
        if not hasattr(tags, "addTag"):
            tags = self._session.sparkContext
        add, remove = (
            (tags.addTag, tags.removeTag)
            if hasattr(tags, "addTag")
            else (tags.addJobTag, tags.removeJobTag)
        )
        add(self._tag)
        try:
            yield
        finally:
            with suppress(*SPARK_ERRORS):
                remove(self._tag)
                for view in self._views.values():
                    self._session.catalog.dropTempView(view)

    def _view(self, name: str, files: Sequence[str], schema: TableSchema) -> Relation:
        if name not in self._views:
            declared = spark_schema(schema)
            if files:
                reader = self._session.read.schema(declared).options(**AS_WRITTEN)
                frame = reader.parquet(*(spark_read_path(file) for file in files))
            else:
                frame = self._session.createDataFrame([], declared)
            view = f"{self._tag}_{name}"
            frame.createOrReplaceTempView(view)
            self._views[name] = view
        return Relation(self._views[name], {})
