"""Settings models: one environment of one project."""

from __future__ import annotations

import os
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field

from lakeguard_sdk.core.dataset_name import Word
from lakeguard_sdk.core.enums import Layer, Severity
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.model.notifications import AlertKind, EventKind
from lakeguard_sdk.security.outbound import OutboundRules, parse_network
from lakeguard_sdk.storage.storage import is_remote, register_store
from lakeguard_sdk.storage.store_options import RETRY_SECONDS, TIMEOUT_SECONDS, StoreOptions

# Leases, heartbeats, retries and backoff.


class DispatchSettings(FrozenModel):
    lease_seconds: int = 120
    """An attempt expires this long after its last heartbeat."""
    heartbeat_seconds: int = 30
    """Heartbeat interval of a worker."""
    attempts: int = 3
    """Maximum attempts of a task, unless its job overrides it."""
    backoff_first_seconds: int = 30
    """Backoff after a transient failure; it doubles with each attempt."""
    backoff_longest_seconds: int = 600
    tick_seconds: int = 5
    """Poll interval of the dispatcher."""
    quiet_seconds: int = 10
    """A file unchanged for this long counts as complete."""

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)


DEFAULT_SCHEMA = "lakeguard"


class SecretReference(FrozenModel):
    """A reference to a secret; the secret itself never appears in settings, messages or logs."""

    settings_file: str
    key: str
    variable: str = ""
    file: Path | None = None

    def resolve(self) -> str:
        """The current value of the secret."""
        if self.file is None:
            secret = os.environ.get(self.variable) or _held.get(self.variable, "")
            missing = f"the variable {self.variable} is not set"
        else:
            secret, missing = _content_of(self.file)
        if not secret or "\0" in secret:
            raise SettingsError(file=self.settings_file, problem=f"{self.key}: {missing}")
        return secret


_held: dict[str, str] = {}
"""Variables removed from the environment, by name."""


def hold_variable(name: str) -> None:
    """Remove a variable from the environment; settings can still resolve it."""
    value = os.environ.pop(name, None)
    if value is not None:
        _held[name] = value


class DatabaseSettings(FrozenModel):
    """The State database: a SQLite ``file``, or a schema of a PostgreSQL ``server``."""

    file: Path | None = None
    server: str = ""
    schema_name: str = DEFAULT_SCHEMA
    password: SecretReference | None = None
    owner: str = ""
    """The role that owns the schema, if ``server`` names a service role."""
    owner_password: SecretReference | None = None


class MaintenanceSettings(FrozenModel):
    """Retention and compaction."""

    retention_days: int = 30
    """Versions published within this period stay readable."""
    inspection_days: int = 7
    """Retention of files of unpublished runs, for inspection."""
    small_file_mb: int = 128
    """Smaller files are compacted up to this size."""
    compact_after: int = 50
    """Compact after a run if there are more small files than this; 0 disables it."""


class FileCheck(StrEnum):
    """What of a table's file is compared with its record, before the file is read."""

    FOOTERS = "footers"
    """Size and Parquet footer."""
    HASHES = "hashes"
    """The hash of the whole content too."""


class ChannelType(StrEnum):
    LOG = "log"
    FILE = "file"
    WEBHOOK = "webhook"
    """The notification as JSON, signed."""
    SLACK = "slack"
    TEAMS = "teams"
    SMTP = "smtp"


class SmtpSecurity(StrEnum):
    STARTTLS = "starttls"
    TLS = "tls"
    NONE = "none"
    """Only for a mail server on this machine."""


class MailSettings(FrozenModel):
    """The mail server of a channel, and the addresses of its messages."""

    host: str
    port: int
    security: SmtpSecurity = SmtpSecurity.STARTTLS
    sender: str
    recipients: tuple[str, ...]
    user: str = ""
    password: SecretReference | None = None


class ChannelSettings(FrozenModel):
    """Destination and retries of a channel."""

    name: Word
    type: ChannelType
    path: Path | None = None
    url: str = ""
    address: SecretReference | None = None
    """Reference to a secret URL; ``url`` is empty then."""
    allow_http: bool = False
    secret: SecretReference | None = None
    """Signing secret of a webhook."""
    mail: MailSettings | None = None
    """Of an smtp channel."""
    timeout_seconds: int = 5
    attempts: int = 8
    """Maximum delivery attempts."""
    pause_seconds: int = 30
    """Backoff after the first failure; it triples with each further one."""
    longest_pause_seconds: int = 6 * 3600

    def resolve_url(self) -> str:
        """The current URL; never shown in messages."""
        if self.address is None:
            return self.url
        text = self.address.resolve()
        problem = problem_of_address(text, allow_http=self.allow_http)
        if problem:
            where = self.address.settings_file
            raise SettingsError(file=where, problem=f"{self.address.key}: {problem}")
        return text


class AlertChannel(ChannelSettings):
    """Filters of an alert channel; an empty filter matches all."""

    kinds: tuple[AlertKind, ...] = ()
    severities: tuple[Severity, ...] = ()
    layers: tuple[Layer, ...] = ()
    domains: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()


class EventChannel(ChannelSettings):
    """Filters of an event channel; an empty filter matches all."""

    attempts: int = 20
    pause_seconds: int = 1
    longest_pause_seconds: int = 300
    kinds: tuple[EventKind, ...] = ()
    subjects: tuple[str, ...] = ()


class InboxSettings(FrozenModel):
    """The HTTP endpoint of ``dispatcher --listen``."""

    secret: SecretReference | None = None
    """Signing secret of events; without it, only events from this machine are accepted."""


class SecretsSettings(FrozenModel):
    """How ``secret://NAME`` is resolved."""

    command: tuple[str, ...] = ()
    """Program and arguments; NAME is added as the last one, and the secret is what it prints."""


