"""The ``columns`` of a dataset file, with their rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lakeguard.registry.text.fields import LONGEST_DESCRIPTION, Fields
from lakeguard.registry.text.yaml_nodes import Block, Node, Scalar
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import UnknownType
from lakeguard_sdk.model.definitions import ColumnDefinition
from lakeguard_sdk.model.schema_changes import ColumnOrigin
from lakeguard_sdk.types.schema import MEANT, TYPE_WORDS, normal_type
from lakeguard_sdk.types.type_tree import NotAType

KEYS = (
    "type",
    "required",
    "nullable",
    "tags",
    "description",
    "rules",
    "origin",
    "widened_from",
    "derived_from",
    "reason",
    "clean",
)
_SHAPE = "{type: string, required: true}"


@dataclass(frozen=True)
class ColumnRules:
    """The rules declared on one column."""

    column: str
    required: Node | None
    """The node of ``required: true``, if set."""
    rules: tuple[Node, ...]


@dataclass(frozen=True)
class ColumnsRead:
    columns: tuple[ColumnDefinition, ...]
    rules: tuple[ColumnRules, ...]
    complete: bool
    """Whether every column was parsed, so rules can be checked against them."""


def read_columns(fields: Fields, *, optional: bool = False) -> ColumnsRead:
    if optional and fields.node("columns") is None:
        return ColumnsRead((), (), True)
    block = fields.block_at("columns", f"{{order_id: {_SHAPE}}}")
    if block is None or not block.keys:
        if fields.node("columns") is block:
            fields.missing("columns")
        return ColumnsRead((), (), False)
    before = fields.findings.count
    columns: list[ColumnDefinition] = []
    rules: list[ColumnRules] = []
    for name in block.keys:
        entry = _entry(fields, block, name)
        if entry is not None:
            column, column_rules = entry
            rules.append(column_rules)
            columns += [column] if column is not None else []
    complete = fields.findings.count == before
    return ColumnsRead(tuple(columns), tuple(rules), complete)


def _entry(
    fields: Fields, block: Block, name: str
) -> tuple[ColumnDefinition | None, ColumnRules] | None:
    node = block.values[name]
    if not isinstance(node, Block):
        where = block.keys[name] if isinstance(node, Scalar) and node.is_null else node
        fields.wrong(where, name[:80], f"write a mapping, such as {_SHAPE}")
        return None
    column_type, keys = _split_type(node)
    column = Fields(fields.document, node, fields.findings, keys)
    data_type = _type(column, column_type)
    tags = _tags(column)
    description = column.text("description", limit=LONGEST_DESCRIPTION) or ""
    required, nullable = column.flag("required", False), column.flag("nullable", True)
    widened = column.scalar("widened_from")
    widened_from = None if widened is None else _read_type(column, widened, None)
    origin = column.choice("origin", ColumnOrigin, ColumnOrigin.DECLARED)
    column_rules = ColumnRules(
        name, node.values.get("required") if required else None, tuple(column.items("rules"))
    )
    if data_type is None:
        return None, column_rules
    definition = ColumnDefinition(
        name=name,
        type=data_type,
        tags=tags,
        description=description,
        nullable=nullable,
        origin=origin or ColumnOrigin.DECLARED,
        widened_from=widened_from or "",
        derived_from=_derived_from(column),
        reason=column.text("reason", limit=LONGEST_DESCRIPTION) or "",
        clean=column.text("clean", limit=LONGEST_DESCRIPTION) or "",
    )
    return definition, column_rules


def _split_type(node: Block) -> tuple[str | None, tuple[str, ...]]:
    """YAML reads unquoted ``{type: decimal(10,2)}`` as two keys; report it as one error."""
    value = node.values.get("type")
    if not isinstance(value, Scalar) or _closed(value.value):
        return None, KEYS
    keys = list(node.keys)
    joined = value.value
    for index, key in enumerate(rest := keys[keys.index("type") + 1 :]):
        joined = f"{joined},{key}"
        if _closed(joined):
            return joined, (*KEYS, *rest[: index + 1])
    return None, KEYS


def _closed(text: str) -> bool:
    return text.count("(") <= text.count(")") and text.count("<") <= text.count(">")


def _type(column: Fields, split: str | None) -> str | None:
    scalar = column.scalar("type", required=True)
    return None if scalar is None else _read_type(column, scalar, split)


_ALIKE = 0.8
"""Names of types are short: ``age`` is not meant to be ``image``."""


def type_hint(word: str, more: Iterable[str] = ()) -> str:
    """The type that is meant, by what other systems call it or by its spelling; ``more`` are other
    spellings that are accepted."""
    meant = MEANT.get(word.casefold())
    return f"; did you mean {meant}?" if meant else did_you_mean(word, [*TYPE_WORDS, *more], _ALIKE)


def _read_type(column: Fields, scalar: Scalar, split: str | None) -> str | None:
    place = column.document.place(scalar)
    if split is not None:
        hint = f'; quote it: "{split}"'
        column.add(UnknownType(place, type=scalar.value, hint=hint))
        return None
    try:
        return normal_type(scalar.value)
    except NotAType as error:
        problem = f"; {error.problem}" if error.problem else ""
        hint = problem + type_hint(error.part)
        column.add(UnknownType(place, type=scalar.value[:80], hint=hint))
        return None


def _derived_from(column: Fields) -> tuple[str, ...]:
    """Other texts than ``layer.name.column`` are refused with the other references."""
    return tuple(node.value for node in column.items("derived_from") if isinstance(node, Scalar))


def _tags(column: Fields) -> tuple[str, ...]:
    tags: list[str] = []
    for node in column.items("tags"):
        tag = column.as_word(node)
        if tag in tags:
            column.wrong(node, "tags", f"duplicate tag {tag}")
        elif tag is not None:
            tags.append(tag)
    return tuple(tags)
