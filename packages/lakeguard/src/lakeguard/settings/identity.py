"""Settings of identity: the key of service and task tokens, and the issuer of user tokens."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from lakeguard.settings.settings import (
    HERE,
    IdentitySettings,
    problem_of_address,
)
from lakeguard.settings.settings_text import SettingsText

ROLES = ("viewer", "engineer", "steward", "admin", "pii")
_MOST_SECONDS = 3_600
_CLAIMS = ("user_claim", "organisation_claim", "roles_claim")
_SECONDS = ("key_set_seconds", "refetch_seconds", "timeout_seconds", "leeway_seconds")


class Algorithm(StrEnum):
    """Signature algorithms with a public key; no others are accepted."""

    RS256 = "RS256"
    RS384 = "RS384"
    RS512 = "RS512"
    PS256 = "PS256"
    PS384 = "PS384"
    PS512 = "PS512"
    ES256 = "ES256"
    ES384 = "ES384"
    ES512 = "ES512"
    EDDSA = "EdDSA"


def read_identity(file: SettingsText, section: Mapping[str, Any], where: str) -> IdentitySettings:
    file.check_keys(section, IdentitySettings.model_fields, where)
    found: dict[str, Any] = {"key": file.secret(section, "key", f"{where}.key")}
    for name in ("issuer", "audience", "key_set_url", *_CLAIMS):
        if name in section:
            found[name] = file.optional_text(section, name, f"{where}.{name}")
    for name in ("issuer", "key_set_url"):
        _check_url(file, found.get(name, ""), f"{where}.{name}")
    if bool(found.get("issuer")) != bool(found.get("audience")):
        raise file.error(f"{where}: write both issuer and audience, or neither")
    for name in _SECONDS:
        if name in section:
            found[name] = _seconds(file, section[name], f"{where}.{name}")
    if "algorithms" in section:
        found["algorithms"] = _algorithms(file, section["algorithms"], f"{where}.algorithms")
    if "require_id" in section:
        if not isinstance(section["require_id"], bool):
            raise file.error(f"{where}.require_id: write true or false")
        found["require_id"] = section["require_id"]
    if "roles" in section:
        found["roles"] = _roles(file, section["roles"], f"{where}.roles")
    return IdentitySettings(**found)


def _check_url(file: SettingsText, url: str, key: str) -> None:
    problem = problem_of_address(url, allow_http=False) if url else ""
    if not problem and urlsplit(url).query:
        problem = "write it without a query"
    if not problem and urlsplit(url).scheme == "http" and urlsplit(url).hostname not in HERE:
        problem = "write https://"
    if problem:
        raise file.error(f"{key}: {problem}")


def _seconds(file: SettingsText, value: object, key: str) -> int:
    if type(value) is not int or not 0 <= value <= _MOST_SECONDS:
        raise file.error(f"{key}: write a whole number from 0 to {_MOST_SECONDS:,}")
    return value


def _algorithms(file: SettingsText, value: object, key: str) -> tuple[str, ...]:
    known = [str(each) for each in Algorithm]
    if not isinstance(value, list) or not value or not all(each in known for each in value):
        raise file.error(f"{key}: write a list of {', '.join(known)}")
    return tuple(value)


def _roles(file: SettingsText, value: object, key: str) -> dict[str, tuple[str, ...]]:
    """Roles by a value of the claim: ``"role"`` or ``"role NAMESPACE"``, or a list of these."""
    if not isinstance(value, dict):
        raise file.error(f"{key}: write a table, [{key}]")
    found = {}
    for group, given in value.items():
        wanted = given if isinstance(given, list) else [given]
        for each in wanted:
            if not isinstance(each, str) or each.partition(" ")[0] not in ROLES:
                known = ", ".join(ROLES)
                raise file.error(f"{key}.{group}: write one of {known}, or ROLE NAMESPACE")
        found[group] = tuple(wanted)
    return found
