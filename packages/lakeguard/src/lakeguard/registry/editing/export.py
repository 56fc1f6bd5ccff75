"""Exports definitions as files. Applying them again changes nothing; comments are lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.rules.compile import default_rule_id
from lakeguard.gate.rules.parse import read_rule
from lakeguard.registry.kinds import every
from lakeguard.registry.text.definition_positions import file_of
from lakeguard_sdk.core.enums import Lifecycle, LoadType, Severity
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definition,
    Definitions,
    FromFrame,
    FromPython,
    FromSource,
    FromSql,
    Pending,
    PolicyDefinition,
    RuleDefinition,
    SourceMapping,
    TargetDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.schema_changes import ColumnOrigin

_WIDTH = 100
_POLICY_KEYS = {
    "applies_to_layer": "applies_to",
    "applies_to_domain": "domain",
    "applies_to_tag": "tag",
}


def definition_files(definitions: Definitions) -> dict[str, str]:
    """File contents by path: one file per definition, and their SQL files."""
    sql = _SqlFiles()
    files = {
        file_of(definition): _yaml(_written(definition, sql)) for definition in every(definitions)
    }
    return {**files, **sql.texts}


class _SqlFiles:
    """SQL files under their original paths; one path never holds two texts."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def take(self, dataset: DatasetDefinition, build: FromSql) -> str:
        own = f"sql/{dataset.dataset.layer}/{dataset.dataset.name}.sql"
        for file in (build.file, own):
            if is_sql_path(file) and self.texts.setdefault(file, build.text) == build.text:
                return file
        file = own.removesuffix(".sql") + "_.sql"
        self.texts[file] = build.text
        return file


def is_sql_path(text: str) -> bool:
    """Whether the text is a path of a ``.sql`` file inside a project."""
    path = PurePosixPath(text)
    inside = not path.is_absolute() and ".." not in path.parts and "\\" not in text
    return inside and ":" not in text and text.isprintable() and path.suffix == ".sql"


def _written(definition: Definition, sql: _SqlFiles) -> dict[str, Any]:
    """The keys of a file, without defaults."""
    match definition:
        case DatasetDefinition():
            return _dataset(definition, sql)
        case TargetDefinition():
            data = _plain(definition)
            data["sources"] = [_mapping(mapping) for mapping in definition.sources]
            return _without_empty(data)
        case PolicyDefinition():
            data = _plain(definition)
            return {_POLICY_KEYS.get(key, key): value for key, value in data.items()}
        case _:
            return _plain(definition)


def _plain(definition: Definition) -> dict[str, Any]:
    """Fields that are written unchanged, without defaults."""
    kind = definition.kind
    fields = type(definition).model_fields
    data = definition.to_data()
    data.pop("kind")
    usual = {name: field.get_default(call_default_factory=True) for name, field in fields.items()}
    return {kind: data.pop(kind), **{k: v for k, v in data.items() if v not in (usual[k], [], "")}}


def _mapping(mapping: SourceMapping) -> dict[str, Any] | str:
    usual = SourceMapping(source=mapping.source).to_data()
    data = {k: v for k, v in mapping.to_data().items() if v != usual[k] or k == "source"}
    return _Flow(data) if len(data) > 1 else mapping.source


def _dataset(dataset: DatasetDefinition, sql: _SqlFiles) -> dict[str, Any]:
    required = {column.name for column in dataset.columns if _is_required(column, dataset.rules)}
    rules = [rule for rule in dataset.rules if _column_of(rule) not in required]
    return _without_empty(
        {
            "dataset": str(dataset.dataset),
            "renamed_from": None if dataset.renamed_from is None else str(dataset.renamed_from),
            "owner": dataset.owner,
            "domain": dataset.domain,
            "description": dataset.description,
            "active": None if dataset.active else False,
            "status": None if dataset.status is Lifecycle.ACTIVE else dataset.status.value,
            "parents": [str(parent) for parent in dataset.parents],
            **_build(dataset, sql),
            "load": _load(dataset.load),
            "schema": _schema(dataset),
            "profile": _profile(dataset),
            "target": dataset.target,
            "location": dataset.location,
            "external_id": dataset.external_id,
            "details": dict(dataset.details),
            "columns": {
                column.name: _column(column, column.name in required) for column in dataset.columns
            },
            "rules": [_rule(rule) for rule in rules],
        }
    )


