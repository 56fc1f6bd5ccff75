"""Options of a source, by format."""

from __future__ import annotations

import json
from collections.abc import Callable

from lakeguard.registry.text.fields import Fields
from lakeguard.registry.text.yaml_nodes import Block, Items, Node, Scalar
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import CSV_ENCODINGS, SourceFormat
from lakeguard_sdk.errors import SecretValue, UnknownKey
from lakeguard_sdk.security.secret_values import is_sensitive_key, looks_secret
from lakeguard_sdk.types.plain_types import date_format, null_values

MOST_SLICES = 64
_LARGEST_FETCH = 1_000_000
_LONGEST_COLUMN = 255
_MOST_NULLS = 20


def _one_character(value: str) -> str | None:
    return None if len(value) == 1 else "write one character"


def _short(value: str) -> str | None:
    return None if len(value) <= 100 else "longer than 100 characters"


def _null_values(value: str) -> str | None:
    """One spelling, or several as a JSON list."""
    found = null_values(value)
    if len(set(found)) < len(found) or len(found) > _MOST_NULLS:
        return f"write at most {_MOST_NULLS} different texts"
    return next(filter(None, map(_short, found)), None)


def _formats(value: str) -> str | None:
    """Formats of dates and times by column, as canonical JSON."""
    try:
        found = json.loads(value)
        for text in found.values():
            date_format(text)
    except (ValueError, AttributeError, TypeError) as error:
        return f"write formats by column, such as {{day: dd/MM/yyyy}}: {error}"
    return None


def _encoding(value: str) -> str | None:
    known = {name.lower() for name in CSV_ENCODINGS}
    return None if value.lower() in known else f"write one of {', '.join(CSV_ENCODINGS)}"


def _column(value: str) -> str | None:
    named = 0 < len(value) <= _LONGEST_COLUMN and value == value.strip()
    return None if named else "write a column name"


def _whole_up_to(most: int) -> Callable[[str], str | None]:
    def problem_with(value: str) -> str | None:
        whole = value.isascii() and value.isdigit() and len(value) < 10
        return None if whole and 1 <= int(value) <= most else f"write a number from 1 to {most:,}"

    return problem_with


OPTIONS: dict[SourceFormat, dict[str, Callable[[str], str | None]]] = {
    SourceFormat.CSV: {
        "delimiter": _one_character,
        "quote": _one_character,
        "escape": _one_character,
        "null_value": _null_values,
        "formats": _formats,
        "file_name": _column,
        "arrived_at": _column,
        "encoding": _encoding,
    },
    SourceFormat.JSONL: {"encoding": _encoding},
    SourceFormat.PARQUET: {},
    SourceFormat.DELTA: {},
    SourceFormat.JDBC: {
        "slice_by": _column,
        "slices": _whole_up_to(MOST_SLICES),
        "fetch_size": _whole_up_to(_LARGEST_FETCH),
    },
    SourceFormat.OTHER: {},
}
"""Options by format, each with a check that returns the problem of a value."""


def read_options(fields: Fields, file_format: SourceFormat) -> dict[str, str]:
    """Options as written; errors are reported at the key or value."""
    block = fields.block_at("options", '{delimiter: ";"}')
    if block is None:
        return {}
    known = OPTIONS[file_format]
    options: dict[str, str] = {}
    for key, scalar in block.keys.items():
        node = block.values[key]
        if is_sensitive_key(key) or (isinstance(node, Scalar) and looks_secret(node.value)):
            fields.add(SecretValue(fields.document.place(scalar), key=key))
        elif key not in known:
            hint = did_you_mean(key, known)
            fields.add(UnknownKey(fields.document.place(scalar), key=key, hint=hint))
        else:
            options[key] = _option(fields, key, node, known[key])
    return options


def _option(fields: Fields, key: str, node: Node, problem_with: Callable[[str], str | None]) -> str:
    value = _value(key, node)
    if value is None:
        fields.wrong(node, key, "write a single value")
        return ""
    problem = problem_with(value)
    if problem:
        fields.wrong(node, key, problem)
    return value


def _value(key: str, node: Node) -> str | None:
    """Options are texts: a list of NULL spellings and formats by column are JSON."""
    match node:
        case Scalar(value=value):
            return value
        case Items(items=items) if key == "null_value":
            texts = [item.value for item in items if isinstance(item, Scalar)]
            return canonical_json(texts) if len(texts) == len(items) else None
        case Block(values=values) if key == "formats":
            given = {name: item.value for name, item in values.items() if isinstance(item, Scalar)}
            return canonical_json(given) if len(given) == len(values) else None
    return None
