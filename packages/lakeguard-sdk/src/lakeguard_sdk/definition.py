"""Definitions as data: what people write, checked and canonical. No ids, no environment."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lakeguard_sdk.canonical import content_hash, unordered_hash
from lakeguard_sdk.names import DatasetName, Word
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.schema import Column, DataType, TableSchema
from lakeguard_sdk.words import (
    Enforcement,
    Layer,
    LoadType,
    PolicyType,
    Severity,
    SourceFormat,
)


class SourceDefinition(Noun):
    source: Word
    format: SourceFormat
    path: str
    options: dict[str, str] = Field(default_factory=dict)
    active: bool = True


class ColumnDefinition(Noun):
    name: str
    type: DataType
    tags: tuple[str, ...] = ()
    description: str = ""


class RuleDefinition(Noun):
    """``expression`` is the canonical text of the rule's grammar, column named."""

    rule_id: str
    rule_type: str
    expression: str
    severity: Severity
    active: bool = True


class FromSource(Noun):
    build: Literal["source"] = "source"
    source: Word


class FromSql(Noun):
    """The SELECT itself, so that an applied definition needs no folder; ``file`` held it."""

    build: Literal["sql"] = "sql"
    file: str
    text: str


class DatasetDefinition(Noun):
    dataset: DatasetName
    domain: str
    owner: str
    description: str = ""
    active: bool = True
    parents: tuple[DatasetName, ...] = ()
    build: Annotated[FromSource | FromSql, Field(discriminator="build")]
    load: LoadType
    columns: tuple[ColumnDefinition, ...]
    rules: tuple[RuleDefinition, ...] = ()

    @property
    def declared(self) -> TableSchema:
        return TableSchema(columns=tuple(Column(name=c.name, type=c.type) for c in self.columns))


class PolicyDefinition(Noun):
    policy: Word
    applies_to_layer: Layer
    type: PolicyType
    expression: str
    enforcement: Enforcement = Enforcement.BLOCK
    active: bool = True


class Definitions(Noun):
    """Everything that a folder defines."""

    sources: tuple[SourceDefinition, ...] = ()
    datasets: tuple[DatasetDefinition, ...] = ()
    policies: tuple[PolicyDefinition, ...] = ()


def ruleset_hash(rules: tuple[RuleDefinition, ...]) -> str:
    """One hash of a rule set, whatever order the rules stand in."""
    return unordered_hash(rule.content_hash() for rule in rules)


def policyset_hash(policies: tuple[PolicyDefinition, ...]) -> str:
    return unordered_hash(policy.content_hash() for policy in policies)


def definition_hash(definition: DatasetDefinition) -> str:
    """Order-free in rules and tags; the order of columns and parents counts."""
    data = definition.to_data()
    data["rules"] = ruleset_hash(definition.rules)
    for column in data["columns"]:
        column["tags"] = sorted(column["tags"])
    return content_hash(data)
