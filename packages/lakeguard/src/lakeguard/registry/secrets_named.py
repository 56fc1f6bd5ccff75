"""Secrets of a definition: names of ours, each with a reference to where its value lies."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.fields import Fields
from lakeguard.registry.nodes import Scalar
from lakeguard_sdk.definition import Details
from lakeguard_sdk.errors import BadName, SecretValue
from lakeguard_sdk.names import check_word
from lakeguard_sdk.secret_values import is_reference

_SHAPE = '{token: "env:TOKEN"}'


def read_secrets(fields: Fields) -> Details:
    """``{name: env:VARIABLE}``; a value that is no reference is refused and not shown."""
    block = fields.block_at("secrets", _SHAPE)
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
