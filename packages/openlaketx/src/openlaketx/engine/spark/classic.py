"""Classic Spark: frames are analysed when they are created, and the JVM is accessible."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import date
from typing import Any, cast

from py4j.clientserver import JavaClient
from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from openlaketx.engine.spark.analysed_plan import AnalysedPlan, Scan
from openlaketx.engine.spark.runtime import Counted, NotAQuery, is_metastore

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_NOT_A_QUERY = ("Command", "ParsedStatement", "CompoundPlanStatement")


class ClassicSpark:
    """Spark 3.5 or newer; APIs that moved in 4.0 are looked up in both places."""

    shows_plans = True

    def child(self, spark: SparkSession) -> SparkSession:
        return spark.newSession()

    def close(self, child: SparkSession) -> None:
        """Sessions are collected with their last frame."""

    def names_of_settings(self, session: SparkSession) -> list[str]:
        names: Any = session._jsparkSession.conf().getAll().keySet()
        return str(names.mkString(_SEPARATOR)).split(_SEPARATOR)

    def has_catalogue_of_others(self, spark: SparkSession) -> bool:
        return is_metastore(spark)

    def in_session(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        plan = _java(frame).queryExecution().analyzed()
        dataset = _dataset(session).ofRows(session._jsparkSession, plan)
        return cast(DataFrame, _frame_class()(dataset, session))

    def settled(self, frame: DataFrame) -> DataFrame:
        return frame

    def analysed(self, frame: DataFrame, origin: SparkSession) -> AnalysedPlan | None:
        return _analysed(frame, origin)

    def reads_clock(self, frame: DataFrame) -> bool:
        return _reads_clock(frame)

    def query(
        self, session: SparkSession, text: str, parameters: Mapping[str, str | date]
    ) -> DataFrame:
        plan = session._jsparkSession.sessionState().sqlParser().parsePlan(text)
        if any(_is_a(session, plan, _LOGICAL + kind) for kind in _NOT_A_QUERY):
            raise NotAQuery()
        return session.sql(text, args=dict(parameters)) if parameters else session.sql(text)

    def job_group(self, session: SparkSession, name: str) -> AbstractContextManager[None]:
        return _job_group(session, name)

    def stop_group(self, session: SparkSession, name: str) -> None:
        _stop_group(session, name)

    def rebalanced(self, frame: DataFrame, name: str) -> DataFrame:
        """PySpark's ``hint`` accepts a column since 4.0; before, the JVM method is called with an
        expression."""
        if _frame_class() is not DataFrame:
            return frame.hint("rebalance", F.col(name))
        java: Any = frame
        column: Any = F.col(name)
        hinted = java._jdf.hint("rebalance", java._jseq([column._jc.expr()]))
        return cast(DataFrame, _frame_class()(hinted, frame.sparkSession))

    def counting(self, frame: DataFrame, name: str) -> AbstractContextManager[Counted]:
        return _counting(frame, name)


def _java(frame: Any) -> Any:
    return frame._jdf


def _frame_class() -> Any:
    try:
        from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame
    except ImportError:  # before 4.0 there was only classic Spark
        return DataFrame
    return ClassicFrame


def _dataset(session: SparkSession) -> Any:
    sql: Any = session._jvm.org.apache.spark.sql  # type: ignore[union-attr]
    return sql.Dataset if _frame_class() is DataFrame else sql.classic.Dataset


def _is_a(session: SparkSession, plan: Any, name: str) -> bool:
    loader = plan.getClass().getClassLoader()
    java = session._sc._jvm.java.lang.Class  # type: ignore[union-attr]
    try:
        return bool(java.forName(name, False, loader).isInstance(plan))
    except Py4JJavaError:  # this Spark does not know the statement
        return False


# Analysed plans, read in few calls: every call to the JVM takes its time.

_SEPARATOR = "\0"
_ATTRIBUTE = re.compile(r"#(\d+)L?(?:-T\d+ms)?\Z")
_SCHEME = re.compile(r"file:(//)?(?=/)")
_BY_COLUMN = (
    "org.apache.spark.sql.delta.DeltaParquetFileFormat",
    "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat",
    "org.apache.spark.sql.execution.datasources.v2.parquet.ParquetTable",
)
"""Formats that read columns of our files by their names."""
_FIELD_ID = "parquet.field.id"
_FILE_TABLES = tuple(
    f"org.apache.spark.sql.{package}."
    for package in (
        *(f"execution.datasources.v2.{name}" for name in ("csv", "json", "orc", "parquet", "text")),
        "v2.avro",
    )
)
_SERVERS = tuple(
    f"jdbc:{kind}:"
    for kind in ("db2", "mariadb", "mysql", "oracle", "postgresql", "redshift", "sqlserver")
)


def _analysed(frame: DataFrame, origin: SparkSession) -> AnalysedPlan | None:
    plan = _java(frame).queryExecution().analyzed()
    try:
        text = plan.toJSON()
    except Py4JJavaError:  # an operator that has no JSON
        return None
    output = _attributes(plan.output())
    if output is None or len(output) != len(frame.columns):
        return None
    leaves = dict(_leaves(plan))
    found = {attribute: _scan(leaf) for attribute, leaf in leaves.items()}
    scans = {attribute: scan for attribute, scan in found.items() if scan is not None}
    others = leaves.keys() - scans.keys()
    databases = frozenset(each for each in others if _is_database(leaves[each]))
    return AnalysedPlan(text, output, scans, databases, _has_variables(origin))


def _has_variables(session: SparkSession) -> bool:
    """``EXECUTE IMMEDIATE … USING`` puts values of variables into the plan as literals."""
    if session.version.startswith("3."):  # it has none
        return False
    catalogue: Any = session._jsparkSession.sessionState().catalogManager()
    return not catalogue.tempVariableManager().isEmpty()


def _attributes(output: Any) -> tuple[int, ...] | None:
    texts = output.mkString(_SEPARATOR)
    found = [_ATTRIBUTE.search(text) for text in texts.split(_SEPARATOR)] if texts else []
    ids = [int(match[1]) for match in found if match]
    return tuple(ids) if len(ids) == len(found) else None


def _leaves(plan: Any) -> Iterator[tuple[int, Any]]:
    """Those with columns, by the id of their first attribute."""
    for part in _with_subqueries(plan):
        leaves = part.collectLeaves()
        for index in range(leaves.size()):
            leaf = leaves.apply(index)
            if leaf.output().nonEmpty():
                yield leaf.output().head().exprId().id(), leaf


def _with_subqueries(plan: Any) -> Iterator[Any]:
    yield plan
    below = plan.subqueriesAll()
    yield from (below.apply(index) for index in range(below.size()))


def _scan(leaf: Any) -> Scan | None:
    kind = leaf.getClass().getSimpleName()
    if kind == "DataSourceV2Relation":
        return _scan_of_table(leaf.table())
    if kind != "LogicalRelation":
        return None
    relation = leaf.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return None
    files = relation.location()
    is_delta = files.getClass().getName().startswith("org.apache.spark.sql.delta.")
    format_name = relation.fileFormat().getClass().getName()
    schema = relation.schema().json()
    by_column = _reads_by_column(format_name, schema)
    if is_delta:
        return Scan(_roots(files), files.tableVersion(), by_column, _names(schema))
    columns = _names(schema) - _names(relation.partitionSchema().json())
    return Scan(_roots(files), None, by_column, columns)


def _scan_of_table(table: Any) -> Scan | None:
    """Files may be read through Spark's newer interface, too: a setting of the session decides."""
    name = table.getClass().getName()
    if not name.startswith(_FILE_TABLES):
        return None
    files, schema = table.fileIndex(), table.schema().json()
    columns = _names(schema) - _names(files.partitionSchema().json())
    return Scan(_roots(files), None, _reads_by_column(name, schema), columns)