class OutboundSettings(FrozenModel):
    """Where webhooks, HTTP jobs and downloads of sources may go."""

    private: bool = True
    """Whether private addresses may be reached."""
    allow: tuple[str, ...] = ()
    """Private networks that may be reached nevertheless."""

    @property
    def rules(self) -> OutboundRules:
        return OutboundRules(self.private, tuple(map(parse_network, self.allow)))


class AuditSettings(FrozenModel):
    """Exports of the audit."""

    key: SecretReference | None = None
    """Ed25519 private key in PEM that signs heads; by default a file created on first use."""


class IdentitySettings(FrozenModel):
    """The key of tokens, and the OpenID Connect issuer of user tokens."""

    key: SecretReference | None = None
    """Keys the hashes of service tokens and signs task tokens; by default a file beside the
    State."""
    issuer: str = ""
    """Without one, there are no user tokens."""
    audience: str = ""
    key_set_url: str = ""
    """URL of the issuer's JSON Web Key Set; empty to use the issuer's discovery document."""
    algorithms: tuple[str, ...] = ("RS256", "ES256", "EdDSA")
    user_claim: str = "sub"
    organisation_claim: str = ""
    """If set, its value must be the organisation of the environment."""
    roles_claim: str = ""
    """The claim whose values ``roles`` maps to grants."""
    roles: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    require_id: bool = False
    """Whether a user token needs the claim ``jti``."""
    key_set_seconds: int = 300
    """How long a fetched key set is cached."""
    refetch_seconds: int = 30
    """An unknown key id fetches the key set at most once in this time."""
    timeout_seconds: int = 5
    leeway_seconds: int = 30
    """Tolerated difference between the clocks of issuer and service."""


class ServiceSettings(FrozenModel):
    """Limits of a service, and how it is reached."""

    requests_per_minute: int = 6_000
    """Per user or service token, without the calls that workers make for their tasks."""
    work_requests_per_minute: int = 60_000
    """Per worker or task: claims, heartbeats and reports."""
    refused_tokens_per_minute: int = 60
    """Per client address."""
    tls_cert: Path | None = None
    """The certificate with its chain, in PEM; without it, plain HTTP."""
    tls_key: Path | None = None
    trusted_proxies: tuple[str, ...] = ()
    """Networks whose X-Forwarded-For and X-Forwarded-Proto are trusted."""
    source_roots: tuple[str, ...] = ()
    """Folders below which sources may read files."""
    traces: str = ""
    """URL of the OpenTelemetry collector that gets traces over OTLP/HTTP."""


class RecordStore(StrEnum):
    """Where metadata records are."""

    SQL = "sql"
    """In the State."""
    FILES = "files"
    """In files of the lake."""


class RecordsSettings(FrozenModel):
    """Metadata records."""

    store: RecordStore = RecordStore.SQL


class StorageSettings(FrozenModel):
    """How the object store of a lake is reached. Without keys, by the standard chain of the cloud:
    environment, profile, web identity, instance."""

    endpoint: str = ""
    """Of an S3-compatible store; empty for AWS."""
    region: str = ""
    access_key: SecretReference | None = None
    secret_key: SecretReference | None = None
    timeout_seconds: int = TIMEOUT_SECONDS
    """For the response to one request."""
    retry_seconds: int = RETRY_SECONDS
    """How long a request is repeated that was not answered, or answered with a 5xx status."""


class Settings(FrozenModel):
    """One environment of one project; all paths are absolute."""

    folder: Path
    env: Word
    lake: str
    storage: StorageSettings = StorageSettings()
    database: DatabaseSettings
    organisation: Word
    spark: dict[str, str]
    check_files: FileCheck = FileCheck.FOOTERS
    maintenance: MaintenanceSettings = MaintenanceSettings()
    dispatch: DispatchSettings = DispatchSettings()
    alert_channels: tuple[AlertChannel, ...] = ()
    event_channels: tuple[EventChannel, ...] = ()
    inbox: InboxSettings = InboxSettings()
    secrets: SecretsSettings = SecretsSettings()
    outbound: OutboundSettings = OutboundSettings()
    audit: AuditSettings = AuditSettings()
    identity: IdentitySettings = IdentitySettings()
    service: ServiceSettings = ServiceSettings()
    records: RecordsSettings = RecordsSettings()

    def reach_lake(self) -> None:
        """Tell this process how to reach the object store of the lake; keys are resolved on use."""
        if is_remote(self.lake):
            given = self.storage
            options = StoreOptions(
                given.endpoint,
                given.region,
                given.access_key,
                given.secret_key,
                timeout_seconds=given.timeout_seconds,
                retry_seconds=given.retry_seconds,
            )
            register_store(self.lake, options)


def _content_of(file: Path) -> tuple[str, str]:
    """The content of a secret's file, and the message if it is empty."""
    try:
        return file.read_text("utf-8").rstrip("\r\n"), f"{file} is empty"
    except UnicodeDecodeError:
        return "", f"{file} is not UTF-8 text"
    except OSError as error:
        return "", f"{file} cannot be read: {error.strerror}"


# Webhook URLs; messages never show them, because they may contain a secret.

HERE = ("127.0.0.1", "localhost", "::1")
_FORM = "write https://HOST/PATH"


def problem_of_address(text: str, *, allow_http: bool) -> str:
    """The problem of a webhook URL; empty if it is valid."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return _FORM
    if parts.scheme not in ("http", "https") or not parts.hostname or not text.isascii():
        return _FORM
    if parts.fragment or not text.isprintable() or " " in text:
        return _FORM
    if parts.username is not None or parts.password:
        return "it looks like it contains a secret before the @"
    if parts.scheme == "http" and parts.hostname not in HERE and not allow_http:
        return "write https://, or set allow_http = true"
    return ""
