"""Field-by-field differences between two revisions, for display in a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from lakeguard_sdk.core.enums import HashStrategy, Lifecycle, Severity
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definition,
    FromFrame,
    FromPython,
    FromSource,
    FromSql,
    Pending,
    RuleDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.plan import Change
from lakeguard_sdk.model.schema_changes import ColumnOrigin

_SINGULAR = {
    "options": "option",
    "details": "detail",
    "config": "config",
    "sources": "source",
    "secrets": "secret",
    "reactions": "reaction",
}
_LABELS = {
    "applies_to_layer": "applies_to",
    "applies_to_domain": "domain",
    "applies_to_tag": "tag",
}


def changes_between(before: Definition, after: Definition) -> tuple[Change, ...]:
    """Every difference between two definitions of the same kind."""
    if isinstance(before, DatasetDefinition) and isinstance(after, DatasetDefinition):
        return dataset_changes(before, after)
    return tuple(_differences(_words(before), _words(after)))


def dataset_changes(before: DatasetDefinition, after: DatasetDefinition) -> tuple[Change, ...]:
    return (
        *_differences(_dataset_words(before), _dataset_words(after)),
        *_sql_change(before.build, after.build),
        *_differences(_column_words(before.columns), _column_words(after.columns)),
        *_order_change(before.columns, after.columns),
        *_differences(_rule_words(before.rules), _rule_words(after.rules)),
    )


def rule_line(rule: RuleDefinition) -> str:
    """A rule as a plan shows it, without defaults."""
    severity = "" if rule.severity is Severity.FAIL else f" [{rule.severity}]"
    return f"{rule.expression}{severity}{'' if rule.active else ' [inactive]'}"


def _differences(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Change]:
    for field in [*before, *(key for key in after if key not in before)]:
        old, new = before.get(field), after.get(field)
        if old != new:
            yield Change(field=field, before=old, after=new)


def _words(definition: FrozenModel) -> dict[str, str]:
    """Display text by field; members of mappings and named items are separate."""
    words: dict[str, str] = {}
    for field in type(definition).model_fields:
        value, label = getattr(definition, field), _LABELS.get(field, field)
        if field == "kind":
            continue
        if isinstance(value, dict):
            words |= {f"{_SINGULAR[field]} {key}": value[key] for key in sorted(value)}
        elif isinstance(value, tuple) and value and isinstance(value[0], FrozenModel):
            words |= {f"{_SINGULAR[field]} {name}": text for name, text in _items(value)}
        else:
            words[label] = _word(value)
    return words


def _items(value: tuple[Any, ...]) -> Iterator[tuple[str, str]]:
    """Source mappings of a target, with their description."""
    for item in value:
        data = item.to_data()
        name = data.pop("source")
        parts = [data.pop("relationship"), data.pop("description")]
        parts.append("" if data.pop("active") else "inactive")
        yield name, ", ".join(filter(None, parts))


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _dataset_words(dataset: DatasetDefinition) -> dict[str, str]:
    words = {
        "dataset": dataset.dataset,
        "domain": dataset.domain,
        "owner": dataset.owner,
        "description": dataset.description,
        "active": _word(dataset.active),
        **({} if dataset.status is Lifecycle.ACTIVE else {"status": dataset.status}),
        "parents": ", ".join(dataset.parents),
        **_load_words(dataset.load),
        "schema profile": dataset.profile,
        **({"schema leave_out": ", ".join(dataset.leave_out)} if dataset.leave_out else {}),
        **({"profile every": dataset.profile_every} if dataset.profile_every else {}),
        "target": dataset.target or "",
        "location": dataset.location,
        "external_id": dataset.external_id,
        **{f"detail {key}": dataset.details[key] for key in sorted(dataset.details)},
    }
    match dataset.build:
        case FromSource(source=source, object=read, external_id=external) as build:
            behaviour = build.dq_fail_behavior
            more = {
                "object": read,
                "object external_id": external,
                "dq_enabled": "" if build.dq_enabled else "false",
                "dq_fail_behavior": behaviour.value if behaviour else "",
            }
            return {**words, "source": source, **{key: word for key, word in more.items() if word}}
        case FromSql(file=file):
            return {**words, "sql file": file}
        case FromPython(file=file, function=function, sha256=sha256):
            code = {"python file": file, "function": function, "python code": sha256[:12]}
            return {**words, **code}
        case FromFrame():
            return {**words, "frame": "published by a program"}
        case Pending():
            return {**words, "build": "pending"}


def _load_words(load: Load) -> dict[str, str]:
    return {
        "load": load.type,
        "load keys": ", ".join(load.keys),
        "load hash": "" if load.hash is HashStrategy.NONE else load.hash,
        "load watermark": load.watermark,
        "load partition_by": ", ".join(load.partition_by),
        **_less_common_words(load),
    }


def _less_common_words(load: Load) -> dict[str, str]:
    """Less common settings that differ from their defaults."""
    usual = Load(type=load.type).to_data()
    return {
        f"load {key}": ", ".join(map(str, value)) if isinstance(value, list) else _word(value)
        for key, value in load.to_data().items()
        if key not in ("type", "keys", "hash", "watermark", "partition_by") and value != usual[key]
    }


def _sql_change(before: FrozenModel, after: FrozenModel) -> Iterator[Change]:
    if not isinstance(before, FromSql) or not isinstance(after, FromSql):
        return
    if before.text == after.text:
        return
    old, new = before.text.splitlines(), after.text.splitlines()
    same = sum(block.size for block in SequenceMatcher(None, old, new).get_matching_blocks())
    changed = max(len(old), len(new)) - same
    yield Change(
        field="sql",
        before=f"{len(old)} lines",
        after=f"{len(new)} lines, {changed or 'line breaks'} changed",
    )


def _column_words(columns: tuple[ColumnDefinition, ...]) -> dict[str, str]:
    words: dict[str, str] = {}
    for column in columns:
        drifted = column.origin is ColumnOrigin.DRIFT
        words[f"column {column.name}"] = f"{column.type}{' (drift)' if drifted else ''}"
        if column.widened_from:
            words[f"column {column.name} widened_from"] = column.widened_from
        if not column.nullable:
            words[f"column {column.name} nullable"] = "false"
        if column.tags:
            words[f"column {column.name} tags"] = ", ".join(sorted(column.tags))
        if column.derived_from:
            made_of = ", ".join(column.derived_from)
            words[f"column {column.name} derived_from"] = f"{made_of}: {column.reason}"
        if column.clean:
            words[f"column {column.name} clean"] = column.clean
        if column.description:
            words[f"column {column.name} description"] = column.description
        for field in ("source_name", "source_type", "dq_severity", "dq_rule_set"):
            if value := getattr(column, field):
                words[f"column {column.name} {field}"] = str(value)
    return words


def _order_change(
    before: tuple[ColumnDefinition, ...], after: tuple[ColumnDefinition, ...]
) -> Iterator[Change]:
    """A change of order among the columns that both revisions have."""
    old, new = [c.name for c in before], [c.name for c in after]
    common_old = [name for name in old if name in set(new)]
    common_new = [name for name in new if name in set(old)]
    if common_old != common_new:
        yield Change(field="column order", before=", ".join(old), after=", ".join(new))


def _rule_words(rules: tuple[RuleDefinition, ...]) -> dict[str, str]:
    return {f"rule {rule.rule_id}": rule_line(rule) for rule in rules}
