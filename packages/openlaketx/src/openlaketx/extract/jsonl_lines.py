"""A plain Python look at a file of JSON lines: its keys, and the lines that are no objects.

Spark would read an array as several rows, the last of two values under one key, and NaN.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from openlaketx.extract.aside import Fault
from openlaketx.extract.csv_dialect import ENCODINGS
from openlaketx.extract.text_files import opened_lines


class JsonLook(NamedTuple):
    """Keys in the order in which they first occur, and every fault."""

    names: tuple[str, ...]
    faults: list[Fault]


def json_lines(path: str, codec: str) -> AbstractContextManager[Iterator[str]]:
    return opened_lines(path, codec, "\n")


def look_at_json(path: str, codec: str) -> JsonLook:
    """Reads the whole file once. A blank line is no record."""
    names: dict[str, None] = {}
    faults: list[Fault] = []
    with json_lines(path, codec) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip(" \t\r\n"):
                continue
            try:
                names.update(dict.fromkeys(_keys(line, codec)))
            except (ValueError, RecursionError) as error:
                faults.append(Fault(number, number, _reason(error)))
    return JsonLook(tuple(names), faults)


def _keys(line: str, codec: str) -> list[str]:
    if not line.isascii():
        _encodable(line, f"a byte is not {ENCODINGS[codec]}")
    found = _DECODER.decode(line.rstrip("\r\n"))
    if not isinstance(found, _Object):
        raise ValueError("it is no object")
    if "\\u" in line:
        _encodable(
            json.dumps(found.pairs, ensure_ascii=False, default=vars), "half a character is escaped"
        )
    return [key for key, _ in found.pairs]


class _Object:
    """An object as it is written; values of numbers are their text."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"key {twice!r} stands there twice")
        self.pairs = pairs


def _constant(word: str) -> None:
    raise ValueError(f"{word} is no JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_Object, parse_int=str, parse_float=str, parse_constant=_constant
)


def _encodable(text: str, problem: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(problem) from None


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return "it is nested too deep" if isinstance(error, RecursionError) else str(error)
