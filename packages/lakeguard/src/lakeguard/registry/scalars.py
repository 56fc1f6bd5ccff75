"""From a character of a YAML value back to the character of the file that made it."""

from __future__ import annotations

_HEX_LENGTHS = {"x": 2, "u": 4, "U": 8}


def source_offsets(source: str, value: str, style: str) -> list[int] | None:
    """For each character of ``value``, and its end, the offset in ``source``; None if unsure.

    ``source`` is the scalar as it stands in the file, quotes and block header included.
    """
    at = _opening(source, style)
    offsets: list[int] = []
    for character in value:
        at = _next_match(source, at, character, style)
        if at < 0:
            return None
        offsets.append(at)
        at += _width(source, at, character, style)
    offsets.append(at)
    return offsets


def _opening(source: str, style: str) -> int:
    if style in ("'", '"'):
        return 1
    return source.find("\n") + 1 if style in ("|", ">") else 0


def _next_match(source: str, at: int, character: str, style: str) -> int:
    """A folded line break reads as a space; indentation is not part of a value."""
    while at < len(source):
        here = source[at]
        if here == character or (style == '"' and here == "\\" and source[at + 1] not in "\r\n"):
            return at
        if here in "\r\n" and character in " \n":
            return at
        if here not in " \t\r\n\\":
            return -1
        at += 1
    return -1


def _width(source: str, at: int, character: str, style: str) -> int:
    if style == '"' and source[at] == "\\":
        return 2 + _HEX_LENGTHS.get(source[at + 1], 0)
    if style == "'" and source.startswith("''", at):
        return 2
    if source[at] in "\r\n" and character == " ":
        rest = source[at:]
        return len(rest) - len(rest.lstrip())
    return 1
