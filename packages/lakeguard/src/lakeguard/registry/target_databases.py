"""The database of a target: its address, who writes there, and the schema of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import SplitResult, parse_qsl, urlsplit

from lakeguard.registry.locating import Locate
from lakeguard.registry.nodes import Path
from lakeguard.registry.secrets_named import secret_problems
from lakeguard.settings import LONGEST_SCHEMA, SERVER_FILES, SERVER_OPTIONS
from lakeguard_sdk.database import DATABASE_SECRETS, SCHEMA_DETAIL
from lakeguard_sdk.definition import TargetDefinition
from lakeguard_sdk.errors import DefinitionError, MissingKey, WrongValue
from lakeguard_sdk.secret_values import address_holds_secret
from lakeguard_sdk.spelling import did_you_mean
from lakeguard_sdk.words import TargetFormat

_ADDRESS = "postgresql://HOST:PORT/DATABASE"


def database_errors(target: TargetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """Everything that is wrong with it; a secret in a text is told with the texts."""
    if target.format is not TargetFormat.POSTGRESQL:
        for key in ("url", "secrets"):
            if getattr(target, key):
                yield _wrong(target, locate, (key,), f"{target.format} has none; a database has")
        return
    if not target.url:
        yield MissingKey(locate(target, ("url",)), key="url", at=["url"])
    elif not address_holds_secret(target.url):
        for problem in _address_problems(target.url):
            yield _wrong(target, locate, ("url",), problem)
    for name, problem in (*secret_problems(target.secrets), *_unknown_secrets(target)):
        yield _wrong(target, locate, ("secrets", name), problem)
    for problem in _schema_problems(target.details.get(SCHEMA_DETAIL)):
        yield _wrong(target, locate, ("details", SCHEMA_DETAIL), problem)


def _address_problems(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        yield f"write {_ADDRESS}"
        return
    if parts.scheme != "postgresql":
        yield f"write {_ADDRESS}"
    elif "@" in parts.netloc:
        yield "keep user and password out of the address; write secrets: {user: env:NAME}"
    else:
        yield from _part_problems(parts)


def _part_problems(parts: SplitResult) -> Iterator[str]:
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    name = parts.path.removeprefix("/")
    if not name or parts.fragment or set("/@:") & set(name):
        yield f"name one database, {_ADDRESS}"
    if bool(parts.hostname) == ("host" in options):
        yield "name one host, or the folder of its socket, ?host=/PATH"
    for option in options:
        if option not in SERVER_OPTIONS:
            hint = did_you_mean(option, SERVER_OPTIONS) or f" ({', '.join(SERVER_OPTIONS)})"
            yield f"unknown option in the address{hint}"
        elif option in ("host", *SERVER_FILES) and not options[option].startswith("/"):
            yield f"{option}: write a path from the root on"


def _unknown_secrets(target: TargetDefinition) -> Iterator[tuple[str, str]]:
    for name in target.secrets:
        if name not in DATABASE_SECRETS:
            yield name, f"unknown secret; write {' or '.join(DATABASE_SECRETS)}"


def _schema_problems(name: str | None) -> Iterator[str]:
    if name is None:
        return
    if not 1 <= len(name.encode()) <= LONGEST_SCHEMA or not name.isprintable():
        yield f"the name of a schema has 1 to {LONGEST_SCHEMA} bytes"
    elif name.startswith("pg_") or name in ("$user", "information_schema"):
        yield f"PostgreSQL keeps {name!r} for itself"


def _wrong(target: TargetDefinition, locate: Locate, at: Path, problem: str) -> DefinitionError:
    key = str(at[-1])[:80]
    return WrongValue(locate(target, at), key=key, problem=problem, hint="", at=list(at))
