"""Notification channels: ``[[alerts.channel]]`` and ``[[events.channel]]``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from lakeguard.settings.settings import (
    HERE,
    AlertChannel,
    ChannelSettings,
    ChannelType,
    EventChannel,
    MailSettings,
    SecretReference,
    SmtpSecurity,
    problem_of_address,
)
from lakeguard.settings.settings_text import SettingsText
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import Layer, Severity
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.model.notifications import AlertKind, EventKind
from lakeguard_sdk.security.secret_values import address_holds_secret

OWN_KEYS: dict[ChannelType, tuple[str, ...]] = {
    ChannelType.LOG: (),
    ChannelType.FILE: ("path",),
    ChannelType.WEBHOOK: ("url", "secret", "allow_http", "timeout_seconds"),
    ChannelType.SLACK: ("url", "allow_http", "timeout_seconds"),
    ChannelType.TEAMS: ("url", "allow_http", "timeout_seconds"),
    ChannelType.SMTP: (
        "host", "port", "security", "from", "to", "user", "password", "timeout_seconds",
    ),
}  # fmt: skip
"""Keys by channel type."""
FILTERS = ("kinds", "severities", "layers", "domains", "datasets")
EVENT_FILTERS = ("kinds", "subjects")
SHARED_KEYS = ("name", "type", "attempts", "pause_seconds", "longest_pause_seconds")
EVERY_KEY = (*SHARED_KEYS, *FILTERS)
EVENT_KEYS = (*SHARED_KEYS, *EVENT_FILTERS)
POSTED = (ChannelType.WEBHOOK, ChannelType.SLACK, ChannelType.TEAMS)
"""Types that post to a URL."""
FOR_PEOPLE = (ChannelType.SLACK, ChannelType.TEAMS, ChannelType.SMTP)
"""Types that write to people, who get alerts and no events."""
MAIL_PORTS = {SmtpSecurity.STARTTLS: 587, SmtpSecurity.TLS: 465, SmtpSecurity.NONE: 25}
_MAIL_ADDRESS = re.compile(r"[^\s@<>,;:\\\"()\[\]]+@[^\s@<>,;:\\\"()\[\]]+")
REFERENCES = ("env:", "file:")
"""Prefixes of an address that is stored as a secret."""
LONGEST_NAME = 40
MOST_SECONDS = 30
MOST_ATTEMPTS = 100
LONGEST_PAUSE = 24 * 3600

Closed = TypeVar("Closed", bound=StrEnum)
Kind = TypeVar("Kind", bound=ChannelSettings)


def read_alert_channels(
    file: SettingsText, table: Mapping[str, Any], where: str
) -> tuple[AlertChannel, ...]:
    """Alert channels in file order, with unique names."""
    found = [_Channel(file, entry, place).alerts() for entry, place in _of(file, table, where)]
    return _named(file, found, where)


def read_event_channels(
    file: SettingsText, table: Mapping[str, Any], where: str
) -> tuple[EventChannel, ...]:
    """Event channels in file order, with unique names."""
    found = [_Channel(file, entry, place).events() for entry, place in _of(file, table, where)]
    return _named(file, found, where)


def _of(
    file: SettingsText, table: Mapping[str, Any], where: str
) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Every entry with its name in messages."""
    section = file.table(table, where.rpartition(".")[2], where)
    file.check_keys(section, ("channel",), where)
    entries, where = section.get("channel", []), f"{where}.channel"
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise file.error(f"{where}: write entries, [[{where}]]")
    for entry in entries:
        yield entry, where


def _named(file: SettingsText, channels: Sequence[Kind], where: str) -> tuple[Kind, ...]:
    names = [channel.name for channel in channels]
    for name in names:
        if names.count(name) > 1:
            problem = f"duplicate name {name!r}"
            raise file.error(f"{where}.channel: {problem}")
    return tuple(channels)


class _Shared(TypedDict):
    """Fields of both alert and event channels."""

    name: str
    type: ChannelType
    path: Path | None
    url: str
    address: SecretReference | None
    allow_http: bool
    secret: SecretReference | None
    mail: MailSettings | None
    timeout_seconds: int
    attempts: int
    pause_seconds: int
    longest_pause_seconds: int


