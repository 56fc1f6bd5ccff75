"""Settings of a service: its limits, and how it is reached."""

from __future__ import annotations

from collections.abc import Mapping
from glob import has_magic
from typing import Any
from urllib.parse import urlsplit

from lakeguard.settings.settings import ServiceSettings, problem_of_address
from lakeguard.settings.settings_text import SettingsText
from lakeguard_sdk.security.outbound import parse_network
from lakeguard_sdk.storage.storage import LAKE_SCHEMES, is_remote

_MOST_REQUESTS = 1_000_000
_FILES = ("tls_cert", "tls_key")
_LIMITS = ("requests_per_minute", "work_requests_per_minute", "refused_tokens_per_minute")


def read_service(file: SettingsText, section: Mapping[str, Any], where: str) -> ServiceSettings:
    file.check_keys(section, ServiceSettings.model_fields, where)
    found: dict[str, Any] = {}
    for name in _LIMITS:
        if name in section:
            found[name] = _number(file, section[name], f"{where}.{name}")
    for name in _FILES:
        if name in section:
            place = file.optional_text(section, name, f"{where}.{name}")
            found[name] = (file.file.parent / place).resolve()
    if ("tls_cert" in found) != ("tls_key" in found):
        raise file.error(f"{where}: write both tls_cert and tls_key, or neither")
    if "source_roots" in section:
        key = f"{where}.source_roots"
        found["source_roots"] = _roots(file, section["source_roots"], key)
    if "traces" in section:
        found["traces"] = file.optional_text(section, "traces", f"{where}.traces")
        problem = problem_of_address(found["traces"], allow_http=True)
        if problem:
            raise file.error(f"{where}.traces: {problem}")
    if "trusted_proxies" in section:
        key = f"{where}.trusted_proxies"
        found["trusted_proxies"] = _networks(file, section["trusted_proxies"], key)
    return ServiceSettings(**found)


def _number(file: SettingsText, value: object, key: str) -> int:
    if type(value) is not int or not 1 <= value <= _MOST_REQUESTS:
        raise file.error(f"{key}: write a whole number from 1 to {_MOST_REQUESTS:,}")
    return value


def _roots(file: SettingsText, value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise file.error(f'{key}: write a list such as ["/srv/incoming", "s3://BUCKET/incoming"]')
    for place in value:
        problem = _root_problem(place)
        if problem:
            raise file.error(f"{key}: {problem}")
    return tuple(place if is_remote(place) else _folder(file, place) for place in value)


def _root_problem(place: str) -> str:
    if "://" in place and urlsplit(place).scheme not in LAKE_SCHEMES:
        return f"write a folder, or {LAKE_SCHEMES[0]}://BUCKET/FOLDER"
    if has_magic(place) or ".." in place.split("/"):
        return f"{place!r} is a pattern; write the folder itself"
    return ""


def _folder(file: SettingsText, place: str) -> str:
    return str((file.file.parent / place).resolve())


def _networks(file: SettingsText, value: object, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise file.error(f'{key}: write a list such as ["10.1.0.7"]')
    for network in value:
        try:
            parsed = parse_network(network)
        except ValueError:
            wanted = "a network such as 10.1.0.0/16, or one address"
            raise file.error(f"{key}: {network!r} is not {wanted}") from None
        if not parsed.prefixlen:
            raise file.error(f"{key}: {network} is every address; name those of the proxies")
    return tuple(str(parse_network(network)) for network in value)