def _build(dataset: DatasetDefinition, sql: _SqlFiles) -> dict[str, Any]:
    match dataset.build:
        case FromSource(source=source, object="", external_id=""):
            return {"source": source}
        case FromSource(source=source, object=read, external_id=external):
            keys = _without_empty({"name": source, "object": read, "external_id": external})
            return {"source": _Flow(keys)}
        case FromSql() as build:
            return {"build": _Flow(sql=sql.take(dataset, build))}
        case FromPython(file=file, function=function):
            return {"build": _Flow(python=f"{file}:{function}")}
        case FromFrame() | Pending() as build:
            return {"build": build.build}


def _profile(dataset: DatasetDefinition) -> dict[str, Any] | None:
    return _Flow(every=dataset.profile_every) if dataset.profile_every else None


def _schema(dataset: DatasetDefinition) -> dict[str, Any] | None:
    keys = {"profile": dataset.profile, "leave_out": list(dataset.leave_out)}
    plain = dataset.profile == "default" and not dataset.leave_out
    return None if plain else _Flow(_without_empty(keys))


def _load(load: Load) -> dict[str, Any] | None:
    """Settings that differ from the type's defaults; None for a plain FULL load."""
    if load == Load(type=LoadType.FULL):
        return None
    usual = Load(type=load.type).to_data()
    data = {key: value for key, value in load.to_data().items() if value != usual[key]}
    return _Flow(_without_empty({"type": load.type.value, **data}))


def _column(column: ColumnDefinition, required: bool) -> dict[str, Any]:
    data = {
        "type": column.type,
        "required": True if required else None,
        "nullable": None if column.nullable else False,
        "tags": list(column.tags),
        "description": column.description,
        "origin": None if column.origin is ColumnOrigin.DECLARED else column.origin.value,
        "widened_from": column.widened_from,
        "derived_from": list(column.derived_from),
        "reason": column.reason,
        "clean": column.clean,
    }
    return _Flow(_without_empty(data))


def _is_required(column: ColumnDefinition, rules: Iterable[RuleDefinition]) -> bool:
    return any(_column_of(rule) == column.name for rule in rules)


def _column_of(rule: RuleDefinition) -> str | None:
    """The column of a rule that ``required: true`` replaces."""
    name = rule.rule_id.removeprefix("not_null.")
    plain = rule.expression == f"not_null({column_text(name)})" and not rule.external_id
    return name if plain and rule.active and rule.severity is Severity.FAIL else None


def _rule(rule: RuleDefinition) -> dict[str, Any] | str:
    read = read_rule(rule.expression).rule
    limited = read.fail_if is not None or read.warn_if is not None
    options = {
        "id": None if rule.rule_id == default_rule_id(read) else rule.rule_id,
        "severity": None if limited or rule.severity is Severity.FAIL else rule.severity.value,
        "active": None if rule.active else False,
        "external_id": rule.external_id or None,
    }
    options = {key: value for key, value in options.items() if value is not None}
    return _Flow(rule=rule.expression, **options) if options else rule.expression


def _without_empty(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value not in (None, "", [], {})}


class _Flow(dict[str, Any]):
    """A mapping in flow style, on one line."""


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """Never write anchors, because the parser refuses them."""
        return True


def _represent_flow(dumper: _Dumper, data: _Flow) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", data.items(), flow_style=True)


def _represent_text(dumper: _Dumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text.strip("\n") and text == text.strip() else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(_Flow, _represent_flow)
_Dumper.add_representer(str, _represent_text)


def _yaml(data: dict[str, Any]) -> str:
    text: str = yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=_WIDTH,
    )
    return text
