"""Files with one JSON object per line, as texts. A number is kept exactly as it is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import Any

from lakeguard_sdk.errors import NothingToLookAt
from openlaketx.extract.batch import name_problem
from openlaketx.extract.jsonl_lines import (
    BLANKS,
    fault_reason,
    json_lines,
    read_object,
    strict_decoder,
)
from openlaketx.extract.text_files import TextProblem
from openlaketx.inspect.limits import Limits
from openlaketx.inspect.narrowing import NUMBERS
from openlaketx.inspect.seen_rows import SeenRows
from openlaketx.inspect.text_table import TextTable

_CHUNK = 20_000
_CODEC = "utf-8"
_OFFERED = {
    "text": ("date", "local", "moment"),
    "number": NUMBERS,
    "boolean": ("boolean",),
    "nested": (),
}
"""A JSON text is a number only where it is written as one; of several kinds comes a string."""


class _Number(str):
    """The digits of a number in a file."""

    __slots__ = ()


_DECODER = strict_decoder(_Number)


class _Columns:
    """Columns in the order in which they first appear, with the kinds of values they have."""

    def __init__(self) -> None:
        self.kinds: dict[str, set[str]] = {}

    def take(self, objects: Sequence[dict[str, Any]]) -> list[list[str | None]]:
        for one in objects:
            for name, value in one.items():
                self.kinds.setdefault(name, set()).update(_kind(value))
        return [[_text(one.get(name)) for one in objects] for name in self.kinds]

    def offered(self) -> dict[int, tuple[str, ...]]:
        kinds = enumerate(self.kinds.values())
        return {at: _OFFERED[next(iter(of))] if len(of) == 1 else () for at, of in kinds}


def look_at_json(files: Sequence[str], rows: SeenRows, limits: Limits) -> TextTable:
    columns, whole = _Columns(), True
    for file in files:
        try:
            whole = _take(file, columns, rows, limits) and whole
        except (TextProblem, OSError) as problem:
            raise NothingToLookAt(pattern=file, reason=str(problem)) from None
    names = tuple(columns.kinds)
    if not names:
        raise NothingToLookAt(pattern=files[0], reason="no object in it has a key")
    if problem_text := name_problem(names):
        raise NothingToLookAt(pattern=files[0], reason=problem_text)
    return TextTable(names, whole, offered=columns.offered())


def _take(file: str, columns: _Columns, rows: SeenRows, limits: Limits) -> bool:
    """Whether the file ended before the limit."""
    taken = 0
    with json_lines(file, _CODEC) as lines:
        numbered = ((at, line) for at, line in enumerate(lines, 1) if line.strip(BLANKS))
        while chunk := list(islice(numbered, min(_CHUNK, limits.rows - taken))):
            table = columns.take([_object(file, at, line) for at, line in chunk])
            if table:
                rows.add_texts(table)
            taken += len(chunk)
        return next(numbered, None) is None


def _object(file: str, at: int, line: str) -> dict[str, Any]:
    """As a run reads it, so that a line that a run would refuse is refused here."""
    try:
        return read_object(line, _CODEC, _DECODER)
    except (ValueError, RecursionError) as error:
        reason = f"line {at}: {fault_reason(error)}; write each row as an object on its own line"
        raise NothingToLookAt(pattern=file, reason=reason) from None


def _kind(value: Any) -> set[str]:
    match value:
        case None:
            return set()
        case bool():
            return {"boolean"}
        case _Number():
            return {"number"}
        case str():
            return {"text"}
    return {"nested"}


def _text(value: Any) -> str | None:
    """What counts is whether values are alike, so that nested ones may be spelt anyhow."""
    match value:
        case None | str():
            return value
        case bool():
            return str(value).lower()
    return json.dumps(value)
