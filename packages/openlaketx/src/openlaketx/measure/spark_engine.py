"""Measuring with Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from typing import Any
from uuid import uuid4

from pyspark.sql import SparkSession

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import Function, Predicate
from lakeguard_sdk.expressions.measures import DuplicateRows
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.locations import spark_read_path
from openlaketx.engine.nfkc_text import SPECIAL, nfkc_table
from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.engine.spark.errors import reason as spark_reason
from openlaketx.engine.spark.types import spark_schema
from openlaketx.measure.runner import MeasuringEngine, Relation
from openlaketx.measure.sql.aggregate_sql import Forms
from openlaketx.measure.sql.comparison_types import HUGE, WIDEST
from openlaketx.measure.sql.dialect import WHITE, Dialect
from openlaketx.measure.subject import Subject

# Spark SQL, for an ANSI session in UTC.

_PLAIN = re.compile(r"[A-Za-z0-9 .:+_-]*")
_TYPES = {
    "string": "STRING",
    "boolean": "BOOLEAN",
    "byte": "TINYINT",
    "short": "SMALLINT",
    "integer": "INT",
    "long": "BIGINT",
    HUGE: f"DECIMAL({WIDEST},0)",
    "float": "DOUBLE",
    "double": "DOUBLE",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamp_ntz": "TIMESTAMP_NTZ",
    "binary": "BINARY",
}


class SparkDialect(Dialect):
    """Requires ``spark.sql.ansi.enabled`` and the session time zone UTC."""

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def bound(self, text: str, parameters: dict[str, str]) -> str:
        """A literal, hex-encoded unless it is plain, so that no character is read as SQL.

        A session with Delta's extensions does not bind named parameters.
        """
        if _PLAIN.fullmatch(text):
            return f"'{text}'"
        return f"CAST(X'{text.encode().hex()}' AS STRING)"

    def type_name(self, data_type: str) -> str:
        return _TYPES.get(data_type) or data_type.upper()

    def is_nan(self, value: str) -> str:
        """``isnan`` is FALSE for NULL, a comparison is NULL; in Spark NaN equals NaN."""
        return f"({value} = CAST('NaN' AS DOUBLE))"

    def matches(self, text: str, pattern: str) -> str:
        return f"({text} RLIKE {pattern})"

    def elements(self, array: str, variable: str, condition: str) -> str:
        return f"filter({array}, {variable} -> {condition})"

    def once(self, value: str, variable: str, condition: str) -> str:
        return f"exists(array({value}), {variable} -> {condition})"

    def nfkc(self, text: str) -> str:
        single, replaced, pairs = (self.bound(part, {}) for part in _nfkc_parts())
        separator, expanded = self.bound(_SEPARATOR, {}), self.bound(_expanded(), {})
        special = self.matches(text, self.bound(SPECIAL, {}))
        short = f"translate({text}, {single}, {replaced})"
        long = (
            f"aggregate(split({pairs}, {separator}), {short},"
            " (lg_a, lg_p) -> replace(lg_a, substr(lg_p, 1, 1), substr(lg_p, 2)))"
        )
        return (
            f"(CASE WHEN NOT {special} THEN {text}"
            f" WHEN translate({text}, {expanded}, '') = {text} THEN {short} ELSE {long} END)"
        )

    def test(self, predicate: Predicate, value: str, argument: str) -> str:
        if predicate is Predicate.IS_FINITE:
            return f"(abs({value}) < CAST('Infinity' AS DOUBLE))"
        return super().test(predicate, value, argument)

    def call(self, function: Function, arguments: Sequence[str]) -> str:
        match function:
            case Function.TRIM:
                return f"trim(BOTH {WHITE} FROM {arguments[0]})"
            case Function.DAYS_BETWEEN:
                return f"datediff({arguments[1]}, {arguments[0]})"
        return super().call(function, arguments)


_SEPARATOR = "\x01"


@cache
def _nfkc_parts() -> tuple[str, str, str]:
    """Characters replaced by one or none, their replacements, and characters with several."""
    table = nfkc_table()
    single = [code for code, text in table.items() if len(text) == 1]
    removed = [code for code, text in table.items() if not text]
    pairs = _SEPARATOR.join(chr(code) + text for code, text in table.items() if len(text) > 1)
    characters = "".join(map(chr, (*single, *removed)))
    return characters, "".join(table[code] for code in single), pairs


@cache
def _expanded() -> str:
    return "".join(chr(code) for code, text in nfkc_table().items() if len(text) > 1)


SPARK = SparkDialect()


# Aggregates in Spark SQL.


class SparkForms(Forms):
    dialect = SPARK

    def days(self, value: str) -> str:
        return f"datediff({value}, DATE'1970-01-01')"

    def micros(self, value: str) -> str:
        return f"unix_micros(CAST({value} AS TIMESTAMP))"

    def whole_sum(self, value: str) -> str:
        return f"sum(CAST({value} AS DECIMAL({WIDEST},0)))"

    def careful_sum(self, value: str) -> str:
        return f"sum({value})"

    def quantile(self, value: str, q: str) -> str:
        return f"percentile({value}, {q})"

    def is_infinite(self, value: str) -> str:
        return f"(abs({value}) = CAST('Infinity' AS DOUBLE))"


SPARK_FORMS = SparkForms()


_REASON = 300
_AT_ONCE = 10_000
AS_WRITTEN = {
    "datetimeRebaseMode": "CORRECTED",
    "int96RebaseMode": "CORRECTED",
    "ignoreCorruptFiles": "false",
    "ignoreMissingFiles": "false",
}


class SparkEngine(MeasuringEngine):
    """Reads the files by name with the declared types, as views that are dropped on close."""

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
        """Holds one partition at a time in memory."""
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
        message = spark_reason(error) if isinstance(error, SPARK_ERRORS) else str(error)
        return next(iter(message.splitlines()), type(error).__name__)[:_REASON]

    def stop(self) -> None:
        with suppress(*SPARK_ERRORS):
            if hasattr(self._session, "interruptTag"):
                self._session.interruptTag(self._tag)
            else:
                self._session.sparkContext.cancelJobsWithTag(self._tag)

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Queries of this thread inside the block can be cancelled from another thread."""
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
