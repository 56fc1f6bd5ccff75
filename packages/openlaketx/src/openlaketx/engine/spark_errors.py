"""What Spark's exceptions say, in one line that a person can read."""

from __future__ import annotations

import re

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

_CLASS = re.compile(r"^(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)?:\s*")
_CONDITION = re.compile(r"^\[([A-Z0-9_.]+)\]\s*")
_STATE = re.compile(r"\s*SQLSTATE:\s*[0-9A-Z]{5}\b")
_PLACE = re.compile(r"\s*;\s*line ([0-9]+) pos ([0-9]+);?$")
_SCAFFOLD = ("Job aborted", "Task failed while", "Lost task", "Driver stacktrace")
LONGEST = 400

SPARK_ERRORS = (PySparkException, Py4JError)


def causes(error: BaseException) -> list[str]:
    """The messages from the outermost to the root cause, each without its Java class."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    told: list[str] = []
    while java is not None and len(told) < 20:
        told.append(str(java.getMessage() or java.getClass().getName()))
        java = java.getCause()
    return [_CLASS.sub("", text.strip()) for text in told or _told_by_server(error)]


def _told_by_server(error: BaseException) -> list[str]:
    """Spark Connect tells its causes as the text of a stack."""
    stack = str(getattr(error, "_stacktrace", None) or "")
    return [str(error), *(part.split("\n\tat ")[0] for part in stack.split("\nCaused by: ")[1:])]


def reason(error: BaseException) -> str:
    """The first meaningful line of the deepest cause that says something; never a stack trace."""
    for text in reversed(causes(error)):
        line = _line(text)
        if line and not line.startswith(_SCAFFOLD):
            return line
    return _line(str(error)) or type(error).__name__


def condition(error: BaseException) -> str:
    """Spark's name for what went wrong, of the deepest cause that has one; else empty."""
    for text in reversed(causes(error)):
        match = _CONDITION.match(text)
        if match:
            return match[1]
    return ""


def _line(text: str) -> str:
    for line in text.splitlines():
        clean = _STATE.sub("", _CONDITION.sub("", _CLASS.sub("", line.strip()))).strip()
        clean = _PLACE.sub(r" (line \1, position \2)", clean)
        if clean and not clean.startswith("at "):
            return clean[:LONGEST]
    return ""
