"""The Spark session: started once and quietly, kept warm, lent out as child sessions.

A run never changes a setting of the session it was given: it works in a child that shares the
engine, with ``RUN_SETTINGS`` on which the meaning of every written file depends.
"""

from __future__ import annotations

import logging
import os
import tempfile
from pathlib import Path
from typing import IO

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from lakeguard_sdk.errors import BuildFailed, JarsMissing
from openlaketx.engine.jars import delta_jars
from openlaketx.engine.java import find_java
from openlaketx.engine.machine import cores

RUN_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.variant.writeShredding.enabled": "false",
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.execution.pythonUDF.arrow.enabled": "false",
}
"""Micros, because INT96 has no statistics and wraps old years; no SQL on files, because a build
reads its inputs and nothing else; no pruning in CSV, because a pruned line is not checked."""

_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.ui.retainedExecutions": "50",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.databricks.delta.snapshotPartitions": "2",
}
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_jvm_output: list[IO[bytes]] = []


def spark_session(options: dict[str, str], *, delta: bool = False) -> SparkSession:
    """The process's session, started with ``options`` unless there is one already.

    Runs need no Delta jar; with ``delta`` the session can also read and write through delta-spark.
    """
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    find_java()
    return _start(_configuration(options, delta=delta))


def run_session(spark: SparkSession) -> SparkSession:
    """A child of ``spark`` with the settings of a run and no view but its own."""
    child = spark.newSession()
    for key, value in RUN_SETTINGS.items():
        child.conf.set(key, value)
    return child


def _configuration(options: dict[str, str], *, delta: bool) -> SparkConf:
    log4j = Path(__file__).with_name("log4j2.properties").as_uri()
    settings = {
        "spark.master": "local[*]",
        "spark.app.name": "openlaketx",
        "spark.sql.shuffle.partitions": str(cores()),
        "spark.driver.extraClassPath": _class_path(required=delta),
        **_QUIET,
        **RUN_SETTINGS,
        **(_DELTA if delta else {}),
        **options,
    }
    java = settings.get("spark.driver.extraJavaOptions", "")
    settings["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={log4j} {java}".strip()
    if settings["spark.master"].startswith("local"):
        settings.setdefault("spark.driver.host", "127.0.0.1")
        settings.setdefault("spark.driver.bindAddress", "127.0.0.1")
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        if value:
            conf.set(key, value)
    return conf


def _class_path(*, required: bool) -> str:
    try:
        return os.pathsep.join(str(jar) for jar in delta_jars())
    except JarsMissing:
        if required:
            raise
        return ""


def _start(conf: SparkConf) -> SparkSession:
    logging.getLogger("SQLQueryContextLogger").disabled = True  # it writes stack traces to stderr
    output = tempfile.TemporaryFile(prefix="spark-")  # noqa: SIM115 - as long as the JVM lives
    _jvm_output.append(output)
    try:
        gateway = launch_gateway(  # type: ignore[no-untyped-call]
            conf, popen_kwargs={"stdout": output, "stderr": output}
        )
        return SparkSession(SparkContext(conf=conf, gateway=gateway))
    except PySparkException as error:
        raise BuildFailed(
            dataset="the Spark session", reason=_last_words(output) or str(error)
        ) from None


def _last_words(output: IO[bytes]) -> str:
    """The line in which a JVM that did not come up says why."""
    output.seek(0)
    lines = [line.strip() for line in output.read().decode(errors="replace").splitlines()]
    telling = [line for line in lines if "Exception" in line or line.startswith("Error")]
    return next(iter(telling or lines[-1:]), "")
