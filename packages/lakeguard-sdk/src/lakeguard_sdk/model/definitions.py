"""Definitions as data: what people write, checked and canonical. No ids of ours, no environment.

``external_id`` is the id under which another system's rows name the same thing; ``details`` are
settings that only a worker reads, any key, secrets by reference.
"""

from __future__ import annotations

from typing import Annotated, Literal
from weakref import ref

from pydantic import Field

from lakeguard_sdk.core.canonical_json import data_hash, unordered_hash
from lakeguard_sdk.core.dataset_name import DatasetName, Word
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    Malformed,
    PolicyType,
    Severity,
    SourceFormat,
    TargetFormat,
)
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.model.load import LoadField, load_columns
from lakeguard_sdk.model.schema_changes import ColumnOrigin, Reaction, SchemaChange
from lakeguard_sdk.types.schema import Column, DataType, TableSchema

Details = dict[str, str]


class SourceDefinition(Noun):
    """A place that data comes from; datasets name the object in it that they read."""

    kind: Literal["source"] = "source"
    source: Word
    format: SourceFormat
    path: str = ""
    """Files: a glob. Empty where ``url`` says where to read."""
    url: str = ""
    """``https://`` to download from, ``{name}`` filled from ``secrets``; ``jdbc:`` to query."""
    secrets: Details = Field(default_factory=dict)
    """References such as ``env:TOKEN``, resolved where the data is read and nowhere else."""
    options: dict[str, str] = Field(default_factory=dict)
    header: tuple[str, ...] = ()
    """The header that every file must have, exactly; empty: whatever the files say."""
    malformed: Malformed = Malformed.REFUSE
    landing: bool = False
    """Whether files are kept as received, below the lake's ``landing`` folder."""
    external_id: str = ""
    description: str = ""
    owner: str = ""
    details: Details = Field(default_factory=dict)
    active: bool = True


class SourceMapping(Noun):
    """The arrow from a source to a target that what reads the one may write to the other."""

    source: Word
    relationship: Word = "ingestion"
    description: str = ""
    active: bool = True


class TargetDefinition(Noun):
    """Where tables lie and how they are written: ``<location>/<layer>/<name>``."""

    kind: Literal["target"] = "target"
    target: Word
    location: str
    type: Word = "folder"
    zone: Word
    format: TargetFormat = TargetFormat.DELTA
    url: str = ""
    """``postgresql://host/database`` for tables that follow there; no user, no password."""
    secrets: Details = Field(default_factory=dict)
    """References for ``user`` and ``password``, resolved where the data is written."""
    partition_by: tuple[str, ...] = ()
    transform: str = ""
    """A SELECT over ``batch``, applied to what was extracted; empty: as it came."""
    sources: tuple[SourceMapping, ...] = ()
    external_id: str = ""
    description: str = ""
    details: Details = Field(default_factory=dict)
    active: bool = True


class JobDefinition(Noun):
    """A named workload with its settings; at most one job builds a dataset."""

    kind: Literal["job"] = "job"
    job: Word
    title: str = ""
    description: str = ""
    owner: str = ""
    type: Word = "build"
    dataset: DatasetName | None = None
    details: Details = Field(default_factory=dict)
    config: Details = Field(default_factory=dict)
    external_id: str = ""
    active: bool = True


class ProfileDefinition(Noun):
    """Which differences of a schema are compatible."""

    kind: Literal["profile"] = "profile"
    profile: Word
    allow_column_drop: bool = False
    allow_type_widen: bool = True
    allow_type_narrow: bool = False
    allow_nullable_change: bool = True
    auto_add_columns: bool = True
    reactions: dict[SchemaChange, Reaction] = Field(
        default_factory=dict, exclude_if=lambda said: not said
    )
    """Answers of its own to some classes of difference, whatever its flags say."""
    description: str = ""
    active: bool = True


class CatalogueRule(Noun):
    """A rule by name: ``expression`` is rule text in which ``{column}`` and ``{parameter}``
    are filled in where it is used."""

    kind: Literal["rule"] = "rule"
    rule: Word
    expression: str
    severity: Severity = Severity.FAIL
    description: str = ""
    active: bool = True


class ColumnDefinition(Noun):
    name: str
    type: DataType
    tags: tuple[str, ...] = ()
    description: str = ""
    nullable: bool = Field(default=True, exclude_if=lambda may_be: may_be)
    """False where the source itself is to promise that there is no NULL."""
    origin: ColumnOrigin = Field(
        default=ColumnOrigin.DECLARED, exclude_if=lambda origin: origin is ColumnOrigin.DECLARED
    )
    widened_from: str = Field(default="", exclude_if=lambda said: not said)
    """The type that a person declared, where a run accepted a wider one since."""


class RuleDefinition(Noun):
    """``expression`` is the canonical text of the rule's grammar, column named."""

    rule_id: str
    rule_type: str
    expression: str
    severity: Severity
    active: bool = True


