"""Parses YAML into a tree of nodes with positions.

A deliberate subset of YAML: one document of mappings, sequences and scalars. Anchors, aliases,
tags, duplicate keys and deep nesting are refused, so nothing in a file can expand or construct
objects. Scalars stay text; the expected type decides what ``no`` or ``1e3`` means.
"""

from __future__ import annotations

from typing import Any, Protocol

import yaml

from lakeguard.registry.text.characters import forbidden_character, place_of_offset
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import (
    Block,
    Document,
    Items,
    Node,
    Scalar,
)
from lakeguard_sdk.errors import DefinitionError, DuplicateKey, NotYaml, Place

MAX_BYTES = 1_000_000
MAX_DEPTH = 16
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Mark(Protocol):
    index: int
    line: int
    column: int


def read_document(file: str, data: bytes, findings: Findings) -> Document | None:
    """The document, or None after reporting the error."""
    try:
        text = _decoded(file, data)
        root = _compose(file, text, findings)
    except DefinitionError as error:
        findings.add(error)
        return None
    return Document(file, text, root)


def _decoded(file: str, data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise NotYaml(Place(file=file), problem=f"larger than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8-sig", "replace")
        raise _not_yaml(file, before + "?", len(before), "not UTF-8 text") from None
    found = forbidden_character(text)
    if found:
        raise _not_yaml(file, text, found[0], f"{found[1]} is not allowed")
    return text


def _not_yaml(file: str, text: str, offset: int, problem: str, length: int = 1) -> NotYaml:
    line, column = place_of_offset(text, offset)
    place = Place(file=file, line=line, column=column, length=length)
    return NotYaml(place, problem=problem)


def _compose(file: str, text: str, findings: Findings) -> Block:
    composer = _Composer(file, text, findings)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            composer.take(event)
    except yaml.MarkedYAMLError as error:
        offset = error.problem_mark.index if error.problem_mark else 0
        problem = error.problem or "syntax error"
        raise _not_yaml(file, text, min(offset, len(text)), problem) from None
    except yaml.YAMLError as error:
        problem = str(getattr(error, "reason", "syntax error"))
        raise NotYaml(Place(file=file), problem=problem) from None
    if not isinstance(composer.root, Block):
        raise NotYaml(Place(file=file), problem="a definition must be a mapping")
    return composer.root


class _Composer:
    """Builds the tree from parser events with a bounded stack."""

    def __init__(self, file: str, text: str, findings: Findings) -> None:
        self.file = file
        self.text = text
        self.findings = findings
        self.root: Node | None = None
        self.open: list[Items | Block] = []
        self.pending: list[Scalar | None] = []

    def take(self, event: yaml.Event) -> None:
        """Compares exact types: this runs for every scalar of every file."""
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._refuse_anchors_and_tags(event)
            self._attach(self._scalar(event))
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._refuse_anchors_and_tags(event)
            self._enter(event)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._attach(self._closed(event))
        elif kind is yaml.AliasEvent:
            raise self._error(event, "aliases are not supported in definitions")
        elif kind is yaml.DocumentStartEvent and self.root is not None:
            raise self._error(event, "a second document; write one definition per file")

    def _enter(self, event: yaml.Event) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise self._error(event, "nested too deeply")
        start, line, column = _mark(event.start_mark)
        node_type = Block if type(event) is yaml.MappingStartEvent else Items
        self.open.append(node_type(start, start, line, column))
        self.pending.append(None)

    def _closed(self, event: yaml.Event) -> Node:
        node = self.open.pop()
        self.pending.pop()
        node.end = _mark(event.end_mark)[0]
        return node

    def _attach(self, node: Node) -> None:
        if not self.open:
            self.root = node
            return
        parent = self.open[-1]
        if isinstance(parent, Items):
            parent.items.append(node)
            return
        key = self.pending[-1]
        if key is not None:
            parent.values.setdefault(key.value, node)
            self.pending[-1] = None
        elif isinstance(node, Scalar):
            self._key(parent, node)
        else:
            place = Place(file=self.file, line=node.line, column=node.column)
            raise NotYaml(
                place, problem="a key must be a scalar; quote text that begins with [ or {"
            )

    def _key(self, parent: Block, key: Scalar) -> None:
        if key.value in parent.keys:
            place = Document(self.file, self.text, parent).place(key)
            self.findings.add(DuplicateKey(place, key=key.value))
        parent.keys.setdefault(key.value, key)
        self.pending[-1] = key

    def _scalar(self, event: Any) -> Scalar:
        start, line, column = _mark(event.start_mark)
        end = _mark(event.end_mark)[0]
        if event.style == '"':
            found = forbidden_character(event.value)
            if found:
                raise self._error(event, f"{found[1]} is not allowed")
        return Scalar(start, end, line, column, event.value, event.style or "")

    def _refuse_anchors_and_tags(self, event: Any) -> None:
        if event.anchor:
            raise self._error(event, "anchors are not supported in definitions")
        if event.tag:
            raise self._error(event, "tags are not supported in definitions")

    def _error(self, event: yaml.Event, problem: str) -> NotYaml:
        _, line, column = _mark(event.start_mark)
        return NotYaml(Place(file=self.file, line=line, column=column), problem=problem)


def _mark(mark: _Mark | None) -> tuple[int, int, int]:
    """Offset, and line and column from 1."""
    return (mark.index, mark.line + 1, mark.column + 1) if mark else (0, 1, 1)
