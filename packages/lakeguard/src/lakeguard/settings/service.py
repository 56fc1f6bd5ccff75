"""Settings of a service: how much it takes on, and how it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from lakeguard.settings.settings import ServiceSettings
from lakeguard_sdk.errors import SettingsError

_MOST_REQUESTS = 1_000_000
_LIMITS = ("requests_per_minute", "work_requests_per_minute", "refused_tokens_per_minute")


class Text(Protocol):
    """The access to a settings file that this needs."""

    def check_keys(self, table: Mapping[str, Any], known: Any, where: str) -> None: ...
    def error(self, problem: str) -> SettingsError: ...


def read_service(text: Text, section: Mapping[str, Any], where: str) -> ServiceSettings:
    text.check_keys(section, ServiceSettings.model_fields, where)
    found: dict[str, Any] = {}
    for name in _LIMITS:
        if name in section:
            found[name] = _number(text, section[name], f"{where}.{name}")
    return ServiceSettings(**found)


def _number(text: Text, value: object, key: str) -> int:
    if type(value) is not int or not 1 <= value <= _MOST_REQUESTS:
        raise text.error(f"{key}: write a whole number from 1 to {_MOST_REQUESTS:,}")
    return value
