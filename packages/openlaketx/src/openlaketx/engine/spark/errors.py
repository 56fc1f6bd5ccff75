"""Readable one-line messages from Spark exceptions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException

from openlaketx.engine.shown_values import OURS, masked_message

_CLASS = re.compile(r"^(?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)?:\s*")
_CONDITION = re.compile(r"^\[([A-Z0-9_.]+)\]\s*")
_STATE = re.compile(r"\s*SQLSTATE:\s*[0-9A-Z]{5}\b")
_PLACE = re.compile(r"\s*;\s*line ([0-9]+) pos ([0-9]+);?$")
_SCAFFOLD = ("Job aborted", "Task failed while", "Lost task", "Driver stacktrace")
_CONDITION_WITHOUT_VALUES = re.compile(r"\[(DIVIDE_BY_ZERO|FAILED_READ_FILE)[].]")
_ABOUT_FILES = ("java.io.", "java.nio.", "java.lang.OutOfMemoryError")
LONGEST = 400

SPARK_ERRORS = (PySparkException, Py4JError)


def causes(error: BaseException) -> list[str]:
    """Messages from the outermost to the root cause, without Java class names."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    messages: list[str] = []
    while java is not None and len(messages) < 20:
        messages.append(str(java.getMessage() or java.getClass().getName()))
        java = java.getCause()
    return [_CLASS.sub("", text.strip()) for text in messages or _server_causes(error)]


def _server_causes(error: BaseException) -> list[str]:
    """Spark Connect reports causes in a stack trace."""
    stack = str(getattr(error, "_stacktrace", None) or "")
    return [str(error), *(part.split("\n\tat ")[0] for part in stack.split("\nCaused by: ")[1:])]


def reason(error: BaseException) -> str:
    """The first meaningful line of the deepest cause with a message; never a stack trace.

    Row values are shortened, and redacted for private columns.
    """
    for text in reversed(causes(error)):
        line = _line(text)
        if line and not line.startswith(_SCAFFOLD):
            return _masked(line, text, error)
    return _masked(_line(str(error)) or type(error).__name__, "", error)


def condition(error: BaseException) -> str:
    """Spark's error condition of the deepest cause that has one, else empty."""
    for text in reversed(causes(error)):
        match = _CONDITION.match(text)
        if match:
            return match[1]
    return ""


def _masked(line: str, text: str, error: BaseException) -> str:
    """Our own messages, and errors about code or files, contain no row values and pass
    unchanged."""
    if line.startswith(OURS):
        return line.removeprefix(OURS)
    if isinstance(error, AnalysisException) or _CONDITION_WITHOUT_VALUES.match(text):
        return line
    root = _root_class(error)
    if root.startswith(_ABOUT_FILES):
        return line
    named = _CONDITION.match(text)
    return masked_message(line, named[1] if named else root.rpartition(".")[2])


def _root_class(error: BaseException) -> str:
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return type(error).__name__
    while java.getCause() is not None:
        java = java.getCause()
    return str(java.getClass().getName())


def _line(text: str) -> str:
    for line in text.splitlines():
        clean = _STATE.sub("", _CONDITION.sub("", _CLASS.sub("", line.strip()))).strip()
        clean = _PLACE.sub(r" (line \1, position \2)", clean)
        if clean and not clean.startswith("at "):
            return clean[:LONGEST]
    return ""


# Errors of Python functions on Spark workers, parsed from the worker's traceback.

_LINE = re.compile(r'^\s*File "(.+)", line ([0-9]+), in (\S+)$')


class WorkerError(NamedTuple):
    """Where in the user's code a function failed, and its message."""

    file: str
    line: int
    function: str
    message: str


def worker_error(error: BaseException, is_ours: Callable[[str], bool]) -> WorkerError | None:
    """The innermost matching frame of a worker's traceback; None without a traceback.

    ``file`` is empty if no frame matches.
    """
    for text in reversed(causes(error)):
        lines = text.splitlines()
        places = [match for line in lines if (match := _LINE.match(line))]
        if places:
            message = _message(lines)
            ours = [match for match in places if is_ours(match[1])]
            if not ours:
                return WorkerError("", 0, "", message)
            return WorkerError(ours[-1][1], int(ours[-1][2]), ours[-1][3], message)
    return None


def _message(lines: list[str]) -> str:
    """The first line after the last traceback: the exception."""
    stack = max(number for number, line in enumerate(lines) if _LINE.match(line))
    after = (line for line in lines[stack + 1 :] if line and not line.startswith(" "))
    message = next(after, "it failed").strip()
    return masked_message(message, message.partition(":")[0])[:LONGEST]
