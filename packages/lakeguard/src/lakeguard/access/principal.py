"""Who calls, and what they were granted. Pure."""

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
    """Sees personal values where another role lets the user read; allows nothing else."""


class NamespaceKind(StrEnum):
    ORGANISATION = "organisation"
    DOMAIN = "domain"
    LAYER = "layer"
    DATASET = "dataset"
    RECORDS = "records"


ANY_RECORDS = "*"


@dataclass(frozen=True)
class Namespace:
    """What a grant is about: everything, a domain, a layer, a dataset, or metadata records. A
    stored grant names a dataset by its id, one that a token brings by its name. Records are named
    ``KIND``, or ``KIND@NAMESPACE`` for those of one namespace; ``*`` is any kind."""

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
    """As a plan defines it, which is no secret to whoever plans it."""
    record_kind: str = ""
    record_namespace: str = ""


ORGANISATION = Subject()


@dataclass(frozen=True)
class Grant:
    """Actions, and the sight of personal values, within a namespace."""

    actions: frozenset[Action]
    on: Namespace = EVERYTHING
    pii: bool = False


class PrincipalKind(StrEnum):
    LOCAL = "local"
    """Whoever uses the machine of a service that asks for no token."""
    USER = "user"
    TOKEN = "token"  # noqa: S105 - a kind
    TASK = "task"


@dataclass(frozen=True)
class TaskGrants:
    """What a task token is good for: one attempt, datasets at pinned versions, storage prefixes."""

    ticket: RunTicket
    pins: tuple[tuple[str, int], ...] = ()
    """Version by dataset; 0 for the dataset that the task builds."""
    prefixes: tuple[str, ...] = ()
    holder: str = ""
    """Id of the secret or user that asked for it, and that it is worth no more than; empty for a
    token that the control plane gives out by itself."""

    def may_write(self, location: str) -> bool:
        """Whether the location is below one of the prefixes."""
        parts = location.split("/")
        if ".." in parts or "." in parts:
            return False
        return any(location.startswith(f"{prefix.rstrip('/')}/") for prefix in self.prefixes)


@dataclass(frozen=True)
class Principal:
    """Exactly one of: a user, a service token, a task. Resolved when it was authenticated."""

    org_id: str
    kind: PrincipalKind
    id: str
    """Of the user, the token or the task."""
    name: str
    """Recorded as the actor of what it does."""
    grants: tuple[Grant, ...] = ()
    until: datetime | None = None
    """When its credential expires."""
    secret_id: str = ""
    """Which secret of a service token was shown."""
    claimed: tuple[Grant, ...] = field(default=(), repr=False)
    """Of ``grants`` those that a token of the issuer brought."""
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
    ``records:recon_result@team``, or nothing for everything. A dataset stands under its name;
    whoever stores it looks up the id."""
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
    """An organisation is a word: its name is a folder of the ledger and part of tokens."""
    return check_word(name)
