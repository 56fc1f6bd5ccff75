"""Definitions for adopted tables: the existing one, or one proposed from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.insight.suggestions import Suggestion
from lakeguard.registry.load_folder import load_folder
from lakeguard.services.definition_errors import with_source_lines
from lakeguard.services.draft_rules import defined
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromFrame,
    RuleDefinition,
)
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.source_preview import SourcePreview
from lakeguard_sdk.model.table_operations import AdoptableTable


def definition_of(folder: Path, client: Client, name: DatasetName) -> DatasetDefinition | None:
    """The dataset's definition in the project's files, else in the registry, else None."""
    known = client.registry.definitions().datasets
    if (folder / "definitions" / name.layer / f"{name.name}.yaml").exists():
        with with_source_lines(folder):
            known = load_folder(folder).datasets
    return next((item for item in known if item.dataset == name), None)


def register(folder: Path, client: Client, name: DatasetName) -> None:
    """Applies only this dataset's definition, not other pending changes."""
    definition = definition_of(folder, client, name)
    if definition is not None:
        with with_source_lines(folder):
            plan = client.registry.plan(Definitions(datasets=(definition,)))
            client.registry.apply(plan)


def proposed_definition(
    name: DatasetName,
    table: AdoptableTable,
    sketch: SourcePreview,
    *,
    owner: str,
    domain: str,
    suggested: Sequence[Suggestion] = (),
) -> DatasetDefinition:
    """Columns and partitions of the table, and rules that all of its rows satisfy.

    The dataset is built by programs that append rows, until the definition is changed.
    """
    return DatasetDefinition(
        dataset=name,
        owner=owner,
        domain=domain,
        build=FromFrame(),
        load=Load(type=LoadType.APPEND, partition_by=table.partition_by),
        location=table.location,
        columns=tuple(
            ColumnDefinition(name=column.name, type=column.type)
            for column in table.table_schema.columns
        ),
        rules=(*basic_rules(sketch), *map(defined, suggested)),
    )


def basic_rules(sketch: SourcePreview) -> Iterator[RuleDefinition]:
    """Rules that need no profile: not-null columns, the key, at least one row."""
    if not sketch.rows:
        return
    for column in sketch.columns:
        if not column.nulls:
            yield _rule(f"not_null({column_text(column.name)})")
    if sketch.keys:
        yield _rule(f"unique({', '.join(map(column_text, sketch.keys))})")
    yield _rule("row_count(min=1)")


def _rule(text: str) -> RuleDefinition:
    return define_rule(parse_rule(text), rule_id=None, severity=None)
