"""A skipped test fails the run: what did not run has shown nothing. And one Spark for all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
"""Every JVM that a test starts, its own or a process's: it ends before optimised code pays off."""

not_run: dict[str, None] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:  # expected failures too
        not_run[report.nodeid] = None


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        not_run[report.nodeid] = None


def pytest_sessionfinish(session: pytest.Session) -> None:
    if not_run and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not_run:
        terminalreporter.section("skipped, which fails the run", red=True)
        for nodeid in not_run:
            terminalreporter.write_line(nodeid)


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """As a worker has it, on two cores, and able to read Delta as other engines do.

    Suites that do not ask for Delta also run on a Spark that it is not made for. The tables of
    tests are small: one partition takes less processor time, and so do stages without code of
    their own. It is generated, as in production, by every Spark of a process of its own.
    """
    import pyspark

    from openlaketx.engine.spark.session import spark_session
    from openlaketx.notebook.gate_process import GATE

    GATE.retain()  # one process for the connections of all tests
    delta = pyspark.__version__.startswith("4.2.")
    small = {
        "spark.master": "local[2]",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.codegen.wholeStage": "false",
    }
    return spark_session(small, delta=delta)
