"""A definition file as a tree of nodes with source positions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lakeguard.registry.text.characters import place_of_offset
from lakeguard_sdk.errors import Place


@dataclass(slots=True, eq=False)
class Node:
    """A part of the source between the offsets ``start`` and ``end``."""

    start: int
    end: int
    line: int
    column: int


@dataclass(slots=True, eq=False)
class Scalar(Node):
    value: str
    style: str
    """Empty for a plain scalar, else its opening character."""

    @property
    def is_null(self) -> bool:
        return not self.style and self.value in ("", "~", "null", "Null", "NULL")


@dataclass(slots=True, eq=False)
class Items(Node):
    items: list[Node] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Block(Node):
    """A mapping with unique text keys."""

    keys: dict[str, Scalar] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)


Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    file: str
    text: str
    root: Block

    def place(self, node: Node) -> Place:
        """The place of a node; its length covers the first line only."""
        stop = self.text.find("\n", node.start, node.end)
        end = stop if stop >= 0 else node.end
        return Place(
            file=self.file,
            line=node.line,
            column=node.column,
            length=max(1, len(self.text[node.start : end].rstrip())),
        )

    def place_within(self, scalar: Scalar, offset: int, length: int) -> Place:
        """The place of characters in a scalar's value, accounting for quotes and folding."""
        offsets = _source_offsets(self.text[scalar.start : scalar.end], scalar.value, scalar.style)
        if offsets is None:
            return self.place(scalar)
        offset = min(max(offset, 0), len(scalar.value))
        start = scalar.start + offsets[offset]
        last = scalar.start + offsets[min(offset + max(length, 1), len(scalar.value)) - 1] + 1
        line, column = place_of_offset(self.text, start)
        stop = self.text.find("\n", start, last)
        end = stop if stop >= 0 else last
        return Place(file=self.file, line=line, column=column, length=max(1, end - start))

    def locate(self, path: Path) -> Place:
        """The place of the value at ``path``, or of its deepest existing part.

        For a mapping or an empty value this is the key.
        """
        node: Node = self.root
        shown: Node = self.root
        for step in path:
            if isinstance(node, Block) and isinstance(step, str) and step in node.values:
                key, node = node.keys[step], node.values[step]
                shown = key if isinstance(node, Block) or node.end <= node.start else node
            elif isinstance(node, Items) and isinstance(step, int) and step < len(node.items):
                node = shown = node.items[step]
            else:
                break
        return self.place(shown)

    def place_of_reference(self, dataset: str, word: str) -> Place | None:
        """The place of ``word`` in or after the dataset name that a rule refers to."""
        named = re.compile(rf"->\s*{re.escape(dataset)}(?![\w.])")
        for scalar in scalars_of(self.root):
            found = named.search(scalar.value)
            if found is None:
                continue
            at = scalar.value.find(word, found.start())
            return self.place_within(scalar, max(at, found.start()), len(word))
        return None


def scalars_of(node: Node) -> Iterator[Scalar]:
    """Every scalar below a node, keys included."""
    match node:
        case Scalar():
            yield node
        case Items(items=items):
            for item in items:
                yield from scalars_of(item)
        case Block(keys=keys, values=values):
            yield from keys.values()
            for value in values.values():
                yield from scalars_of(value)


# Maps characters of a YAML value back to the source file.

_HEX_LENGTHS = {"x": 2, "u": 4, "U": 8}


def _source_offsets(source: str, value: str, style: str) -> list[int] | None:
    """For each character of ``value``, and its end, the offset in ``source``; None if unknown.

    ``source`` is the scalar as written in the file, with quotes and block header.
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
    """A folded line break matches a space; indentation is skipped."""
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
