"""Checks every text of a definition: length, characters and secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from lakeguard.gate.grammar.tokens import LONGEST_TEXT as LONGEST_RULE
from lakeguard.registry.text.characters import forbidden_character, look_alike
from lakeguard.registry.text.definition_positions import Locate
from lakeguard.registry.text.fields import LONGEST_DESCRIPTION, LONGEST_PATH, LONGEST_TEXT
from lakeguard.registry.text.sql_lexing import MAX_CHARACTERS
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import DefinitionError, Place, SecretValue, WrongValue
from lakeguard_sdk.model.definitions import DatasetDefinition, Definition, FromSql
from lakeguard_sdk.security.secret_values import (
    address_holds_secret,
    holds_secret,
    is_reference,
    is_sensitive_key,
    looks_secret,
)

LONGEST_TYPE = 20_000
"""A struct may have hundreds of fields."""

_LIMITS = {
    "description": LONGEST_DESCRIPTION,
    "expression": LONGEST_RULE,
    "type": LONGEST_TYPE,
    "text": MAX_CHARACTERS,
    "transform": MAX_CHARACTERS,
    "path": LONGEST_PATH,
    "url": LONGEST_PATH,
    "object": LONGEST_PATH,
    "file": LONGEST_PATH,
    "options": LONGEST_TEXT,
    "details": LONGEST_DESCRIPTION,
    "config": LONGEST_DESCRIPTION,
}
"""Limits by field that differ from ``LONGEST_TEXT``."""
_MANY_LINES = frozenset({"description", "text", "transform", "details", "config"})
_FREE_KEYS = frozenset({"options", "details", "config", "secrets"})
_VALUES = frozenset({"object", "external_id", *_FREE_KEYS})
_PLACES = frozenset({"url", "path", "location"})
"""Fields where random text is suspicious."""
_HARMLESS = 10
"""Shorter texts are never taken for a secret."""


def texts_of(noun: FrozenModel) -> Iterator[tuple[Path, str]]:
    """Every text with its path, including keys of mappings."""
    for field in type(noun).model_fields:
        yield from _texts((field,), getattr(noun, field))


def text_errors(definition: Definition, locate: Locate) -> Iterator[DefinitionError]:
    """Every text that is a secret, too long or not printable."""
    for path, text in texts_of(definition):
        field = _field(path)
        if len(text) <= _HARMLESS and field not in _VALUES and text.isprintable():
            continue
        secret = _is_secret(field, path, text)
        problem = None if secret else _problem(field, path, text)
        if problem is None and not secret:
            continue
        at = written_path(definition, path)
        place = _sql_place(definition, path) or locate(definition, at)
        key = str(at[-1]) if isinstance(at[-1], str) else str(at[0])
        if problem is None:
            yield SecretValue(place, key=key, at=list(at))
        else:
            yield WrongValue(place, key=key[:80], problem=problem, hint="", at=list(at))
    yield from _twin_keys(definition, locate)


def written_path(definition: Definition, path: Path) -> Path:
    """Convert a path in the model to the path in the YAML file."""
    if not isinstance(definition, DatasetDefinition):
        return ("applies_to",) if path == ("applies_to_layer",) else path
    match path:
        case ("columns", int(index), *rest):
            return ("columns", definition.columns[index].name, *rest)
        case ("build", "file" | "text" | "function" | "sha256"):
            return ("build", definition.build.build)
        case ("build", "source"):
            return ("source", "name")
        case ("build", field):
            return ("source", field)
        case ("profile",):
            return ("schema", "profile")
    return path


def _texts(path: Path, value: Any) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str) and not isinstance(value, Enum):
        yield path, value
    elif isinstance(value, FrozenModel):
        for field in type(value).model_fields:
            yield from _texts((*path, field), getattr(value, field))
    elif isinstance(value, Mapping):
        for key, text in value.items():
            yield (*path, key), text
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _texts((*path, index), item)


def _field(path: Path) -> str:
    """The field of a text; for a member of a mapping, the mapping."""
    if path[0] in _FREE_KEYS:
        return str(path[0])
    last = path[-1]
    if isinstance(last, str):
        return last
    return next(str(step) for step in reversed(path) if isinstance(step, str))


def _is_secret(field: str, path: Path, text: str) -> bool:
    if field in _FREE_KEYS:
        key = str(path[1])
        if field == "secrets" and not is_reference(text):
            return True
        if holds_secret(key) or (is_sensitive_key(key) and not is_reference(text)):
            return True
        return not is_reference(text) and looks_secret(text)
    if field in _PLACES:
        return address_holds_secret(text)
    return looks_secret(text) if field in _VALUES else holds_secret(text)


def _problem(field: str, path: Path, text: str) -> str | None:
    limit = _LIMITS.get(field, LONGEST_TEXT)
    if field in _FREE_KEYS:
        key = str(path[1])
        if not key.strip() or key != key.strip() or not key.isprintable():
            return "a key must be printable and not begin or end with a space"
        if len(key) > LONGEST_TEXT:
            return f"a key has at most {LONGEST_TEXT} characters"
    if len(text) > limit:
        return f"longer than {limit:,} characters"
    if forbidden_character(text) or "\0" in text:
        return "contains a non-printable character"
    if field == "options":  # a tab is a valid delimiter
        text = text.replace("\t", " ")
    if field not in _MANY_LINES and text and not text.isprintable():
        return "write it on one line"
    return None


def _twin_keys(definition: Definition, locate: Locate) -> Iterator[DefinitionError]:
    """Easily confused keys of one mapping."""
    for field in _FREE_KEYS:
        seen: dict[str, str] = {}
        for key in getattr(definition, field, {}):
            twin = seen.setdefault(look_alike(key), key)
            if twin != key:
                at = (field, key)
                problem = f"{key[:80]!r} and {twin[:80]!r} are easily confused"
                place = locate(definition, at)
                yield WrongValue(place, key=field, problem=problem, hint="", at=list(at))


def _sql_place(definition: Definition, path: Path) -> Place | None:
    if path == ("build", "text") and isinstance(definition, DatasetDefinition):
        build = definition.build
        return Place(file=build.file) if isinstance(build, FromSql) else None
    return None
