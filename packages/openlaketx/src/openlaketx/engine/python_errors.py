"""Errors of Python functions on Spark's workers: told as text, with the worker's own stack."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from openlaketx.engine.shown_values import foreign_words
from openlaketx.engine.spark_errors import LONGEST, causes

_LINE = re.compile(r'^\s*File "(.+)", line ([0-9]+), in (\S+)$')


class WorkerError(NamedTuple):
    """Where in the user's files a function failed, and what it said."""

    file: str
    line: int
    function: str
    message: str


def worker_error(error: BaseException, is_ours: Callable[[str], bool]) -> WorkerError | None:
    """The deepest line of ours in a worker's stack; None where no worker told a stack.

    A stack that passed through no line of ours has an empty file.
    """
    for text in reversed(causes(error)):
        lines = text.splitlines()
        places = [match for line in lines if (match := _LINE.match(line))]
        if places:
            told = _message(lines)
            ours = [match for match in places if is_ours(match[1])]
            if not ours:
                return WorkerError("", 0, "", told)
            return WorkerError(ours[-1][1], int(ours[-1][2]), ours[-1][3], told)
    return None


def _message(lines: list[str]) -> str:
    """The first line after the last stack: what was raised."""
    stack = max(number for number, line in enumerate(lines) if _LINE.match(line))
    after = (line for line in lines[stack + 1 :] if line and not line.startswith(" "))
    told = next(after, "it failed").strip()
    return foreign_words(told, told.partition(":")[0])[:LONGEST]
