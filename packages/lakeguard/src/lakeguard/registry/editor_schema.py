"""``docs/definitions.schema.json``, for editors: ``python -m lakeguard.registry.editor_schema``.

Made from the keys and words that the readers of files accept. It knows the structure of a file
and nothing of its meaning: what passes here may still be refused by ``lakeguard validate``, but
no file that LakeGuard accepts is marked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from lakeguard.gate.schema_profiles import POSSIBLE
from lakeguard.registry import (
    builds,
    catalogue,
    columns,
    datasets,
    jobs,
    loads,
    policies,
    profiles,
    rules,
    source_options,
    sources,
    targets,
)
from lakeguard.registry.job_controls import KEYS, MARK
from lakeguard_sdk.definition import PROFILE_EVERY
from lakeguard_sdk.job import CatchUp, Overlap
from lakeguard_sdk.schema import TYPE_WORDS
from lakeguard_sdk.schema_words import ColumnOrigin
from lakeguard_sdk.words import (
    BUILT_IN_PROFILES,
    Deletes,
    Enforcement,
    HashStrategy,
    LateRows,
    Layer,
    LoadType,
    Malformed,
    NullWatermark,
    PolicyType,
    Severity,
    SourceFormat,
    TargetFormat,
)

Schema = dict[str, Any]

_NAME = "[a-z][a-z0-9_]{0,127}"
_LAYERS = "|".join(layer.value for layer in Layer)
_SCALARS = ["string", "number", "boolean"]
_TEXT: Schema = {"type": _SCALARS}
"""Text is what is written: an editor takes 101 for a number and no for a flag."""
_FLAG: Schema = {"type": "boolean"}
_WORD: Schema = {"type": ["string", "boolean"], "pattern": f"^{_NAME}$"}
_DATASET: Schema = {"type": "string", "pattern": f"^({_LAYERS})\\.{_NAME}$"}
_COLUMN_NAMES: Schema = {"type": "array", "items": _TEXT, "uniqueItems": True}
_MAPPING: Schema = {"type": "object", "additionalProperties": _TEXT}
_SECRETS: Schema = {
    "type": "object",
    "propertyNames": {"pattern": f"^{_NAME}$"},
    "additionalProperties": {"type": "string", "pattern": "^(env|file):"},
}
_PROFILE: Schema = {"type": "string", "examples": list(BUILT_IN_PROFILES)}
_EVERY: Schema = {"type": "string", "pattern": PROFILE_EVERY, "examples": ["version", "1d"]}


def editor_schema() -> str:
    """The file's text, the same bytes each time for the same rules."""
    kinds = {
        "dataset": _dataset(),
        "source": _source(),
        "target": _target(),
        "job": _job(),
        "policy": _policy(),
        "profile": _profile(),
        "rule": _catalogue_rule(),
    }
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "LakeGuard definition",
        "description": "One definition file, of whatever kind.",
        "type": "object",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in kinds],
        "$defs": kinds,
    }
    return json.dumps(schema, indent=2) + "\n"


