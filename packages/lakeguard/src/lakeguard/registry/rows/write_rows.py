"""Converts definitions to table rows; loading them gives the same definitions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from lakeguard.registry.files.rules import is_required
from lakeguard.registry.macros import built_in_rules
from lakeguard.registry.rows.column_rules import Catalogue, column_rules
from lakeguard.registry.rows.control_rows import (
    ACTIVE_CONFIG,
    AS_CONFIG,
    AS_DETAIL,
    AS_SECRET,
    TARGET_FIELDS,
)
from lakeguard.registry.rows.ingestion_rows import SYSTEM_DETAILS
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

Written = dict[str, str | int | bool | None]
"""Values by column; absent columns are NULL."""
_QUOTED = re.compile(r'[",\r\n]')


def rows_of(
    definitions: Definitions, dataset_ids: Mapping[str, str] = MappingProxyType({})
) -> dict[str, list[Written]]:
    """Every loadable table, with its rows in definition order; ``dataset_ids`` by name."""
    found: dict[str, list[Written]] = {table: [] for table in TABLES}
    for table, row in _all_rows(definitions, dataset_ids):
        found[table].append(row)
    return found


def csv_files(
    definitions: Definitions, dataset_ids: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """CSV files by name; tables without rows have a header only."""
    return {
        f"{table}.csv": csv_text(TABLES[table], rows)
        for table, rows in rows_of(definitions, dataset_ids).items()
    }


def csv_text(columns: Sequence[str], rows: Iterable[Written]) -> str:
    lines = [",".join(columns)]
    lines += [",".join(_cell(row.get(column)) for column in columns) for row in rows]
    return "".join(f"{line}\n" for line in lines)


def _cell(value: str | int | bool | None) -> str:
    """NULL is empty, an empty string is two quotes."""
    if value is None:
        return ""
    text = ("TRUE" if value else "FALSE") if isinstance(value, bool) else str(value)
    return '"' + text.replace('"', '""') + '"' if not text or _QUOTED.search(text) else text


def _all_rows(
    definitions: Definitions, dataset_ids: Mapping[str, str]
) -> Iterator[tuple[str, Written]]:
    for profile in definitions.profiles:
        table = "schema_compatibility_rules"
        answers = {key.value: word.value for key, word in profile.reactions.items()}
        reactions: Written = {"reactions": json.dumps(answers) if answers else None}
        yield table, {"profile_name": profile.profile, **_rest(profile, table), **reactions}
    for rule in definitions.catalogue:
        table = "dq_rule_catalog"
        values: Written = {"rule_name": rule.rule, "rule_expression": rule.expression}
        yield table, {**values, **_rest(rule, table)}
    for policy in definitions.policies:
        table = "policy_rules"
        given = policy.external_id
        values = {"policy_id": given if clean_word(given) == policy.policy else policy.policy}
        values["policy_type"] = policy.type.value
        values["policy_expression"] = policy.expression
        yield table, {**values, **_rest(policy, table)}
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
        yield from _job(job, jobs[job.job])


def _rest(noun: FrozenModel, table: str) -> Written:
    """Fields with a column of the same name."""
    return {key: value for key, value in noun.to_data().items() if key in TABLES[table]}


def _ids(external: Mapping[str, str]) -> dict[str, str]:
    """The id of each row: the external id, unless it is also one of our names."""
    return {
        name: text if text and text not in external else name for name, text in external.items()
    }


def _source(source: SourceDefinition, row_id: str) -> Iterator[tuple[str, Written]]:
    named: Written = {"source_name": source.source, "external_id": source.external_id}
    values: Written = {"description": source.description, "owner": source.owner}
    yield "md_src_ctrl", {"source_id": row_id, "enabled": source.active, **named, **values}
    kind = source.source_type or source.format.value
    system: Written = {"source_system_id": row_id, "source_type": kind}
    known: Written = {name: source.details.get(name) for name in SYSTEM_DETAILS}
    yield "source_systems", {**system, "active": source.active, **named, **known}
    for name, value in source_details(source).items():
        yield "md_src_det", {"source_id": row_id, "detail_name": name, "detail_value": value}


def _target(
    target: TargetDefinition, row_id: str, sources: Mapping[str, str]
) -> Iterator[tuple[str, Written]]:
    yield (
        "md_tgt_ctrl",
        {
            "target_id": row_id,
            "location": target.location,
            "target_type": target.type,
            "zone": target.zone,
            "status": _status(target.active),
            "target_name": target.target,
            "description": target.description,
            "external_id": target.external_id,
        },
    )
    details = {"format": target.format.value, "partition_by": _list(target.partition_by)}
    details |= {"transform": target.transform, "url": target.url}
    details |= {f"{AS_SECRET}{name}": place for name, place in target.secrets.items()}
    reserved = {*TARGET_FIELDS, *(k.lower() for k in target.details if k.startswith(AS_SECRET))}
    free = {_free(key, reserved, AS_DETAIL): value for key, value in target.details.items()}
    for name, value in {**details, **free}.items():
        yield "md_tgt_det", {"target_id": row_id, "detail_name": name, "detail_value": value}
    for mapping in target.sources:
        yield (
            "md_src_tgt_ctrl",
            {
                "source_id": sources.get(mapping.source, mapping.source),
                "target_id": row_id,
                "relationship_type": mapping.relationship,
                "description": mapping.description,
                "enabled": mapping.active,
            },
        )


def _job(job: JobDefinition, row_id: str) -> Iterator[tuple[str, Written]]:
    yield (
        "md_jobs",
        {
            "job_id": row_id,
            "job_name": job.job,
            "description": job.description,
            "owner": job.owner,
            "job_type": job.type,
            "status": "ENABLED" if job.active else "DISABLED",
            "dataset_name": job.dataset,
            "title": job.title,
            "external_id": job.external_id,
        },
    )
    for name, value in job.details.items():
        yield "md_jobs_det", {"job_id": row_id, "detail_name": name, "detail_value": value}
    for name, value in job.config.items():
        switch = flag_of(value) if name == ACTIVE_CONFIG else True
        idle = switch is None or (job.active and not switch)
        written = f"{AS_CONFIG}{name}" if idle or name.startswith(AS_CONFIG) else name
        yield "md_jobconfig", {"job_id": row_id, "config_name": written, "config_value": value}


def _datasets(
    datasets: Sequence[DatasetDefinition],
    ids: Mapping[str, str],
    sources: Mapping[str, str],
    targets: Mapping[str, str],
    catalogue: Catalogue,
) -> Iterator[tuple[str, Written]]:
    objects = _ids(
        {
            item.dataset: item.build.external_id
            for item in datasets
            if isinstance(item.build, FromSource)
        }
    )
    for item in datasets:
        target = None if item.target is None else targets.get(item.target, item.target)
        named: Written = {"dataset_id": ids[item.dataset], "dataset_name": item.dataset}
        named["target_id"] = target
        yield "md_datasets", {**named, **_catalogue_row(item)}
        yield "dataset_registry", {**named, **_registry_row(item)}
        if isinstance(item.build, FromSource):
            row_id = objects[item.dataset]
            source = sources.get(item.build.source, item.build.source)
            yield "source_objects", {**_object_row(item, item.build), "source_object_id": row_id,
                                     "source_system_id": source}  # fmt: skip
            for position, column in enumerate(item.columns, 1):
                values = _column_row(column, item.rules)
                yield "source_object_columns", {
                    "source_object_id": row_id, "ordinal_position": position, **values,
                }  # fmt: skip
        elsewhere = {r.rule_id for c in item.columns for r in column_rules(item, c, catalogue)}
        for rule in item.rules:
            if rule.rule_id in elsewhere:
                continue
            yield "quality_rules", {**_rule_row(rule), "dataset_id": ids[item.dataset],
                                    "layer": item.dataset.layer.value}  # fmt: skip


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


def _rule_row(rule: RuleDefinition) -> Written:
    return {
        "rule_id": rule.external_id if rule.rule_id in rule_ids(rule.external_id) else rule.rule_id,
        "external_id": rule.external_id or None,
        "rule_type": rule.rule_type,
        "rule_expression": rule.expression,
        "severity": rule.severity.value,
        "active": rule.active,
    }


def _free(key: str, reserved: set[str], prefix: str) -> str:
    """Prefix a free-form name that is reserved."""
    return f"{prefix}{key}" if key.lower() in reserved or key.startswith(prefix) else key


def _list(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def _status(active: bool) -> str:
    return "ACTIVE" if active else "INACTIVE"
