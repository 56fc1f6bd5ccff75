"""Spark errors become one readable line."""

from __future__ import annotations

import pytest

from openlaketx.engine.spark.errors import condition, reason


class Java:
    """A Java exception as py4j exposes it."""

    def __init__(self, message: str | None, cause: Java | None = None) -> None:
        self.message, self.cause = message, cause

    def getMessage(self) -> str | None:
        return self.message

    def getCause(self) -> Java | None:
        return self.cause

    def getClass(self) -> Java:
        return self

    def getName(self) -> str:
        return "java.lang.Odd"


class SparkError(Exception):
    def __init__(self, java: Java) -> None:
        super().__init__("a Java stack trace\n\tat org.apache.spark.Deep.java:1")
        self.java_exception = java


ABORTED = "Job aborted due to stage failure: Task 0 in stage 1.0 failed 1 times\n\tat x"


@pytest.mark.parametrize(
    ("java", "line", "name"),
    [
        (
            Java(ABORTED, Java("[TASK_WRITE_FAILED] Task failed while writing", Java(
                "[USER_RAISED_EXCEPTION] column x: 'a' is not a valid long SQLSTATE: P0001"
            ))),
            "column x: 'a' is not a valid long",
            "USER_RAISED_EXCEPTION",
        ),
        (
            Java("[DIVIDE_BY_ZERO] Division by zero. Use `try_divide`. SQLSTATE: 22012\n== SQL =="),
            "Division by zero. Use `try_divide`.",
            "DIVIDE_BY_ZERO",
        ),
        (
            Java("org.apache.spark.SparkException: [A.B] first line\n\tat org.x\n\tat org.y"),
            "first line",
            "A.B",
        ),
        (Java("outer words", Java(None)), "java.lang.Odd", ""),
        (Java(ABORTED, Java("\n\n  java.io.IOException: disk full")), "disk full", ""),
    ],
)  # fmt: skip
def test_the_deepest_cause_that_says_something(java: Java, line: str, name: str) -> None:
    assert reason(SparkError(java)) == line
    assert condition(SparkError(java)) == name


def test_an_error_without_java_says_its_own_first_line() -> None:
    assert reason(ValueError("\nplain words\nmore")) == "plain words"
    assert reason(ValueError()) == "ValueError"


def test_a_server_tells_its_causes_as_a_stack() -> None:
    error = ValueError(ABORTED)
    error._stacktrace = (  # type: ignore[attr-defined]
        "org.apache.spark.SparkException\n\tat x(y.scala:1)\nCaused by: org.apache.spark.Odd: "
        "[TASK_WRITE_FAILED] Task failed while writing\n\tat x(y.scala:2)\nCaused by: java.Odd: "
        "[USER_RAISED_EXCEPTION] column x: 'a' is not a valid long SQLSTATE: P0001\n"
        "\tat x(y.scala:3)"
    )
    assert reason(error) == "column x: 'a' is not a valid long"
    assert condition(error) == "USER_RAISED_EXCEPTION"


def test_long_lines_are_cut() -> None:
    assert len(reason(ValueError("x" * 10_000))) == 400
