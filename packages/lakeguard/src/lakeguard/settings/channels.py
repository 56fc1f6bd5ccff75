"""Channels of alerts: ``[[alerts.channel]]``, each of a type, with filters."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from lakeguard.settings.addresses import problem_of_address
from lakeguard.settings.nouns import ChannelSettings, ChannelType
from lakeguard.settings.text import SettingsText
from lakeguard_sdk.alerting import AlertKind
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.secret_values import address_holds_secret
from lakeguard_sdk.spelling import did_you_mean
from lakeguard_sdk.words import Layer, Severity

OWN_KEYS: dict[ChannelType, tuple[str, ...]] = {
    ChannelType.LOG: (),
    ChannelType.FILE: ("path",),
    ChannelType.WEBHOOK: ("url", "secret", "allow_http", "timeout_seconds"),
}
"""What a channel of each type has of its own."""
FILTERS = ("kinds", "severities", "layers", "domains", "datasets")
EVERY_KEY = ("name", "type", "attempts", *FILTERS)
REFERENCES = ("env:", "file:")
"""How an address begins that is kept elsewhere, as a secret is."""
LONGEST_NAME = 40
MOST_SECONDS = 30
MOST_ATTEMPTS = 100

Closed = TypeVar("Closed", bound=StrEnum)


def read_channels(
    file: SettingsText, table: Mapping[str, Any], where: str
) -> tuple[ChannelSettings, ...]:
    """In the order of the file; each has a name of its own."""
    told = file.table(table, "alerts", where)
    file.check_keys(told, ("channel",), where)
    entries, where = told.get("channel", []), f"{where}.channel"
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise file.error(f"{where}: write entries, [[{where}]]")
    found: dict[str, ChannelSettings] = {}
    for entry in entries:
        channel = _Channel(file, entry, where).read()
        if channel.name in found:
            problem = f"two are called {channel.name!r}; give each a name of its own"
            raise file.error(f"{where}: {problem}")
        found[channel.name] = channel
    return tuple(found.values())


class _Channel:
    """Reads one entry."""

    def __init__(self, file: SettingsText, entry: Mapping[str, Any], where: str) -> None:
        self.file, self.entry, self.where = file, entry, where

    def read(self) -> ChannelSettings:
        kind = self._type()
        self.file.check_keys(self.entry, (*EVERY_KEY, *OWN_KEYS[kind]), self.where)
        webhook = kind is ChannelType.WEBHOOK
        if webhook and "secret" not in self.entry:
            raise self._error("secret", "a webhook is signed; write env:NAME or file:PATH")
        named = webhook and str(self.entry.get("url", "")).startswith(REFERENCES)
        return ChannelSettings(
            name=self._name(kind),
            type=kind,
            path=self._path() if kind is ChannelType.FILE else None,
            url=self._url() if webhook and not named else "",
            address=self.file.secret(self.entry, "url", f"{self.where}.url") if named else None,
            allow_http=webhook and self._allows_http(),
            secret=self.file.secret(self.entry, "secret", f"{self.where}.secret"),
            timeout_seconds=self._number("timeout_seconds", 5, MOST_SECONDS),
            attempts=self._number("attempts", 8, MOST_ATTEMPTS),
            kinds=self._words("kinds", AlertKind),
            severities=self._words("severities", Severity),
            layers=self._words("layers", Layer),
            domains=self._texts("domains"),
            datasets=self._texts("datasets"),
        )

    def _type(self) -> ChannelType:
        text = self.entry.get("type")
        if not isinstance(text, str) or text not in [*ChannelType]:
            raise self._error("type", f"write one of {', '.join(ChannelType)}")
        return ChannelType(text)

    def _name(self, kind: ChannelType) -> str:
        name = self.file.word(self.entry, "name", f"{self.where}.name", kind.value)
        if len(name) > LONGEST_NAME:
            raise self._error("name", f"a name has at most {LONGEST_NAME} characters")
        return name

    def _path(self) -> Path:
        text = self.file.text(self.entry, "path", f"{self.where}.path", "")
        return (self.file.file.parent / text).resolve()

    def _url(self) -> str:
        """The address, where the file itself has it."""
        text = self.file.text(self.entry, "url", f"{self.where}.url", "")
        problem = problem_of_address(text, allow_http=self._allows_http())
        if "holds a secret" in problem or (not problem and address_holds_secret(text)):
            hint = "name it instead, env:NAME or file:PATH"
            raise self._error("url", f"it looks like it holds a secret; {hint}")
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
                raise self._error(key, f"there is no {text!r}{hint}")
        return tuple(words(text) for text in found)

    def _texts(self, key: str) -> tuple[str, ...]:
        value = self.entry.get(key, [])
        if not isinstance(value, list) or not all(
            isinstance(text, str) and text.strip() for text in value
        ):
            raise self._error(key, "write a list of texts")
        if key in self.entry and not value:
            raise self._error(key, "an empty list lets nothing through; leave it out for all")
        return tuple(value)

    def _error(self, key: str, problem: str) -> SettingsError:
        return self.file.error(f"{self.where}.{key}: {problem}")
