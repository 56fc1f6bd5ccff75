"""Mappings of any keys: settings that only a worker reads, taken as text."""

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


# Secrets of a definition: names of ours, each with a reference to where its value lies.

_REFERENCE_SHAPE = '{token: "env:TOKEN"}'


def read_secrets(fields: Fields) -> Details:
    """``{name: env:VARIABLE}``; a value that is no reference is refused and not shown."""
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
    """What is wrong with secrets that are references, by name."""
    for name, reference in secrets.items():
        try:
            check_word(name)
        except BadName:
            yield name, "a secret's name is lower snake case, with a letter first"
        if reference.startswith("secret:"):
            yield name, "write env:NAME or file:PATH; no other store can be asked yet"
