"""Converts definitions to table rows; loading them gives the same definitions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from lakeguard.gate.rules.parse import read_rule
from lakeguard.registry.files.rules import is_required
from lakeguard.registry.kinds import Key, key_of
from lakeguard.registry.macros import built_in_rules
from lakeguard.registry.rows.column_rules import Catalogue, column_rules
from lakeguard.registry.rows.control_rows import ACTIVE_CONFIG, AS_CONFIG, target_details
from lakeguard.registry.rows.ingestion_rows import OBJECT_DETAILS, SYSTEM_DETAILS
from lakeguard.registry.rows.load_settings import code_row, load_settings_text
from lakeguard.registry.rows.registry_rows import rule_ids
from lakeguard.registry.rows.source_details import source_details
from lakeguard.registry.rows.tables import TABLES
from lakeguard.registry.rows.texts import clean_word
from lakeguard.registry.rows.vendor_types import column_type
from lakeguard.registry.text.characters import flag_of
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    JobDefinition,
    RuleDefinition,
    SourceDefinition,
    TargetDefinition,
)

Value = str | int | bool | None
Written = dict[str, Value]
"""Values by column; absent columns are NULL."""
_QUOTED = re.compile(r'[",\r\n]')


class WrittenRow(NamedTuple):
    """A row of a definition, with the same identity as the row that it could be loaded from."""

    definition: Key
    table: str
    member: tuple[str, ...]
    values: Written
    elsewhere: Mapping[str, Value] = MappingProxyType({})
    """Values that are written in other tables, and here only if a row gave them."""

    @property
    def known(self) -> dict[str, str | None]:
        """The texts of all columns, also of those that are written elsewhere."""
        return {name: cell_text(value) for name, value in {**self.elsewhere, **self.values}.items()}

    def text(self, column: str) -> str | None:
        """What is written."""
        return cell_text(self.values.get(column))

    def written_elsewhere(self) -> WrittenRow:
        """A row that is written only if it was given."""
        return self._replace(values={}, elsewhere={**self.elsewhere, **self.values})


def rows_of(
    definitions: Definitions, dataset_ids: Mapping[str, str] = MappingProxyType({})
) -> dict[str, list[Written]]:
    """Every loadable table, with its rows in definition order; ``dataset_ids`` by name."""
    return by_table(written_rows(definitions, dataset_ids))


def by_table(rows: Iterable[WrittenRow]) -> dict[str, list[Written]]:
    found: dict[str, list[Written]] = {table: [] for table in TABLES}
    for row in rows:
        if row.values:
            found[row.table].append(row.values)
    return found


def csv_files(tables: Mapping[str, Iterable[Written]]) -> dict[str, str]:
    """CSV files by name; tables without rows have a header only."""
    return {f"{table}.csv": csv_text(TABLES[table], rows) for table, rows in tables.items()}


def csv_text(columns: Sequence[str], rows: Iterable[Written]) -> str:
    lines = [",".join(columns)]
    lines += [",".join(_cell(row.get(column)) for column in columns) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def cell_text(value: Value) -> str | None:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return None if value is None else str(value)


def _cell(value: Value) -> str:
    """NULL is empty, an empty string is two quotes."""
    text = cell_text(value)
    if text is None:
        return ""
    return '"' + text.replace('"', '""') + '"' if not text or _QUOTED.search(text) else text


def written_rows(
    definitions: Definitions, dataset_ids: Mapping[str, str] = MappingProxyType({})
) -> Iterator[WrittenRow]:
    """Every row of every definition; ``dataset_ids`` by name."""
    yield from _named_kinds(definitions)
    sources = _ids({item.source: item.external_id for item in definitions.sources})
    targets = _ids({item.target: item.external_id for item in definitions.targets})
    datasets = _ids(
        {
            item.dataset: item.external_id or dataset_ids.get(item.dataset, "")
            for item in definitions.datasets
        }
    )
    for source in definitions.sources:
        yield from _source(source, sources[source.source])
    for target in definitions.targets:
        yield from _target(target, targets[target.target], sources)
    catalogue = {**built_in_rules(), **{rule.rule: rule for rule in definitions.catalogue}}
    yield from _datasets(definitions.datasets, datasets, sources, targets, catalogue)
    jobs = _ids({item.job: item.external_id for item in definitions.jobs})
    for job in definitions.jobs:
        yield from _job(job, jobs[job.job], datasets)


def _named_kinds(definitions: Definitions) -> Iterator[WrittenRow]:
    """Profiles, catalogue rules and policies, which are known by their names alone."""
    for profile in definitions.profiles:
        table = "schema_compatibility_rules"
        answers = {key.value: word.value for key, word in profile.reactions.items()}
        reactions: Written = {"reactions": json.dumps(answers) if answers else None}
        values: Written = {"profile_name": profile.profile, **_rest(profile, table), **reactions}
        yield WrittenRow(key_of(profile), table, (), values)
    for rule in definitions.catalogue:
        table = "dq_rule_catalog"
        values = {"rule_name": rule.rule, "rule_expression": rule.expression}
        yield WrittenRow(key_of(rule), table, (), {**values, **_rest(rule, table)})
    for policy in definitions.policies:
        table = "policy_rules"
        given = policy.external_id
        values = {"policy_id": given if clean_word(given) == policy.policy else policy.policy}
        values["policy_type"] = policy.type.value
        values["policy_expression"] = policy.expression
        yield WrittenRow(key_of(policy), table, (), {**values, **_rest(policy, table)})


def _rest(noun: FrozenModel, table: str) -> Written:
    """Fields with a column of the same name."""
    data = noun.to_data()
    return {name: data.get(name) for name in TABLES[table] if name in type(noun).model_fields}


def _ids(external: Mapping[str, str]) -> dict[str, str]:
    """The id of each row: the external id, unless it is also one of our names."""
    return {
        name: text if text and text not in external else name for name, text in external.items()
    }


def _source(source: SourceDefinition, row_id: str) -> Iterator[WrittenRow]:
    key = key_of(source)
    named: Written = {"source_name": source.source, "external_id": source.external_id}
    texts: Written = {"description": source.description, "owner": source.owner}
    control: Written = {"source_id": row_id, "enabled": source.active, **named, **texts}
    yield WrittenRow(key, "md_src_ctrl", (), control)
    kind = source.source_type or source.format.value
    system: Written = {"source_system_id": row_id, "source_type": kind, "active": source.active}
    known: Written = {name: source.details.get(name) for name in SYSTEM_DETAILS}
    elsewhere: Written = {"system_name": source.source, "path": source.path, **texts}
    yield WrittenRow(key, "source_systems", (), {**system, **named, **known}, elsewhere)
    for path, name, value in source_details(source):
        values: Written = {"source_id": row_id, "detail_name": name, "detail_value": value}
        yield WrittenRow(key, "md_src_det", path, values)


def _target(
    target: TargetDefinition, row_id: str, sources: Mapping[str, str]
) -> Iterator[WrittenRow]:
    key = key_of(target)
    values: Written = {
        "target_id": row_id,
        "location": target.location,
        "target_type": target.type,
        "zone": target.zone,
        "status": _status(target.active),
        "target_name": target.target,
        "description": target.description,
        "external_id": target.external_id,
    }
    yield WrittenRow(key, "md_tgt_ctrl", (), values)
    for path, name, value in target_details(target):
        values = {"target_id": row_id, "detail_name": name, "detail_value": value}
        yield WrittenRow(key, "md_tgt_det", path, values)
    for mapping in target.sources:
        values = {
            "source_id": sources.get(mapping.source, mapping.source),
            "target_id": row_id,
            "relationship_type": mapping.relationship,
            "description": mapping.description,
            "enabled": mapping.active,
        }
        yield WrittenRow(key, "md_src_tgt_ctrl", (mapping.source,), values)


def _job(job: JobDefinition, row_id: str, datasets: Mapping[str, str]) -> Iterator[WrittenRow]:
    key = key_of(job)
    values: Written = {
        "job_id": row_id,
        "job_name": job.job,
        "description": job.description,
        "owner": job.owner,
        "job_type": job.type,
        "status": "ENABLED" if job.active else "DISABLED",
        "dataset_name": job.dataset,
        "title": job.title,
        "external_id": job.external_id,
    }
    elsewhere: Written = {"dataset_id": datasets.get(job.dataset or "", job.dataset)}
    yield WrittenRow(key, "md_jobs", (), values, elsewhere)
    for name, value in job.details.items():
        values = {"job_id": row_id, "detail_name": name, "detail_value": value}
        yield WrittenRow(key, "md_jobs_det", (name,), values)
    for name, value in job.config.items():
        switch = flag_of(value) if name == ACTIVE_CONFIG else True
        idle = switch is None or (job.active and not switch)
        written = f"{AS_CONFIG}{name}" if idle or name.startswith(AS_CONFIG) else name
        values = {"job_id": row_id, "config_name": written, "config_value": value}
        yield WrittenRow(key, "md_jobconfig", (name,), values)


def _datasets(
    datasets: Sequence[DatasetDefinition],
    ids: Mapping[str, str],
    sources: Mapping[str, str],
    targets: Mapping[str, str],
    catalogue: Catalogue,
) -> Iterator[WrittenRow]:
    objects = _ids(
        {
            item.dataset: item.build.external_id
            for item in datasets
            if isinstance(item.build, FromSource)
        }
    )
    for item in datasets:
        key = key_of(item)
        target = None if item.target is None else targets.get(item.target, item.target)
        named: Written = {"dataset_id": ids[item.dataset], "dataset_name": item.dataset}
        named["target_id"] = target
        yield WrittenRow(key, "md_datasets", (), {**named, **_catalogue_row(item)})
        yield WrittenRow(key, "dataset_registry", (), {**named, **_registry_row(item)})
        if isinstance(item.build, FromSource):
            source = sources.get(item.build.source, item.build.source)
            yield from _object(item, item.build, objects[item.dataset], source, named)
        in_sets = {r.rule_id for c in item.columns for r in column_rules(item, c, catalogue)}
        for rule in item.rules:
            row = _rule(item, rule, ids[item.dataset])
            yield row.written_elsewhere() if rule.rule_id in in_sets else row


def _object(
    item: DatasetDefinition, build: FromSource, row_id: str, source: str, named: Written
) -> Iterator[WrittenRow]:
    key = key_of(item)
    values = {**_object_row(item, build), "source_object_id": row_id, "source_system_id": source}
    elsewhere: Written = {"dataset_id": named["dataset_id"], "target_id": named["target_id"]}
    elsewhere |= {"owner": item.owner, "domain": item.domain, "description": item.description}
    elsewhere |= {name: item.details.get(name) for name in OBJECT_DETAILS}
    yield WrittenRow(key, "source_objects", (), values, elsewhere)
    for position, column in enumerate(item.columns, 1):
        place: Written = {"source_object_id": row_id, "ordinal_position": position}
        values = {**place, **_column_row(column, item.rules)}
        yield WrittenRow(key, "source_object_columns", (column.name,), values)


def _catalogue_row(item: DatasetDefinition) -> Written:
    return {
        "database": item.domain,
        "schema": item.dataset.layer.value,
        "table_name": item.dataset.name,
        "status": item.status.value.upper() if item.active else _status(item.active),
        "external_id": item.external_id,
    }


def _registry_row(item: DatasetDefinition) -> Written:
    """Columns of ingested datasets are in ``source_object_columns``."""
    row: Written = {
        "domain": item.domain,
        "layer": item.dataset.layer.value,
        "owner": item.owner,
        "description": item.description,
        "active": item.active,
        "status": item.status.value,
        "external_id": item.external_id,
        "renamed_from": item.renamed_from,
        "parents": _list(item.parents),
        "details": json.dumps(item.details, ensure_ascii=False) if item.details else None,
        "load_settings": load_settings_text(item.load),
        "leave_out": _list(item.leave_out) if item.leave_out else None,
        "profile_every": item.profile_every or None,
        **_load_words(item),
        **code_row(item),
    }
    if not isinstance(item.build, FromSource):
        columns = [column.to_data() for column in item.columns]
        row["columns"] = json.dumps(columns, ensure_ascii=False)
    return row


def _load_words(item: DatasetDefinition) -> Written:
    return {
        "load_type": item.load.type.value,
        "hash_strategy": item.load.hash.value,
        "business_keys": _list(item.load.keys),
        "watermark_column": item.load.watermark,
        "partition_by": _list(item.load.partition_by),
        "schema_compat_profile": item.profile,
    }


def _object_row(item: DatasetDefinition, build: FromSource) -> Written:
    behaviour = build.dq_fail_behavior
    return {
        "object_name": build.object,
        "layer": item.dataset.layer.value,
        "dataset_name": item.dataset,
        "dq_enabled": build.dq_enabled,
        "dq_fail_behavior": None if behaviour is None else behaviour.value,
        "active": item.active,
        "external_id": build.external_id,
        **_load_words(item),
    }


def _column_row(column: ColumnDefinition, rules: tuple[RuleDefinition, ...]) -> Written:
    as_given = column_type(column.source_type) == column.type
    severity = column.dq_severity
    return {
        "column_name": column.source_name or column.name,
        "clean_name": column.name,
        "data_type": column.source_type if as_given else column.type,
        "dq_rule_set": column.dq_rule_set or None,
        "dq_severity": None if severity is None else severity.value,
        "is_nullable": not is_required(column.name, rules),
        "active": True,
        "tags": _list(column.tags),
        "description": column.description,
        "source_nullable": column.nullable,
        "origin": column.origin.value,
        "widened_from": column.widened_from,
        "derived_from": _list(column.derived_from),
        "reason": column.reason,
        "clean": column.clean,
    }


def _rule(item: DatasetDefinition, rule: RuleDefinition, dataset_id: str) -> WrittenRow:
    given = rule.external_id
    values: Written = {
        "rule_id": given if rule.rule_id in rule_ids(given) else rule.rule_id,
        "dataset_id": dataset_id,
        "layer": item.dataset.layer.value,
        "external_id": given or None,
        "rule_type": rule.rule_type,
        "rule_expression": rule.expression,
        "severity": rule.severity.value,
        "active": rule.active,
    }
    columns = read_rule(rule.expression).rule.columns
    elsewhere: Written = {"dataset_name": item.dataset, "column_name": ", ".join(columns)}
    return WrittenRow(key_of(item), "quality_rules", (rule.rule_id,), values, elsewhere)


def _list(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def _status(active: bool) -> str:
    return "ACTIVE" if active else "INACTIVE"