class FromSource(Noun):
    """Reads ``object`` of a source, a path below the source's own; empty: all of the source."""

    build: Literal["source"] = "source"
    source: Word
    object: str = ""
    external_id: str = ""


class FromSql(Noun):
    """The SELECT itself, so that an applied definition needs no folder; ``file`` held it."""

    build: Literal["sql"] = "sql"
    file: str
    text: str


class FromPython(Noun):
    """A function ``(spark, inputs) -> DataFrame``; the run refuses a file with other bytes."""

    build: Literal["python"] = "python"
    file: str
    """The module's file, below the project's folder."""
    function: str
    sha256: str


class FromFrame(Noun):
    """Rows come from a program that publishes a frame, and not from a run of ours."""

    build: Literal["frame"] = "frame"


PROFILE_EVERY = r"^(version|[1-9][0-9]{0,5}[smhdw])?$"


class DatasetDefinition(Noun):
    kind: Literal["dataset"] = "dataset"
    dataset: DatasetName
    renamed_from: DatasetName | None = None
    domain: str
    owner: str
    description: str = ""
    active: bool = True
    parents: tuple[DatasetName, ...] = ()
    build: Annotated[FromSource | FromSql | FromPython | FromFrame, Field(discriminator="build")]
    load: LoadField
    profile: Word = "default"
    leave_out: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Columns of the source that never get into the table, whatever the profile says."""
    profile_every: str = Field(default="", pattern=PROFILE_EVERY, exclude_if=lambda said: not said)
    """When a profile of what is published is taken: ``version``, or a length of time; or never."""
    target: Word | None = None
    columns: tuple[ColumnDefinition, ...]
    rules: tuple[RuleDefinition, ...] = ()
    external_id: str = ""
    details: Details = Field(default_factory=dict)
    location: str = Field(default="", exclude_if=lambda value: not value)
    """Where its table lies, outside of the lake; empty: where its target or its name says."""

    @property
    def declared(self) -> TableSchema:
        """What a batch brings."""
        return TableSchema(columns=tuple(Column(name=c.name, type=c.type) for c in self.columns))

    @property
    def table_schema(self) -> TableSchema:
        """What the table has: the declared columns, then those that the load writes."""
        return TableSchema(columns=self.declared.columns + load_columns(self.load))


class PolicyDefinition(Noun):
    """For the datasets of a layer, of a domain, or with a column that carries a tag; where several
    are given all must hold, and where none is given it is for every dataset."""

    kind: Literal["policy"] = "policy"
    policy: Word
    applies_to_layer: Layer | None = None
    applies_to_domain: str = Field(default="", exclude_if=lambda value: not value)
    applies_to_tag: str = Field(default="", exclude_if=lambda value: not value)
    type: PolicyType
    expression: str
    enforcement: Enforcement = Enforcement.BLOCK
    active: bool = True


Definition = Annotated[
    SourceDefinition
    | TargetDefinition
    | JobDefinition
    | ProfileDefinition
    | CatalogueRule
    | DatasetDefinition
    | PolicyDefinition,
    Field(discriminator="kind"),
]


class Definitions(Noun):
    """Everything that a folder, or a set of rows, defines."""

    profiles: tuple[ProfileDefinition, ...] = ()
    catalogue: tuple[CatalogueRule, ...] = ()
    sources: tuple[SourceDefinition, ...] = ()
    targets: tuple[TargetDefinition, ...] = ()
    datasets: tuple[DatasetDefinition, ...] = ()
    policies: tuple[PolicyDefinition, ...] = ()
    jobs: tuple[JobDefinition, ...] = ()


def ruleset_hash(rules: tuple[RuleDefinition, ...]) -> str:
    """One hash of a rule set, whatever order the rules stand in."""
    return unordered_hash(rule.content_hash() for rule in rules)


def policyset_hash(policies: tuple[PolicyDefinition, ...]) -> str:
    return unordered_hash(policy.content_hash() for policy in policies)


_hashes: dict[int, tuple[ref[DatasetDefinition], str]] = {}
"""Of definitions that are alive, by identity: a noun never changes, so neither does its hash."""


def definition_hash(definition: DatasetDefinition) -> str:
    """Order-free in rules and tags; the order of columns and parents counts.

    What a dataset was called before is history, not part of what it is. Worked out once.
    """
    known = _hashes.get(id(definition))
    if known is not None and known[0]() is definition:
        return known[1]
    data = definition.to_data()
    del data["renamed_from"]
    data["rules"] = unordered_hash(data_hash(rule) for rule in data["rules"])
    for column in data["columns"]:
        if len(column["tags"]) > 1:
            column["tags"] = sorted(column["tags"])
    digest = data_hash(data)
    remember_hash(definition, digest)
    return digest


def remember_hash(definition: DatasetDefinition, digest: str) -> None:
    """``digest`` is what ``definition_hash`` would work out."""
    at = id(definition)

    def forget(gone: ref[DatasetDefinition]) -> None:
        if (_hashes.get(at) or (None,))[0] is gone:
            del _hashes[at]

    _hashes[at] = (ref(definition, forget), digest)
