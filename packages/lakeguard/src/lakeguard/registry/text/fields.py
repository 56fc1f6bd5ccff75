"""Typed access to one YAML mapping; errors carry their position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TypeVar

from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import (
    Block,
    Document,
    Items,
    Node,
    Scalar,
)
from lakeguard_sdk.core.dataset_name import DatasetName, check_word
from lakeguard_sdk.core.did_you_mean import did_you_mean, nearest
from lakeguard_sdk.errors import (
    BadDefinitionName,
    BadName,
    DefinitionError,
    MissingKey,
    Place,
    UnknownKey,
    WrongValue,
)

Choice = TypeVar("Choice", bound=StrEnum)

LONGEST_TEXT = 300
LONGEST_PATH = 1000
LONGEST_DESCRIPTION = 10_000
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})


_PREFIXES = ("rule", "policy", "job", "load", "source", "target")


def _meant(key: str, keys: tuple[str, ...]) -> str | None:
    """The key that an unknown one was probably meant to be: ``id`` for ``rule_id``, as tables call
    it, else the most similar one."""
    prefix, _, rest = key.partition("_")
    return rest if prefix in _PREFIXES and rest in keys else nearest(key, keys)


class Fields:
    """The keys of one mapping. Each reader returns None after it reported an error."""

    def __init__(
        self,
        document: Document,
        block: Block,
        findings: Findings,
        keys: tuple[str, ...],
        inner: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        """``inner`` lists keys of nested mappings, to hint at keys written one level too high."""
        self.document = document
        self.block = block
        self.findings = findings
        self.misspelt: set[str] = set()
        """Keys that an unknown key was probably meant to be."""
        for key, scalar in block.keys.items():
            if key not in keys:
                below = [name for name, known in (inner or {}).items() if key in known]
                meant = _meant(key, keys)
                hint = f"; did you mean {meant}?" if meant else ""
                hint = f"; it belongs under {below[0]}" if below else hint
                self.misspelt |= {meant or ""} if not below else set()
                self.add(UnknownKey(document.place(scalar), key=key, hint=hint))

    def add(self, error: DefinitionError) -> None:
        self.findings.add(error)

    def wrong(self, node: Node, key: str, problem: str, hint: str = "") -> None:
        self.add(WrongValue(self.document.place(node), key=key, problem=problem, hint=hint))

    def node(self, key: str) -> Node | None:
        """The value, or None if the key is absent or has no value."""
        node = self.block.values.get(key)
        return None if isinstance(node, Scalar) and node.is_null else node

    def place_of(self, key: str) -> Place:
        """The place of the value, else of the key, else of the mapping."""
        node = self.node(key) or self.block.keys.get(key) or self.block
        return self.document.place(node)

    def missing(self, key: str) -> None:
        """Report a missing value at its key, or a missing key at its mapping, unless it is there
        and only misspelt."""
        scalar = self.block.keys.get(key)
        if scalar is None and key in self.misspelt:
            return
        if scalar is not None:
            place = self.document.place(scalar)
        else:
            first = next(iter(self.block.keys.values()), self.block)
            place = self.document.place(first)
        self.add(MissingKey(place, key=key))

    def scalar(self, key: str, *, required: bool = False) -> Scalar | None:
        node = self.node(key)
        if node is None:
            if required:
                self.missing(key)
            return None
        if isinstance(node, Scalar):
            return node
        self.wrong(node, key, "write a single value")
        return None

    def text(self, key: str, *, required: bool = False, limit: int = LONGEST_TEXT) -> str | None:
        """The text as written; ``no`` and ``1e3`` are text, too."""
        scalar = self.scalar(key, required=required)
        if scalar is None:
            return None
        value = scalar.value.strip()
        if not value:
            self.wrong(scalar, key, "must not be empty")
        elif len(value) > limit:
            self.wrong(scalar, key, f"longer than {limit:,} characters")
        elif "\n" in value and limit == LONGEST_TEXT:
            self.wrong(scalar, key, "write it on one line")
        else:
            return value
        return None

    def word(self, key: str, default: str | None = None) -> str | None:
        """A snake_case name; required unless a default is given."""
        scalar = self.scalar(key, required=default is None)
        return default if scalar is None else self.as_word(scalar)

    def as_word(self, node: Node) -> str | None:
        value = node.value if isinstance(node, Scalar) else ""
        try:
            return check_word(value)
        except BadName:
            self.add(BadDefinitionName(self.document.place(node), name=value[:LONGEST_TEXT]))
            return None

    def as_dataset(self, node: Node, key: str) -> DatasetName | None:
        """``layer.name``; an invalid layer and an invalid name are different errors."""
        if not isinstance(node, Scalar):
            self.wrong(node, key, "write layer.name")
            return None
        try:
            return DatasetName(node.value)
        except BadName:
            self._bad_dataset(node, key)
            return None

    def _bad_dataset(self, node: Scalar, key: str) -> None:
        layer, dot, name = node.value.partition(".")
        layers = ("bronze", "silver", "gold")
        if dot and layer in layers:
            self.add(BadDefinitionName(self.document.place(node), name=name[:LONGEST_TEXT]))
        elif dot:
            self.wrong(node, key, f"{layer[:80]!r} is not a layer", did_you_mean(layer, layers))
        else:
            self.wrong(node, key, "write layer.name with a layer of bronze, silver, gold")

    def flag(self, key: str, default: bool) -> bool:
        scalar = self.scalar(key)
        if scalar is None:
            return default
        if not scalar.style and scalar.value in _TRUE | _FALSE:
            return scalar.value in _TRUE
        self.wrong(scalar, key, "write true or false, without quotes")
        return default

    def choice(
        self,
        key: str,
        options: type[Choice],
        default: Choice | None = None,
        later: Mapping[str, str] | None = None,
    ) -> Choice | None:
        """A member of an enum; required unless a default is given."""
        scalar = self.scalar(key, required=default is None)
        if scalar is None:
            return default
        if scalar.value in options.__members__.values():
            return options(scalar.value)
        words = [option.value for option in options]
        if later and scalar.value in later:
            self.wrong(scalar, key, f"{scalar.value} is not available yet", later[scalar.value])
        else:
            hint = did_you_mean(scalar.value, words) or f"; write {_one_of(words)}"
            self.wrong(scalar, key, f"invalid value {scalar.value[:80]!r}", hint)
        return None

    def items(self, key: str) -> Iterator[Node]:
        """The items of an optional list."""
        node = self.node(key)
        if isinstance(node, Items):
            yield from node.items
        elif node is not None:
            self.wrong(node, key, "write a list, [a, b] or one item per line with a dash")

    def block_at(self, key: str, shape: str) -> Block | None:
        node = self.node(key)
        if node is None or isinstance(node, Block):
            return node
        self.wrong(node, key, f"write a mapping, such as {shape}")
        return None


def _one_of(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
