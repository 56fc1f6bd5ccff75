"""Validated, canonical definitions, without internal ids or environment settings.

``external_id`` is the id of the same object in another system; ``details`` are free-form settings
for workers, with secrets by reference.
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
    Lifecycle,
    Malformed,
    PolicyType,
    Severity,
    SourceFormat,
    TargetFormat,
)
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.load import LoadField, load_columns
from lakeguard_sdk.model.schema_changes import ColumnOrigin, Reaction, SchemaChange
from lakeguard_sdk.types.schema import Column, DataType, TableSchema

Details = dict[str, str]


class SourceDefinition(FrozenModel):
    """A data source; datasets name the object in it that they read."""

    kind: Literal["source"] = "source"
    source: Word
    format: SourceFormat
    source_type: str = Field(default="", exclude_if=lambda value: not value)
    """The type of system as it was given, if it is not the name of the format: ``Oracle``."""
    path: str = ""
    """A glob of files; empty if ``url`` is set."""
    url: str = ""
    """``https://`` to download from, ``{name}`` filled from ``secrets``; ``jdbc:`` to query."""
    secrets: Details = Field(default_factory=dict)
    """References such as ``env:TOKEN``, resolved only where the data is read."""
    options: dict[str, str] = Field(default_factory=dict)
    header: tuple[str, ...] = ()
    """The exact header that every file must have; empty means any."""
    malformed: Malformed = Malformed.REFUSE
    landing: bool = False
    """Whether files are archived as received, below the lake's ``landing`` folder."""
    external_id: str = ""
    description: str = ""
    owner: str = ""
    details: Details = Field(default_factory=dict)
    active: bool = True


class SourceMapping(FrozenModel):
    """Allows datasets that read the source to write to the target."""

    source: Word
    relationship: Word = "ingestion"
    description: str = ""
    active: bool = True


class TargetDefinition(FrozenModel):
    """Where and how tables are written: ``<location>/<layer>/<name>``."""

    kind: Literal["target"] = "target"
    target: Word
    location: str
    type: Word = "folder"
    zone: Word
    format: TargetFormat = TargetFormat.DELTA
    url: str = ""
    """``postgresql://host/database`` for delivered tables; no user, no password."""
    secrets: Details = Field(default_factory=dict)
    """References for ``user`` and ``password``, resolved where the data is written."""
    partition_by: tuple[str, ...] = ()
    transform: str = ""
    """A SELECT over ``batch``, applied to the extracted rows; empty means unchanged."""
    sources: tuple[SourceMapping, ...] = ()
    external_id: str = ""
    description: str = ""
    details: Details = Field(default_factory=dict)
    active: bool = True


class JobDefinition(FrozenModel):
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


class ProfileDefinition(FrozenModel):
    """Which schema differences are compatible."""

    kind: Literal["profile"] = "profile"
    profile: Word
    allow_column_drop: bool = False
    allow_type_widen: bool = True
    allow_type_narrow: bool = False
    allow_nullable_change: bool = True
    auto_add_columns: bool = True
    reactions: dict[SchemaChange, Reaction] = Field(
        default_factory=dict, exclude_if=lambda value: not value
    )
    """Explicit reactions to classes of difference; they override the flags."""
    description: str = ""
    active: bool = True


class CatalogueRule(FrozenModel):
    """A reusable rule: ``{column}`` and ``{parameter}`` in ``expression`` are filled in where it
    is used."""

    kind: Literal["rule"] = "rule"
    rule: Word
    expression: str
    severity: Severity = Severity.FAIL
    description: str = ""
    active: bool = True


