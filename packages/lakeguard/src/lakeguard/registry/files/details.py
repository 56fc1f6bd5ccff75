"""Free-form mappings of text values, and secret references."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.text.fields import Fields
from lakeguard.registry.text.yaml_nodes import Scalar
from lakeguard_sdk.core.dataset_name import check_word
from lakeguard_sdk.errors import BadName, SecretValue
from lakeguard_sdk.model.definitions import Details
from lakeguard_sdk.security.secret_values import is_reference

_SHAPE = "{key: value}"


def read_details(fields: Fields, key: str) -> Details:
    """Values as written; a key without a value is an error."""
    block = fields.block_at(key, _SHAPE)
    if block is None:
        return {}
    details: Details = {}
    for name, scalar in block.keys.items():
        node = block.values[name]
        if not isinstance(node, Scalar):
            fields.wrong(node, name[:80], "write a single value")
        elif node.is_null:
            fields.wrong(scalar, name[:80], "write a value; quote an empty string")
        else:
            details[name] = node.value
    return details


def read_columns_named(fields: Fields, key: str) -> tuple[str, ...]:
    """A list of distinct column names."""
    names: list[str] = []
    for node in fields.items(key):
        if not isinstance(node, Scalar) or not node.value.strip():
            fields.wrong(node, key, "write a column name")
        elif node.value in names:
            fields.wrong(node, key, f"duplicate column {node.value[:80]}")
        else:
            names.append(node.value)
    return tuple(names)


# Secrets: names with a reference to where the value is stored.

_REFERENCE_SHAPE = '{token: "env:TOKEN"}'


def read_secrets(fields: Fields) -> Details:
    """``{name: env:VARIABLE}``; a value that is not a reference is refused and not shown."""
    block = fields.block_at("secrets", _REFERENCE_SHAPE)
    if block is None:
        return {}
    secrets: Details = {}
    for name, scalar in block.keys.items():
        node = block.values[name]
        if fields.as_word(scalar) is None:
            continue
        if not isinstance(node, Scalar):
            fields.wrong(node, name, "write a single value")
        elif not is_reference(node.value):
            fields.add(SecretValue(fields.document.place(node), key=name))
        else:
            secrets[name] = node.value
    return secrets


def secret_problems(secrets: Details) -> Iterator[tuple[str, str]]:
    """Problems of secret references, by name."""
    for name in secrets:
        try:
            check_word(name)
        except BadName:
            yield name, "a secret name must be lower snake case and start with a letter"