def _reads_by_column(format_name: str, schema: str) -> bool:
    """A schema with ids of Parquet's fields may give a column the name of another."""
    return format_name.startswith(_BY_COLUMN) and _FIELD_ID not in schema


def _names(schema: str) -> frozenset[str]:
    return frozenset(str(field["name"]) for field in json.loads(schema)["fields"])


def _roots(files: Any) -> tuple[str, ...]:
    roots = files.rootPaths().mkString(_SEPARATOR).split(_SEPARATOR)
    return tuple(_SCHEME.sub("", root).replace("s3a://", "s3://", 1) for root in roots if root)


def _is_database(leaf: Any) -> bool:
    """An embedded database may read files: only those on servers count."""
    if leaf.getClass().getSimpleName() != "LogicalRelation":
        return False
    relation = leaf.relation()
    if relation.getClass().getSimpleName() != "JDBCRelation":
        return False
    return str(relation.jdbcOptions().url()).startswith(_SERVERS)


def _reads_clock(frame: DataFrame) -> bool:
    """By Spark's own rule: it replaces casts to date or timestamp of constant texts, also implicit
    ones, before it folds anything. Texts in rows have no such meaning."""
    session = frame.sparkSession
    rules: Any = session._jvm.org.apache.spark.sql.catalyst.optimizer  # type: ignore[union-attr]
    for part in _with_subqueries(_java(frame).queryExecution().analyzed()):
        plain = rules.ReplaceExpressions.apply(part)
        if not plain.fastEquals(rules.SpecialDatetimeValues.apply(plain)):
            return True
    return False


# One job group for each run, so that one call cancels all its jobs.

_KEYS = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
_WATCH_SECONDS = 15.0
_LOOK_SECONDS = 0.2
_SETTLE_SECONDS = 5.0


