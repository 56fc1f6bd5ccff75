"""Edits the columns of a definition file in place, preserving comments and layout."""

from __future__ import annotations

import re
from typing import NamedTuple

from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_documents import read_document
from lakeguard.registry.text.yaml_nodes import (
    Block,
    Document,
    Node,
    Scalar,
)
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def edited_columns(
    file: str, data: bytes, before: DatasetDefinition, after: DatasetDefinition
) -> bytes | None:
    """The file with the columns of ``after``; None if its layout cannot be edited.

    The result is not validated; the caller must parse it before writing.
    """
    document = read_document(file, data, Findings())
    columns = document.root.values.get("columns") if document else None
    if document is None or not isinstance(columns, Block) or _is_flow(document, columns):
        return None
    edits: list[_Edit] = []
    after_by_place = _paired(before, after)
    for old, new in after_by_place:
        node = columns.values.get(old.name)
        if not isinstance(node, Block):
            continue
        if new is None:
            edits.append(_removal(document, columns.keys[old.name], node))
        elif new != old:
            edits += _changes(document, columns.keys[old.name], node, old, new)
    known = {new.name for _, new in after_by_place if new is not None}
    added = [column for column in after.columns if column.name not in known]
    if added:
        edits.append(_addition(document, columns, added))
    return _applied(document.text, edits).encode()


def _paired(
    before: DatasetDefinition, after: DatasetDefinition
) -> list[tuple[ColumnDefinition, ColumnDefinition | None]]:
    """Each column with its new version, matched by name, else by position."""
    by_name = {column.name: column for column in after.columns}
    old_names = {column.name for column in before.columns}
    pairs: list[tuple[ColumnDefinition, ColumnDefinition | None]] = []
    for index, old in enumerate(before.columns):
        new = by_name.get(old.name)
        if new is None and len(after.columns) >= len(before.columns):
            other = after.columns[index]
            new = other if other.name not in old_names else None
        pairs.append((old, new))
    return pairs


def _changes(
    document: Document,
    key: Scalar,
    node: Block,
    old: ColumnDefinition,
    new: ColumnDefinition,
) -> list[_Edit]:
    edits = []
    if old.name != new.name:
        edits.append(_Edit(key.start, key.end, _quoted(new.name)))
    values = {
        "type": _quoted(new.type),
        "nullable": None if new.nullable else "false",
        "origin": None,
        "widened_from": None,
    }
    for word, text in values.items():
        edits += _value(document, node, word, text)
    return edits


def _value(document: Document, node: Block, word: str, text: str | None) -> list[_Edit]:
    """Replace, add (after the type) or remove one key of a column."""
    value = node.values.get(word)
    if value is not None and text is not None:
        return [_Edit(value.start, value.end, text)]
    if value is not None:
        return [_without(document, node, node.keys[word], value)]
    kind = node.values.get("type")
    if text is None or kind is None:
        return []
    if _is_flow(document, node):
        return [_Edit(kind.end, kind.end, f", {word}: {text}")]
    indent = " " * (node.keys["type"].column - 1)
    end = _line_end(document.text, kind.end)
    return [_Edit(end, end, f"\n{indent}{word}: {text}")]


def _without(document: Document, node: Block, key: Scalar, value: Node) -> _Edit:
    if not _is_flow(document, node):
        return _removal(document, key, value)
    comma = document.text.rfind(",", node.start, key.start)
    if comma >= 0:
        return _Edit(comma, value.end, "")
    after = document.text.find(",", value.end, node.end)
    return _Edit(key.start, after + 1 if after >= 0 else value.end, "")


def _removal(document: Document, key: Scalar, node: Node) -> _Edit:
    """Remove whole lines, from the key to the end of its value."""
    text = document.text
    start = text.rfind("\n", 0, key.start) + 1
    last = len(text[: node.end].rstrip())
    end = _line_end(text, last)
    return _Edit(start, min(end + 1, len(text)), "")


def _addition(document: Document, columns: Block, added: list[ColumnDefinition]) -> _Edit:
    first = next(iter(columns.keys.values()))
    indent = " " * (first.column - 1)
    lines = [f"{indent}{_quoted(c.name)}: {_flow(c)}" for c in added]
    end = _line_end(document.text, len(document.text[: columns.end].rstrip()))
    return _Edit(end, end, "\n" + "\n".join(lines))


def _flow(column: ColumnDefinition) -> str:
    nullable = "" if column.nullable else ", nullable: false"
    return f"{{type: {_quoted(column.type)}{nullable}}}"


def _quoted(text: str) -> str:
    if _PLAIN.match(text) and text.lower() not in _WORDS:
        return text
    return "'" + text.replace("'", "''") + "'"


def _is_flow(document: Document, node: Node) -> bool:
    return document.text[node.start : node.start + 1] == "{"


def _line_end(text: str, offset: int) -> int:
    end = text.find("\n", offset)
    return len(text) if end < 0 else end


def _applied(text: str, edits: list[_Edit]) -> str:
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
