"""Renders an error with its source line and a marker under the exact characters.

definitions/silver/orders.yaml:14:9  LG-2013  unknown rule type 'uniqe'
    rules:
      - uniqe(order_id)
        ^^^^^ did you mean unique?
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from lakeguard_sdk.errors import DefinitionError, SecretValue
from lakeguard_sdk.security.secret_values import masked

_MARGIN = "    "
_WIDEST = 110


def render_errors(errors: Iterable[DefinitionError], folder: Path) -> Iterator[str]:
    """Each error with its source line from ``folder``, if readable. A line that holds a secret is
    never shown, even for other errors on it."""
    found = list(errors)
    hidden = {(e.place.file, e.place.line) for e in found if isinstance(e, SecretValue)}
    lines: dict[str, list[str]] = {}
    for error in found:
        file = error.place.file
        if file not in lines:
            lines[file] = _source_lines(folder / file)
        secret = (file, error.place.line) in hidden
        yield render_error(error, () if secret else lines[file])


def render_error(error: DefinitionError, source_lines: Sequence[str]) -> str:
    """The error above its source line. Secrets are masked and control characters replaced."""
    place = error.place
    message = error.what.format(**{**error.fields, "hint": ""})
    hint = str(error.fields.get("hint") or "").removeprefix(";").strip()
    head = f"{_inert(str(place))}  {error.code}  {_inert(message)}"
    if not 0 < place.line <= len(source_lines) or not source_lines[place.line - 1].strip():
        return f"{head}{'; ' if hint else ''}{_inert(hint)}"
    line = source_lines[place.line - 1]
    parent = None if place.file.endswith(".sql") else _parent(source_lines, place.line - 1)
    indent = _indent(line) if parent is None else min(_indent(line), _indent(parent))
    shown = [] if parent is None else [_MARGIN + _inert(masked(parent[indent:]))[:_WIDEST]]
    text, carets = _underlined(line[indent:], place.column - 1 - indent, place.length)
    shown += [_MARGIN + text, f"{_MARGIN}{carets} {_inert(hint)}".rstrip()]
    return "\n".join([head, *shown])


def _underlined(line: str, start: int, length: int) -> tuple[str, str]:
    """The line, cut to a readable width around the marked part, and its carets."""
    start = max(0, min(start, len(line)))
    end = max(start + 1, min(start + length, len(line)))
    hidden = masked(line)
    if hidden != line:
        return _inert(hidden)[:_WIDEST], ""
    left = max(0, min(start, end - _WIDEST + 20)) if end > _WIDEST else 0
    window = line[left : left + _WIDEST]
    lead = "…" if left else ""
    before = lead + _inert(line[left:start])
    marked = _inert(line[start : min(end, left + _WIDEST)]) or " "
    tail = "…" if left + _WIDEST < len(line) else ""
    return lead + _inert(window) + tail, " " * _columns(before) + "^" * _columns(marked)


def _parent(lines: Sequence[str], index: int) -> str | None:
    """The nearest enclosing line above."""
    line = lines[index]
    inner = _indent(line)
    is_item = line.lstrip().startswith("- ")
    for candidate in reversed(lines[:index]):
        text = candidate.strip()
        if not text or text.startswith("#"):
            continue
        beside = is_item and not text.startswith("- ") and _indent(candidate) == inner
        if _indent(candidate) < inner or beside:
            return candidate.rstrip()
    return None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _inert(text: str) -> str:
    """Without control and bidirectional characters, so a terminal prints it as text."""
    return "".join(c if c.isprintable() else (" " if c == "\t" else "\ufffd") for c in text)


def _columns(text: str) -> int:
    """Display width in terminal columns."""
    width = 0
    for character in text:
        if not unicodedata.combining(character):
            width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def _source_lines(path: Path) -> list[str]:
    try:
        return path.read_bytes()[:2_000_000].decode("utf-8-sig", "replace").split("\n")
    except OSError:
        return []
