"""Mappings of any keys: settings that only a worker reads, taken as text."""

from __future__ import annotations

from lakeguard.registry.fields import Fields
from lakeguard.registry.nodes import Scalar
from lakeguard_sdk.definition import Details

_SHAPE = "{key: value}"


def read_details(fields: Fields, key: str) -> Details:
    """Texts, numbers and flags as they are written; a key without a value is a mistake."""
    block = fields.block_at(key, _SHAPE)
    if block is None:
        return {}
    details: Details = {}
    for name, scalar in block.keys.items():
        node = block.values[name]
        if not isinstance(node, Scalar):
            fields.wrong(node, name[:80], "write a single value")
        elif node.is_null:
            fields.wrong(scalar, name[:80], "write a value; quote an empty text")
        else:
            details[name] = node.value
    return details


def read_columns_named(fields: Fields, key: str) -> tuple[str, ...]:
    """A list of columns, each named once."""
    names: list[str] = []
    for node in fields.items(key):
        if not isinstance(node, Scalar) or not node.value.strip():
            fields.wrong(node, key, "write the name of a column")
        elif node.value in names:
            fields.wrong(node, key, f"{node.value[:80]} stands twice")
        else:
            names.append(node.value)
    return tuple(names)
