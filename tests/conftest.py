"""A skipped test fails the run: what did not run has shown nothing."""

from __future__ import annotations

import pytest

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
