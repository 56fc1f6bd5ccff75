"""What settings say, as nouns: one environment of one project."""

from __future__ import annotations

import os
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from lakeguard_sdk.core.dataset_name import Word
from lakeguard_sdk.core.enums import Layer, Severity
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.model.notifications import AlertKind, EventKind

# How long an attempt may be silent, how often a task is tried, and how soon again.


class DispatchSettings(Noun):
    lease_seconds: int = 120
    """An attempt that is not heard of for so long is over."""
    heartbeat_seconds: int = 30
    """So often a worker is heard of."""
    attempts: int = 3
    """So often a task is tried, unless its job says otherwise."""
    backoff_first_seconds: int = 30
    """After a failure that may pass; it doubles with each attempt."""
    backoff_longest_seconds: int = 600
    tick_seconds: int = 5
    """So often the dispatcher looks what is due."""
    quiet_seconds: int = 10
    """A file that looked the same for so long is whole."""

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)


DEFAULT_SCHEMA = "lakeguard"


class SecretReference(Noun):
    """Where a secret is kept; the secret itself is in no settings, message or log."""

    settings_file: str
    key: str
    variable: str = ""
    file: Path | None = None

    def resolve(self) -> str:
        """The secret as it is now."""
        if self.file is None:
            secret = os.environ.get(self.variable) or _held.get(self.variable, "")
            missing = f"the variable {self.variable} is not set"
        else:
            secret, missing = _content_of(self.file)
        if not secret or "\0" in secret:
            raise SettingsError(file=self.settings_file, problem=f"{self.key}: {missing}")
        return secret


_held: dict[str, str] = {}
"""Variables that are no longer in the environment, by name."""


def hold_variable(name: str) -> None:
    """Take it out of the environment; settings that name it find it still."""
    value = os.environ.pop(name, None)
    if value is not None:
        _held[name] = value


class DatabaseSettings(Noun):
    """Where the State is: a ``file`` of SQLite, else a schema of a PostgreSQL ``server``."""

    file: Path | None = None
    server: str = ""
    schema_name: str = DEFAULT_SCHEMA
    password: SecretReference | None = None


class MaintenanceSettings(Noun):
    """What is kept, and when files are merged."""

    retention_days: int = 30
    """A version that was published since stays whole."""
    inspection_days: int = 7
    """So long the files of a run that did not publish stay to be looked at."""
    small_file_mb: int = 128
    """Smaller files are merged, up to this size."""
    compact_after: int = 50
    """After a run, files are merged once there are more small ones than this; 0 is never."""


class ChannelType(StrEnum):
    LOG = "log"
    FILE = "file"
    WEBHOOK = "webhook"


class ChannelSettings(Noun):
    """Where news goes, and how often it is tried."""

    name: Word
    type: ChannelType
    path: Path | None = None
    url: str = ""
    address: SecretReference | None = None
    """Where the address is kept, where it is itself a secret; then there is no ``url``."""
    allow_http: bool = False
    secret: SecretReference | None = None
    """What a webhook's messages are signed with."""
    timeout_seconds: int = 5
    attempts: int = 8
    """So often something is tried before it is given up."""
    pause_seconds: int = 30
    """After the first failure; after each further one three times as long."""
    longest_pause_seconds: int = 6 * 3600

    def resolve_url(self) -> str:
        """The address as it is now; it is in no message."""
        if self.address is None:
            return self.url
        text = self.address.resolve()
        problem = problem_of_address(text, allow_http=self.allow_http)
        if problem:
            where = self.address.settings_file
            raise SettingsError(file=where, problem=f"{self.address.key}: {problem}")
        return text


class AlertChannel(ChannelSettings):
    """Which alerts a channel tells; a filter that is empty lets all through."""

    kinds: tuple[AlertKind, ...] = ()
    severities: tuple[Severity, ...] = ()
    layers: tuple[Layer, ...] = ()
    domains: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()


class EventChannel(ChannelSettings):
    """Which events a channel tells; a filter that is empty lets all through."""

    attempts: int = 20
    pause_seconds: int = 1
    longest_pause_seconds: int = 300
    kinds: tuple[EventKind, ...] = ()
    subjects: tuple[str, ...] = ()


class InboxSettings(Noun):
    """Of the door that ``dispatcher --listen`` opens."""

    secret: SecretReference | None = None
    """What senders sign their events with; without it they are taken from this machine alone."""


class Settings(Noun):
    """One environment of one project; all places are absolute."""

    folder: Path
    env: Word
    lake: str
    database: DatabaseSettings
    organisation: Word
    spark: dict[str, str]
    maintenance: MaintenanceSettings = MaintenanceSettings()
    dispatch: DispatchSettings = DispatchSettings()
    channels: tuple[AlertChannel, ...] = ()
    event_channels: tuple[EventChannel, ...] = ()
    inbox: InboxSettings = InboxSettings()


def _content_of(file: Path) -> tuple[str, str]:
    """The text of a secret's file, and what to say if there is none."""
    try:
        return file.read_text("utf-8").rstrip("\r\n"), f"{file} holds no secret"
    except UnicodeDecodeError:
        return "", f"{file} is not UTF-8 text"
    except OSError as error:
        return "", f"{file} cannot be read: {error.strerror}"


# Addresses of webhooks: what one must be. What it says is never shown, for it may be secret.

HERE = ("127.0.0.1", "localhost", "::1")
_FORM = "write https://HOST/PATH"


def problem_of_address(text: str, *, allow_http: bool) -> str:
    """Why nothing is sent there; empty where it is an address."""
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
        return "it looks like it holds a secret before the @; nothing is sent with one"
    if parts.scheme == "http" and parts.hostname not in HERE and not allow_http:
        return "write https://, or say allow_http = true"
    return ""
