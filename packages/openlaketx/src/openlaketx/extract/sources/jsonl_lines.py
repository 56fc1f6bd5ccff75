"""Scan of a JSON Lines file in plain Python: its keys and malformed lines.

Spark would read an array as several rows, the last of duplicate keys, and NaN.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from openlaketx.extract.files.malformed_rows import Fault
from openlaketx.extract.files.text_files import opened_lines
from openlaketx.extract.sources.csv_dialect import ENCODINGS
from openlaketx.extract.sources.flat_json import FlatScan, NumberText, scan_flat

BLANKS = " \t\r\n"
"""Characters of a blank line."""
_LONGEST_KEY = 40


class JsonScan(NamedTuple):
    """Keys in order of first occurrence, and every fault."""

    names: tuple[str, ...]
    faults: list[Fault]
    flat: FlatScan | None = None
    """For a flat file."""


def json_lines(path: str, codec: str) -> AbstractContextManager[Iterator[str]]:
    return opened_lines(path, codec, "\n")


def scan_json(path: str, codec: str) -> JsonScan:
    """Scan the whole file once. Blank lines are ignored."""
    if codec == "utf-8":
        flat = scan_flat(path, lambda line: read_object(line, codec, _NUMBER_TEXTS))
        if flat is not None:
            return JsonScan(tuple(flat.kinds), [], flat)
    names: dict[str, None] = {}
    faults: list[Fault] = []
    with json_lines(path, codec) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip(BLANKS):
                continue
            try:
                names.update(dict.fromkeys(read_object(line, codec, _DECODER)))
            except (ValueError, RecursionError) as error:
                faults.append(Fault(number, number, fault_reason(error)))
    return JsonScan(tuple(names), faults)


def strict_decoder(number: Callable[[str], Any]) -> json.JSONDecoder:
    """Rejects what JSON readers treat differently: duplicate keys and NaN.

    ``number`` receives a number's text as written.
    """
    return json.JSONDecoder(
        object_pairs_hook=_distinct, parse_int=number, parse_float=number, parse_constant=_constant
    )


def read_object(line: str, codec: str, decoder: json.JSONDecoder) -> dict[str, Any]:
    """The object on a line; ValueError or RecursionError if the line is anything else."""
    if not line.isascii():
        _encodable(line, f"a byte is not {ENCODINGS[codec]}")
    found = decoder.decode(line.rstrip("\r\n"))
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    if "\\u" in line:
        _encodable(json.dumps(found, ensure_ascii=False), "incomplete surrogate pair")
    return found


def nested_texts(line: str) -> dict[str, str]:
    """Objects and arrays among the values of a valid line, each as it is written there."""
    found: dict[str, str] = {}
    at = line.index("{") + 1
    while (at := _after_blanks(line, at)) < len(line) and line[at] != "}":
        key, at = _DECODER.raw_decode(line, _after_blanks(line, at + (line[at] == ",")))
        at = _after_blanks(line, _after_blanks(line, at) + 1)
        value, end = _DECODER.raw_decode(line, at)
        if isinstance(value, dict | list):
            found[key] = line[at:end]
        at = end
    return found


def _after_blanks(line: str, at: int) -> int:
    while at < len(line) and line[at] in BLANKS:
        at += 1
    return at


def fault_reason(error: Exception) -> str:
    """Why ``read_object`` rejected a line."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"duplicate key {twice[:_LONGEST_KEY]!r}")
    return found


def _constant(constant: str) -> None:
    raise ValueError(f"{constant} is not valid JSON")


_DECODER = strict_decoder(str)
_NUMBER_TEXTS = strict_decoder(NumberText)


def _encodable(text: str, problem: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(problem) from None