class ColumnDefinition(FrozenModel):
    name: str
    type: DataType
    tags: tuple[str, ...] = ()
    description: str = ""
    nullable: bool = Field(default=True, exclude_if=lambda value: value)
    """False if the source itself must guarantee that there is no NULL."""
    origin: ColumnOrigin = Field(
        default=ColumnOrigin.DECLARED, exclude_if=lambda origin: origin is ColumnOrigin.DECLARED
    )
    widened_from: str = Field(default="", exclude_if=lambda value: not value)
    """The declared type, if a run has since accepted a wider one."""
    source_name: str = Field(default="", exclude_if=lambda value: not value)
    """The name in the source as a row gave it, if it differs from ``name``."""
    source_type: str = Field(default="", exclude_if=lambda value: not value)
    """The type in the source as a row gave it, if it differs from ``type``."""
    dq_rule_set: str = Field(default="", exclude_if=lambda value: not value)
    """Rules of the column as a row gave them; ``DatasetDefinition.rules`` holds what they mean."""
    dq_severity: Severity | None = Field(default=None, exclude_if=lambda value: value is None)
    """Severity of ``dq_rule_set`` as a row gave it."""
    derived_from: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """What a person declares it to be made of, as ``layer.name.column``; replaces its lineage."""
    reason: str = Field(default="", exclude_if=lambda value: not value)
    """Why ``derived_from`` is so."""
    clean: str = Field(default="", exclude_if=lambda value: not value)
    """Why it carries no tag of its inputs, if a person declares so; replaces its lineage."""


class RuleDefinition(FrozenModel):
    """``expression`` is canonical rule text that names its column."""

    rule_id: str
    rule_type: str
    expression: str
    severity: Severity
    active: bool = True
    external_id: str = Field(default="", exclude_if=lambda value: not value)


class FromSource(FrozenModel):
    """Reads ``object`` of a source, a path below the source's path; empty means all of it."""

    build: Literal["source"] = "source"
    source: Word
    object: str = ""
    external_id: str = ""
    dq_enabled: bool = Field(default=True, exclude_if=lambda value: value)
    """Whether the rules of its columns' ``dq_rule_set`` are evaluated."""
    dq_fail_behavior: Severity | None = Field(default=None, exclude_if=lambda value: value is None)
    """FAIL if each of those rules blocks, whatever the severity of its column."""


class FromSql(FrozenModel):
    """``text`` is the SELECT itself, so that an applied definition needs no project folder."""

    build: Literal["sql"] = "sql"
    file: str
    text: str


class FromPython(FrozenModel):
    """A function ``(spark, inputs) -> DataFrame``, which may take ``parameters`` as well; the run
    refuses a file with another hash."""

    build: Literal["python"] = "python"
    file: str
    """The module's file, relative to the project folder."""
    function: str
    sha256: str


class FromFrame(FrozenModel):
    """A program publishes a frame; no run builds the dataset."""

    build: Literal["frame"] = "frame"


class Pending(FrozenModel):
    """Registered before anybody has said how it is built; its columns may be unknown, too."""

    build: Literal["pending"] = "pending"


DATASET_ID = r"^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})?$"
PROFILE_EVERY = r"^(version|[1-9][0-9]{0,5}[smhdw])?$"