class _Channel:
    """Parses one channel."""

    def __init__(self, file: SettingsText, entry: Mapping[str, Any], where: str) -> None:
        self.file, self.entry, self.where = file, entry, where

    def alerts(self) -> AlertChannel:
        return AlertChannel(
            **self._shared(EVERY_KEY, AlertChannel),
            kinds=self._words("kinds", AlertKind),
            severities=self._words("severities", Severity),
            layers=self._words("layers", Layer),
            domains=self._texts("domains"),
            datasets=self._texts("datasets"),
        )

    def events(self) -> EventChannel:
        return EventChannel(
            **self._shared(EVENT_KEYS, EventChannel),
            kinds=self._words("kinds", EventKind),
            subjects=self._texts("subjects"),
        )

    def _shared(self, known: tuple[str, ...], kind: type[ChannelSettings]) -> _Shared:
        form = self._type(kind)
        self.file.check_keys(self.entry, (*known, *OWN_KEYS[form]), self.where)
        posted, default = form in POSTED, kind(name="any", type=form)
        if form is ChannelType.WEBHOOK and "secret" not in self.entry:
            raise self._error(
                "secret", "a webhook needs a signing secret; write env:NAME or file:PATH"
            )
        named = posted and str(self.entry.get("url", "")).startswith(REFERENCES)
        longest = default.longest_pause_seconds
        return _Shared(
            name=self._name(form),
            type=form,
            path=self._path() if form is ChannelType.FILE else None,
            url=self._url() if posted and not named else "",
            address=self.file.secret(self.entry, "url", f"{self.where}.url") if named else None,
            allow_http=posted and self._allows_http(),
            secret=self.file.secret(self.entry, "secret", f"{self.where}.secret"),
            mail=self._mail() if form is ChannelType.SMTP else None,
            timeout_seconds=self._number("timeout_seconds", 5, MOST_SECONDS),
            attempts=self._number("attempts", default.attempts, MOST_ATTEMPTS),
            pause_seconds=self._number("pause_seconds", default.pause_seconds, LONGEST_PAUSE),
            longest_pause_seconds=self._number("longest_pause_seconds", longest, LONGEST_PAUSE),
        )

    def _type(self, kind: type[ChannelSettings]) -> ChannelType:
        text = self.entry.get("type")
        known = [form for form in ChannelType if kind is not EventChannel or form not in FOR_PEOPLE]
        if not isinstance(text, str) or text not in known:
            raise self._error("type", f"write one of {', '.join(known)}")
        return ChannelType(text)

    def _mail(self) -> MailSettings:
        host = self.file.text(self.entry, "host", f"{self.where}.host", "")
        security = self.entry.get("security", SmtpSecurity.STARTTLS.value)
        if security not in [*SmtpSecurity]:
            raise self._error("security", f"write one of {', '.join(SmtpSecurity)}")
        if security == SmtpSecurity.NONE and host not in HERE:
            raise self._error("security", "write starttls or tls; none is for this machine only")
        port = self._number("port", MAIL_PORTS[SmtpSecurity(security)], 65_535)
        password = self.file.secret(self.entry, "password", f"{self.where}.password")
        user = str(self.entry.get("user", ""))
        if bool(user) != (password is not None):
            raise self._error("user", "write user and password, or neither")
        sender = self.file.text(self.entry, "from", f"{self.where}.from", "")
        recipients = self._texts("to")
        if not recipients:
            raise self._error("to", "write a list of mail addresses")
        for key, address in (("from", sender), *(("to", each) for each in recipients)):
            if not _MAIL_ADDRESS.fullmatch(address) or not address.isascii():
                raise self._error(key, f"{address[:80]!r} is not a mail address")
        return MailSettings(
            host=host,
            port=port,
            security=SmtpSecurity(security),
            sender=sender,
            recipients=recipients,
            user=user,
            password=password,
        )

    def _name(self, kind: ChannelType) -> str:
        name = self.file.word(self.entry, "name", f"{self.where}.name", kind.value)
        if len(name) > LONGEST_NAME:
            raise self._error("name", f"a name has at most {LONGEST_NAME} characters")
        return name

    def _path(self) -> Path:
        text = self.file.text(self.entry, "path", f"{self.where}.path", "")
        return (self.file.file.parent / text).resolve()

    def _url(self) -> str:
        """The URL, if it is written in the file."""
        text = self.file.text(self.entry, "url", f"{self.where}.url", "")
        problem = problem_of_address(text, allow_http=self._allows_http())
        if "contains a secret" in problem or (not problem and address_holds_secret(text)):
            hint = "write a reference, env:NAME or file:PATH"
            raise self._error("url", f"looks like it contains a secret; {hint}")
        if problem:
            raise self._error("url", problem)
        return text

    def _allows_http(self) -> bool:
        allowed = self.entry.get("allow_http", False)
        if not isinstance(allowed, bool):
            raise self._error("allow_http", "write true or false")
        return allowed

    def _number(self, key: str, default: int, most: int) -> int:
        value = self.entry.get(key, default)
        if type(value) is not int or not 1 <= value <= most:
            raise self._error(key, f"write a whole number from 1 to {most}")
        return value

    def _words(self, key: str, words: type[Closed]) -> tuple[Closed, ...]:
        found = self._texts(key)
        for text in found:
            if text not in [*words]:
                hint = did_you_mean(text, [*words]) or f" ({', '.join(words)})"
                raise self._error(key, f"unknown value {text!r}{hint}")
        return tuple(words(text) for text in found)

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self.entry.get(key, [])
        if not isinstance(value, list) or not all(
            isinstance(text, str) and text.strip() for text in value
        ):
            raise self._error(key, "write a list of strings")
        if key in self.entry and not value:
            raise self._error(key, "an empty list matches nothing; remove it to match all")
        return tuple(value)

    def _error(self, key: str, problem: str) -> SettingsError:
        return self.file.error(f"{self.where}.{key}: {problem}")