@contextmanager
def _job_group(spark: SparkSession, name: str) -> Iterator[None]:
    """Jobs that this thread starts in the block belong to the group. Afterwards the previous group
    is restored. Jobs of a failed block are cancelled, also those that an interrupted query starts
    later."""
    context: Any = spark.sparkContext
    before = {key: context.getLocalProperty(key) for key in _KEYS}
    context.setJobGroup(name, name, interruptOnCancel=True)
    try:
        yield
    except BaseException:
        with suppress(Py4JError, OSError):  # the original error is reported
            _leave_broken_call(context)
            _once_connected(lambda: _stop_group(spark, name))
            _once_connected(lambda: _restore(context, before))
        raise
    _restore(context, before)


def _once_connected(call: Callable[[], None]) -> None:
    """Repeat a call whose connection fails.

    After an interrupt, py4j has the JVM close all connections of the process, not only the one
    of the interrupted call. It does not wait for that: a connection that is opened meanwhile is
    closed as well.
    """
    until = time.monotonic() + _SETTLE_SECONDS
    while True:
        try:
            return call()
        except (Py4JNetworkError, OSError):
            if time.monotonic() > until:
                raise
        time.sleep(_LOOK_SECONDS)


def _stop_group(spark: SparkSession, name: str) -> None:
    """Cancel the group's jobs, from any thread, and prevent new ones.

    A query that was between two jobs goes on in the JVM: Spark 3.5 starts its next job, and
    Spark 4 at least its next map stage. So new jobs are looked for a while.
    """
    context: Any = spark.sparkContext
    if spark.version.startswith("3."):
        context.cancelJobGroup(name)
    else:
        context._jsc.sc().cancelJobGroupAndFutureJobs(name)
    threading.Thread(target=_cancel_later, args=(context, name), daemon=True).start()


def _cancel_later(context: Any, name: str) -> None:
    until = time.monotonic() + _WATCH_SECONDS
    while time.monotonic() < until:
        time.sleep(_LOOK_SECONDS)
        with suppress(Py4JError, OSError):  # the connection may close, and the session end
            tracker = context.statusTracker()
            if {*tracker.getJobIdsForGroup(name)} & {*tracker.getActiveJobsIds()}:
                context.cancelJobGroup(name)


def _restore(context: Any, before: dict[str, str | None]) -> None:
    for key, value in before.items():
        context.setLocalProperty(key, value)


def _leave_broken_call(context: Any) -> None:
    """Close the py4j connection of an interrupted call: the next call would read its pending
    response. A new connection is opened on demand."""
    client = context._gateway._gateway_client
    if not isinstance(client, JavaClient):
        return
    connection = client.get_thread_connection()
    if connection is not None and connection not in client.deque:
        connection.close()


# Row count of a write, from Spark's SQL metrics.

_ROWS = "number of output rows"
_WAIT_MS = 10_000
_DESCRIPTION = "spark.job.description"


class WrittenRows:
    """The write with one description; call ``rows`` after it succeeds."""

    def __init__(self, spark: SparkSession, description: str) -> None:
        self._spark = spark
        self._description = description

    def rows(self) -> int | None:
        """Rows counted by the write command; None if Spark has no such metric."""
        try:
            return self._read()
        except (Py4JError, AttributeError):
            return None

    def _read(self) -> int | None:
        context: Any = self._spark._jsparkSession.sparkContext()
        context.listenerBus().waitUntilEmpty(_WAIT_MS)
        store: Any = self._spark._jsparkSession.sharedState().statusStore()
        found = store.executionsList(max(0, store.executionsCount() - 20), 20)
        for index in range(found.size() - 1, -1, -1):
            execution = found.apply(index)
            if execution.description() == self._description:
                return _rows_of(store, execution.executionId())
        return None


@contextmanager
def _counting(frame: DataFrame, name: str) -> Iterator[Counted]:
    """Name the write, so that its metrics can be found."""
    spark, description = frame.sparkSession, f"stage {name}"
    context: Any = spark.sparkContext
    before = context.getLocalProperty(_DESCRIPTION)
    context.setLocalProperty(_DESCRIPTION, description)
    try:
        yield Counted(frame, WrittenRows(spark, description).rows)
    except Exception:
        context.setLocalProperty(_DESCRIPTION, before)
        raise
    context.setLocalProperty(_DESCRIPTION, before)


def _rows_of(store: Any, execution_id: int) -> int | None:
    values = store.executionMetrics(execution_id)
    nodes = store.planGraph(execution_id).allNodes()
    for index in range(nodes.size()):
        node = nodes.apply(index)
        if not node.name().startswith("Execute InsertIntoHadoopFsRelationCommand"):
            continue
        metrics = node.metrics()
        for place in range(metrics.size()):
            metric = metrics.apply(place)
            if metric.name() == _ROWS:
                text = values.apply(metric.accumulatorId())
                return int(re.sub(r"[^0-9]", "", text))
    return None