class DatasetDefinition(FrozenModel):
    kind: Literal["dataset"] = "dataset"
    dataset: DatasetName
    dataset_id: str = Field(default="", pattern=DATASET_ID, exclude_if=lambda value: not value)
    """The UUID to register a new dataset under; empty to generate one."""
    renamed_from: DatasetName | None = None
    domain: str
    owner: str
    description: str = ""
    active: bool = True
    status: Lifecycle = Field(
        default=Lifecycle.ACTIVE, exclude_if=lambda value: value is Lifecycle.ACTIVE
    )
    parents: tuple[DatasetName, ...] = ()
    build: Annotated[
        FromSource | FromSql | FromPython | FromFrame | Pending, Field(discriminator="build")
    ]
    load: LoadField
    profile: Word = "default"
    leave_out: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """Source columns that never enter the table, regardless of the profile."""
    profile_every: str = Field(
        default="", pattern=PROFILE_EVERY, exclude_if=lambda value: not value
    )
    """When published data is profiled: every ``version``, an interval, or never (empty)."""
    target: Word | None = None
    columns: tuple[ColumnDefinition, ...]
    rules: tuple[RuleDefinition, ...] = ()
    external_id: str = ""
    details: Details = Field(default_factory=dict)
    location: str = Field(default="", exclude_if=lambda value: not value)
    """Table location outside the lake; empty means derived from target and name."""

    @property
    def refusal(self) -> str:
        """Why it is neither built nor read, empty if it is: ``is a draft (status: draft)``."""
        if not self.active:
            return "is disabled (active: false)"
        if self.status is Lifecycle.DRAFT:
            return "is a draft (status: draft)"
        return "is retired (status: retired)" if self.status is Lifecycle.RETIRED else ""

    @property
    def declared(self) -> TableSchema:
        """The columns of a batch."""
        return TableSchema(columns=tuple(Column(name=c.name, type=c.type) for c in self.columns))

    @property
    def table_schema(self) -> TableSchema:
        """The declared columns, then those written by the load."""
        return TableSchema(columns=self.declared.columns + load_columns(self.load))

    def partition_columns(self, target: TargetDefinition | None) -> tuple[str, ...]:
        """Partition columns of the load, else of the target."""
        return self.load.partition_by or (target.partition_by if target else ())


class PolicyDefinition(FrozenModel):
    """Applies to the datasets of a layer, of a domain, or with a tagged column. Several selectors
    are combined with AND; without any, it applies to every dataset."""

    kind: Literal["policy"] = "policy"
    policy: Word
    applies_to_layer: Layer | None = None
    applies_to_domain: str = Field(default="", exclude_if=lambda value: not value)
    applies_to_tag: str = Field(default="", exclude_if=lambda value: not value)
    type: PolicyType
    expression: str
    enforcement: Enforcement = Enforcement.BLOCK
    active: bool = True
    external_id: str = Field(default="", exclude_if=lambda value: not value)


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


class Definitions(FrozenModel):
    """All definitions of a folder or a set of rows."""

    profiles: tuple[ProfileDefinition, ...] = ()
    catalogue: tuple[CatalogueRule, ...] = ()
    sources: tuple[SourceDefinition, ...] = ()
    targets: tuple[TargetDefinition, ...] = ()
    datasets: tuple[DatasetDefinition, ...] = ()
    policies: tuple[PolicyDefinition, ...] = ()
    jobs: tuple[JobDefinition, ...] = ()


def ruleset_hash(rules: tuple[RuleDefinition, ...]) -> str:
    """One hash of a rule set, independent of rule order."""
    return unordered_hash(rule.content_hash() for rule in rules)


def policyset_hash(policies: tuple[PolicyDefinition, ...]) -> str:
    return unordered_hash(policy.content_hash() for policy in policies)


_hashes: dict[int, tuple[ref[DatasetDefinition], str]] = {}
"""Cache by identity of live definitions: a frozen model never changes its hash."""


def definition_hash(definition: DatasetDefinition) -> str:
    """Independent of the order of rules and tags, but not of columns and parents.

    ``renamed_from`` and ``dataset_id`` are excluded. Cached.
    """
    known = _hashes.get(id(definition))
    if known is not None and known[0]() is definition:
        return known[1]
    data = definition.to_data()
    del data["renamed_from"]
    data.pop("dataset_id", None)
    data["rules"] = unordered_hash(data_hash(rule) for rule in data["rules"])
    for column in data["columns"]:
        if len(column["tags"]) > 1:
            column["tags"] = sorted(column["tags"])
    digest = data_hash(data)
    remember_hash(definition, digest)
    return digest


def remember_hash(definition: DatasetDefinition, digest: str) -> None:
    """``digest`` must be what ``definition_hash`` would compute."""
    at = id(definition)

    def forget(gone: ref[DatasetDefinition]) -> None:
        if (_hashes.get(at) or (None,))[0] is gone:
            del _hashes[at]

    _hashes[at] = (ref(definition, forget), digest)
