"""Principals, roles and grants. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from lakeguard_sdk.core.dataset_name import DatasetName, check_word
from lakeguard_sdk.core.enums import Layer
from lakeguard_sdk.errors import BadName, BadNamespace
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.records.record import is_kind as is_record_kind


class Action(StrEnum):
    """What a call does; the scope of a service token lists these."""

    READ = "read"
    """Reads metadata, statistics and samples."""
    DEFINE = "define"
    """Registers and changes definitions."""
    RUN = "run"
    """Starts, retries and cancels builds and jobs."""
    DEPLOY = "deploy"
    """Activates a graph, switches jobs."""
    CURATE = "curate"
    """Waives, rolls back, pins, discards, approves and invalidates."""
    WORK = "work"
    """Claims tasks and reports on them, as a worker or dispatcher does."""
    EMIT = "emit"
    """Stores metadata records, as a producer does."""
    ADMINISTER = "administer"
    """Manages users, grants and tokens."""


class Role(StrEnum):
    """Each role but ``pii`` includes those before it."""

    VIEWER = "viewer"
    ENGINEER = "engineer"
    STEWARD = "steward"
    ADMIN = "admin"
    PII = "pii"
    """Shows personal values where another role allows reading; allows nothing else."""


class NamespaceKind(StrEnum):
    ORGANISATION = "organisation"
    DOMAIN = "domain"
    LAYER = "layer"
    DATASET = "dataset"
    RECORDS = "records"


ANY_RECORDS = "*"


@dataclass(frozen=True)
class Namespace:
    """The scope of a grant: everything, a domain, a layer, a dataset, or metadata records. A stored
    grant identifies a dataset by id, a grant from a token by name. Records are named ``KIND``, or
    ``KIND@NAMESPACE`` for those of one namespace; ``*`` is any kind."""

    kind: NamespaceKind = NamespaceKind.ORGANISATION
    name: str = ""

    def covers(self, subject: Subject) -> bool:
        match self.kind:
            case NamespaceKind.ORGANISATION:
                return True
            case NamespaceKind.DOMAIN:
                return subject.dataset is not None and subject.domain == self.name
            case NamespaceKind.LAYER:
                return subject.dataset is not None and subject.dataset.layer == self.name
            case NamespaceKind.DATASET:
                return bool(self.name) and self.name in (subject.dataset_id, subject.dataset)
            case NamespaceKind.RECORDS:
                kind, one, namespace = self.name.partition("@")
                is_kind = bool(subject.record_kind) and kind in (ANY_RECORDS, subject.record_kind)
                return is_kind and (not one or namespace == subject.record_namespace)


EVERYTHING = Namespace()


@dataclass(frozen=True)
class Subject:
    """What a call is about: a dataset, metadata records of one kind and namespace, which may be
    about a dataset, or the organisation as a whole."""

    dataset: DatasetName | None = None
    domain: str = ""
    dataset_id: str = ""
    """Empty for a dataset that is not registered yet."""
    planned: bool = False
    """Whether a plan defines it, so that its author knows of it anyway."""
    record_kind: str = ""
    record_namespace: str = ""


ORGANISATION = Subject()


@dataclass(frozen=True)
class Grant:
    """Actions within a namespace, and whether personal values are shown."""

    actions: frozenset[Action]
    on: Namespace = EVERYTHING
    pii: bool = False


class PrincipalKind(StrEnum):
    LOCAL = "local"
    """The local user of a service that requires no token."""
    USER = "user"
    TOKEN = "token"  # noqa: S105 - a kind
    TASK = "task"


@dataclass(frozen=True)
class TaskGrants:
    """What a task token allows: one attempt, datasets at pinned versions, storage prefixes."""

    ticket: RunTicket
    pins: tuple[tuple[str, int], ...] = ()
    """Version by dataset; 0 for the dataset that the task builds."""
    prefixes: tuple[str, ...] = ()
    holder: str = ""
    """Id of the secret or user that requested it, whose rights bound those of the token; empty for
    a token that the control plane issued by itself."""

    def may_write(self, location: str) -> bool:
        """Whether the location is below one of the prefixes."""
        parts = location.split("/")
        if ".." in parts or "." in parts:
            return False
        return any(location.startswith(f"{prefix.rstrip('/')}/") for prefix in self.prefixes)


@dataclass(frozen=True)
class Principal:
    """A user, a service token or a task, with its grants as of authentication."""

    org_id: str
    kind: PrincipalKind
    id: str
    """The id of the user, token or task."""
    name: str
    """Recorded as the actor of its changes."""
    grants: tuple[Grant, ...] = ()
    until: datetime | None = None
    """When its credential expires."""
    secret_id: str = ""
    """The secret of the service token that authenticated it."""
    claimed: tuple[Grant, ...] = field(default=(), repr=False)
    """Those of ``grants`` that come from claims of the issuer's token."""
    task: TaskGrants | None = None

    @property
    def label(self) -> str:
        """For messages."""
        return f"{self.kind} {self.name}"


_DOMAIN = "domain:"
_RECORDS = "records:"
_LONGEST_NAME = 300


def parse_namespace(text: str) -> Namespace:
    """``domain:sales``, ``gold``, ``gold.sales``, ``records:recon_result``,
    ``records:recon_result@team``, or empty for everything. A dataset is identified by name."""
    if not text:
        return EVERYTHING
    if text.startswith(_RECORDS):
        return _records_namespace(text)
    if text.startswith(_DOMAIN):
        name = text.removeprefix(_DOMAIN)
        if not name.strip() or not name.isprintable():
            raise BadNamespace(namespace=text)
        return Namespace(NamespaceKind.DOMAIN, name)
    if text in Layer.__members__.values():
        return Namespace(NamespaceKind.LAYER, text)
    try:
        return Namespace(NamespaceKind.DATASET, DatasetName(text))
    except BadName:
        raise BadNamespace(namespace=text) from None


def _records_namespace(text: str) -> Namespace:
    name = text.removeprefix(_RECORDS)
    kind, one, namespace = name.partition("@")
    is_kind = kind == ANY_RECORDS or is_record_kind(kind)
    if not is_kind or bool(one) != bool(namespace) or not name.isprintable():
        raise BadNamespace(namespace=text)
    if len(name) > _LONGEST_NAME:
        raise BadNamespace(namespace=text[:_LONGEST_NAME])
    return Namespace(NamespaceKind.RECORDS, name)


def check_organisation(name: str) -> str:
    """An organisation is a word, because its name is a folder of the ledger and part of tokens."""
    return check_word(name)