def _mapping(keys: Sequence[str], needed: Iterable[str], values: Mapping[str, Schema]) -> Schema:
    """Exactly these keys; those that are not needed may stand without a value."""
    if set(keys) != set(values):
        raise ValueError(f"not described: {sorted(set(keys) ^ set(values))}")
    required = list(needed)
    described = {key: values[key] if key in required else _or_null(values[key]) for key in keys}
    return {
        "type": "object",
        "properties": described,
        "required": required,
        "additionalProperties": False,
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _either(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


def _one_of(words: type[StrEnum], *others: str) -> Schema:
    return {"enum": [*(word.value for word in words), *others]}


def _dataset() -> Schema:
    values = {
        "dataset": _DATASET,
        "renamed_from": _DATASET,
        **dict.fromkeys(("owner", "domain", "description", "external_id", "location"), _TEXT),
        "active": _FLAG,
        "parents": {"type": "array", "items": _DATASET, "uniqueItems": True},
        "source": _either(_WORD, _read_source()),
        "build": _build(),
        "load": _load(),
        "schema": _mapping(
            datasets.SCHEMA_KEYS, ["profile"], {"profile": _PROFILE, "leave_out": _COLUMN_NAMES}
        ),
        "profile": _mapping(datasets.PROFILE_KEYS, ["every"], {"every": _EVERY}),
        "target": _WORD,
        "columns": {"type": "object", "minProperties": 1, "additionalProperties": _column()},
        "rules": _rules(),
        "details": _MAPPING,
    }
    schema = _mapping(datasets.KEYS, ["dataset", "owner", "domain", "columns"], values)
    return {**schema, "oneOf": [{"required": ["source"]}, {"required": ["build"]}]}


def _build() -> Schema:
    """Exactly one kind of code, or a program that brings the rows."""
    values = {
        "sql": {"type": "string", "pattern": "\\.sql$"},
        "python": {"type": "string", "pattern": "\\.py:[^:]+$"},
    }
    code = {**_mapping(builds.BUILD_KEYS, [], values), "minProperties": 1}
    return _either({"const": builds.FRAME}, code)


def _read_source() -> Schema:
    values = {"name": _WORD, "object": _TEXT, "external_id": _TEXT}
    return _mapping(builds.SOURCE_KEYS, ["name"], values)


def _load() -> Schema:
    kinds = _one_of(LoadType, *loads.ALIASES)
    values = {
        "type": kinds,
        "hash": _one_of(HashStrategy),
        "null_watermark": _one_of(NullWatermark),
        "late": _one_of(LateRows),
        "deletes": _one_of(Deletes),
        **dict.fromkeys(("keys", "order_by", "partition_by"), _COLUMN_NAMES),
        **dict.fromkeys(("watermark", "lag", "operation", "effective"), _TEXT),
        **dict.fromkeys(("inclusive", "allow_empty", "skip_unchanged"), _FLAG),
    }
    return _either(kinds, _mapping(loads.KEYS, ["type"], values))


def _column() -> Schema:
    written = [word for word in TYPE_WORDS if word.isidentifier()]
    nested = rf"^\s*({'|'.join(map(_any_case, ('array', 'map', 'struct')))})\s*<[^\n]+>\s*$"
    sized = r"^\s*[dD][eE][cC][iI][mM][aA][lL]\(\s*[0-9]{1,2}\s*,\s*[0-9]{1,2}\s*\)\s*$"
    values = {
        "type": _either(
            {"enum": written},
            {"type": "string", "pattern": sized},
            {"type": "string", "pattern": nested},
            {"type": "string", "pattern": rf"^\s*({'|'.join(map(_any_case, written))})\s*$"},
        ),
        "required": _FLAG,
        "nullable": _FLAG,
        "origin": _one_of(ColumnOrigin),
        "widened_from": {"type": "string"},
        "tags": {"type": "array", "items": _WORD, "uniqueItems": True},
        "description": _TEXT,
        "rules": _rules(),
    }
    return _mapping(columns.KEYS, ["type"], values)


def _any_case(word: str) -> str:
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in word)


def _rules() -> Schema:
    values = {
        "rule": {"type": "string"},
        "id": {"type": "string", "pattern": "^[a-z][a-z0-9_.-]{0,199}$"},
        "severity": _one_of(Severity),
        "active": _FLAG,
    }
    entry = _mapping(rules.KEYS, ["rule"], values)
    return {"type": "array", "items": _either({"type": "string"}, entry)}


def _source() -> Schema:
    values = {
        "source": _WORD,
        "format": _one_of(SourceFormat),
        "secrets": _SECRETS,
        "header": _COLUMN_NAMES,
        "malformed": _one_of(Malformed),
        **dict.fromkeys(("options", "details"), _MAPPING),
        **dict.fromkeys(("landing", "active"), _FLAG),
        **dict.fromkeys(("path", "url", "owner", "description", "external_id"), _TEXT),
    }
    schema = _mapping(sources.KEYS, ["source", "format"], values)
    place = [{"required": ["path"]}, {"required": ["url"]}]
    return {**schema, "anyOf": place, "allOf": [_options(form) for form in SourceFormat]}


def _options(form: SourceFormat) -> Schema:
    """Which options there are depends on the format."""
    known = dict.fromkeys(source_options.OPTIONS[form], _TEXT)
    options = {"type": "object", "properties": known, "additionalProperties": False}
    return {
        "if": {"properties": {"format": {"const": form.value}}, "required": ["format"]},
        "then": {"properties": {"options": _or_null(options)}},
    }


def _target() -> Schema:
    mapping = _mapping(
        targets.MAPPING_KEYS,
        ["source"],
        {"source": _WORD, "relationship": _WORD, "description": _TEXT, "active": _FLAG},
    )
    values = {
        **dict.fromkeys(("target", "zone", "type"), _WORD),
        **dict.fromkeys(("location", "url", "transform", "description", "external_id"), _TEXT),
        "format": _one_of(TargetFormat),
        "secrets": _SECRETS,
        "partition_by": _COLUMN_NAMES,
        "sources": {"type": "array", "items": _either(_WORD, mapping)},
        "details": _MAPPING,
        "active": _FLAG,
    }
    return _mapping(targets.KEYS, ["target", "location", "zone"], values)


def _job() -> Schema:
    values = {
        **dict.fromkeys(("job", "type"), _WORD),
        "dataset": _DATASET,
        **dict.fromkeys(("title", "owner", "description", "external_id"), _TEXT),
        "details": _MAPPING,
        "config": _config(),
        "active": _FLAG,
    }
    return _mapping(jobs.KEYS, ["job"], values)


def _config() -> Schema:
    """Keys of ours, and any of other systems, which have a ``#`` in their names."""
    said: dict[str, Schema] = {
        **dict.fromkeys(KEYS, _TEXT),
        "catch_up": _one_of(CatchUp),
        "overlap": _one_of(Overlap),
    }
    return {
        "type": "object",
        "properties": said,
        "patternProperties": {MARK: _TEXT},
        "additionalProperties": False,
    }


def _policy() -> Schema:
    values = {
        "policy": _WORD,
        "applies_to": _one_of(Layer),
        "domain": _TEXT,
        "tag": _WORD,
        "type": _one_of(PolicyType),
        "expression": _TEXT,
        "enforcement": _one_of(Enforcement),
        "active": _FLAG,
    }
    return _mapping(policies.KEYS, ["policy", "type", "expression"], values)


def _profile() -> Schema:
    answers = {
        "type": "object",
        "properties": {
            spelled: {"enum": [word.value for word in possible]}
            for change, possible in POSSIBLE.items()
            for spelled in (change.value, change.value.lower())
            if len(possible) > 1
        },
        "additionalProperties": False,
    }
    values = {"profile": _WORD, "description": _TEXT, "active": _FLAG, "reactions": answers}
    return _mapping(profiles.KEYS, ["profile"], {**values, **dict.fromkeys(profiles.FLAGS, _FLAG)})


def _catalogue_rule() -> Schema:
    values = {
        "rule": _WORD,
        "expression": _TEXT,
        "severity": _one_of(Severity),
        "description": _TEXT,
        "active": _FLAG,
    }
    return _mapping(catalogue.KEYS, ["rule", "expression"], values)


if __name__ == "__main__":
    sys.stdout.write(editor_schema())
