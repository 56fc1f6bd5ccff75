"""Settings of a project: ``lakeguard.toml``, one environment at a time.

    default_env = "dev"

    [env.dev]
    lake = "."
    database = "sqlite:.lakeguard/state.db"

    [env.dev.spark]
    spark.driver.memory = "2g"

    [env.dev.maintenance]
    retention_days = 30

    [env.prod]
    lake = "/srv/lake"
    database = "postgresql://lakeguard@db.example:5432/governance"
    password = "env:LAKEGUARD_DB_PASSWORD"

Nothing here weakens a check. The one environment variable that is read, ``LAKEGUARD_ENV``,
chooses which of the file's environments is meant. A secret is never in the file: it is named
(``env:NAME``, ``file:PATH``) and looked up at the moment it is used.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from lakeguard_sdk.errors import BadName, NoProject, SettingsError
from lakeguard_sdk.names import Word, check_word
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.secret_values import is_sensitive_key, looks_secret
from lakeguard_sdk.spelling import did_you_mean

SETTINGS_FILE = "lakeguard.toml"
ENV_VARIABLE = "LAKEGUARD_ENV"
DEFAULT_ENV = "dev"
TOP_KEYS = ("default_env", "env")
ENV_KEYS = ("lake", "database", "schema", "password", "organisation", "spark", "maintenance")
DEFAULT_DATABASE = "sqlite:.lakeguard/state.db"
DEFAULT_SCHEMA = "lakeguard"
SERVER_FILES = ("sslcert", "sslkey", "sslrootcert")
SERVER_OPTIONS = ("channel_binding", "host", "sslmode", "target_session_attrs", *SERVER_FILES)
LONGEST_SCHEMA = 63
MOST = 100_000
"""Days, megabytes or files: more means "always"."""


class SecretReference(Noun):
    """Where a secret is kept; the secret itself is in no settings, message or log."""

    settings_file: str
    key: str
    variable: str = ""
    file: Path | None = None

    def resolve(self) -> str:
        """The secret as it is now."""
        if self.file is None:
            secret = os.environ.get(self.variable, "")
            missing = f"the variable {self.variable} is not set"
        else:
            secret, missing = _content_of(self.file)
        if not secret or "\0" in secret:
            raise SettingsError(file=self.settings_file, problem=f"{self.key}: {missing}")
        return secret


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


class Settings(Noun):
    """One environment of one project; all places are absolute."""

    folder: Path
    env: Word
    lake: str
    database: DatabaseSettings
    organisation: Word
    spark: dict[str, str]
    maintenance: MaintenanceSettings = MaintenanceSettings()


def find_project(start: Path) -> Path:
    """The nearest folder, from ``start`` upwards, that has a ``lakeguard.toml``."""
    start = start.resolve()
    for folder in (start, *start.parents):
        if (folder / SETTINGS_FILE).is_file():
            return folder
    raise NoProject(folder=str(start))


def load_settings(folder: Path, env: str | None = None) -> Settings:
    """The settings of ``env``, else of ``LAKEGUARD_ENV``, else of the file's default."""
    folder = folder.resolve()
    file = folder / SETTINGS_FILE
    if not file.is_file():
        raise NoProject(folder=str(folder))
    return _Reader(file).settings(env or os.environ.get(ENV_VARIABLE) or None)


class _Reader:
    """Reads one file; every refusal names the file and the key."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self.data = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise self._error("not UTF-8 text") from None
        except tomllib.TOMLDecodeError as error:
            raise self._error(f"not readable as TOML: {error}") from None
        except RecursionError:
            raise self._error("nested too deeply") from None

    def settings(self, wanted: str | None) -> Settings:
        self._check_keys(self.data, TOP_KEYS, "")
        environments = self._table(self.data, "env", "env")
        env = wanted or self._word(self.data, "default_env", "default_env", DEFAULT_ENV)
        if env not in environments and (environments or env != DEFAULT_ENV):
            known = ", ".join(sorted(environments)) or DEFAULT_ENV
            hint = did_you_mean(env, environments or [DEFAULT_ENV])
            raise self._error(f"there is no environment {env!r}{hint} (there is {known})")
        for name in environments:
            self._word({"env": name}, "env", f"env.{name}", name)
            self._environment(name, self._table(environments, name, f"env.{name}"))
        return self._environment(env, self._table(environments, env, f"env.{env}"))

    def _environment(self, env: str, table: Mapping[str, Any]) -> Settings:
        where = f"env.{env}"
        self._check_keys(table, ENV_KEYS, where)
        return Settings(
            folder=self.file.parent,
            env=env,
            lake=self._lake(table, f"{where}.lake"),
            database=self._database(table, where),
            organisation=self._word(table, "organisation", f"{where}.organisation", "default"),
            spark=dict(self._spark(self._table(table, "spark", f"{where}.spark"), where)),
            maintenance=self._maintenance(table, f"{where}.maintenance"),
        )

    def _lake(self, table: Mapping[str, Any], key: str) -> str:
        text = self._text(table, "lake", key, ".")
        scheme = urlsplit(text).scheme
        if scheme == "file":
            return text
        if "://" in text:
            raise self._error(f"{key}: {scheme}:// locations are not available yet; name a folder")
        place = str((self.file.parent / text).resolve())
        if "%" in place:
            raise self._error(f"{key}: a folder whose path has a % cannot hold Delta tables")
        return place

    def _database(self, table: Mapping[str, Any], where: str) -> DatabaseSettings:
        key = f"{where}.database"
        text = self._text(table, "database", key, DEFAULT_DATABASE)
        schema = self._schema(table, f"{where}.schema")
        password = self._secret(table, "password", f"{where}.password")
        kind, _, place = text.partition(":")
        if kind in ("postgresql", "postgres"):
            server = self._server(text, key)
            return DatabaseSettings(server=server, schema_name=schema, password=password)
        if kind != "sqlite" or not place or place.startswith((":", "//")):
            choice = "sqlite:PATH or postgresql://USER@HOST:PORT/NAME"
            raise self._error(f"{key}: not a database; write {choice}")
        if password is not None:
            raise self._error(f"{where}.password: a SQLite file has no password")
        return DatabaseSettings(file=(self.file.parent / place).resolve(), schema_name=schema)

    def _server(self, text: str, key: str) -> str:
        """The address without anything secret. What it says is never shown: it may be secret."""
        try:
            parts = urlsplit(text)
            _ = parts.port
        except ValueError:
            raise self._error(f"{key}: write postgresql://USER@HOST:PORT/NAME") from None
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        if parts.password is not None or "password" in options:
            reference = 'password = "env:NAME" or "file:PATH"'
            raise self._error(f"{key}: keep the password out of the address; write {reference}")
        for name in options:
            if name not in SERVER_OPTIONS:
                hint = did_you_mean(name, SERVER_OPTIONS) or f" ({', '.join(SERVER_OPTIONS)})"
                raise self._error(f"{key}: unknown option in the address{hint}")
        self._check_parts(parts, options, key)
        for name in SERVER_FILES:
            if name in options and options[name] != "system":
                options[name] = str((self.file.parent / options[name]).resolve())
        query = f"?{urlencode(options)}" if options else ""
        return f"postgresql://{parts.netloc}{parts.path}{query}"

    def _check_parts(self, parts: SplitResult, options: Mapping[str, str], key: str) -> None:
        name = parts.path.removeprefix("/")
        if not name or parts.fragment or set("/@:") & set(name):
            raise self._error(f"{key}: name one database, postgresql://USER@HOST:PORT/NAME")
        if bool(parts.hostname) == ("host" in options):
            raise self._error(f"{key}: name one host, or the folder of its socket, ?host=/PATH")
        if "host" in options and not options["host"].startswith("/"):
            raise self._error(f"{key}: ?host= is for the folder of a socket; write @HOST:PORT")

    def _schema(self, table: Mapping[str, Any], key: str) -> str:
        """Any name that PostgreSQL keeps whole and lets a user have."""
        name = table.get("schema", DEFAULT_SCHEMA)
        if not isinstance(name, str) or "\0" in name:
            raise self._error(f"{key}: write a text")
        if not 1 <= len(name.encode()) <= LONGEST_SCHEMA:
            raise self._error(f"{key}: a name has 1 to {LONGEST_SCHEMA} bytes")
        if name.startswith("pg_") or name in ("$user", "information_schema"):
            raise self._error(f"{key}: PostgreSQL keeps {name!r} for itself")
        return name

    def _secret(self, table: Mapping[str, Any], name: str, key: str) -> SecretReference | None:
        if name not in table:
            return None
        kind, _, place = self._text(table, name, key, "").partition(":")
        if kind == "env" and place.isidentifier():
            return SecretReference(settings_file=str(self.file), key=key, variable=place)
        if kind == "file" and place:
            file = (self.file.parent / place).resolve()
            return SecretReference(settings_file=str(self.file), key=key, file=file)
        raise self._error(
            f"{key}: a secret is named, not written here; write env:NAME or file:PATH"
        )

    def _spark(self, table: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
        for name, value in _flat(table):
            key = f"{where}.spark: {name}"
            if not name.startswith("spark."):
                raise self._error(f"{key}: a Spark option starts with spark.")
            if not isinstance(value, str | int | float):
                raise self._error(f"{key}: an option's value is text, a number or true or false")
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if looks_secret(text) or is_sensitive_key(name):
                raise self._error(f"{key}: looks like a secret; keep it out of this file")
            yield name, text

    def _maintenance(self, table: Mapping[str, Any], where: str) -> MaintenanceSettings:
        told = self._table(table, "maintenance", where)
        self._check_keys(told, MaintenanceSettings.model_fields, where)
        for key, value in told.items():
            least = 1 if key == "small_file_mb" else 0
            if type(value) is not int or not least <= value <= MOST:
                raise self._error(f"{where}.{key}: write a whole number from {least} to {MOST:,}")
        return MaintenanceSettings(**told)

    def _check_keys(self, table: Mapping[str, Any], known: Collection[str], where: str) -> None:
        for key in table:
            if key not in known:
                place = f" in [{where}]" if where else ""
                raise self._error(f"unknown key {key!r}{place}{did_you_mean(key, known)}")

    def _table(self, table: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self._error(f"{where}: write a table, [{where}]")
        return cast(dict[str, Any], value)

    def _text(self, table: Mapping[str, Any], key: str, where: str, default: str) -> str:
        value = table.get(key, default)
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self._error(f"{where}: write a text that is not empty")
        return value

    def _word(self, table: Mapping[str, Any], key: str, where: str, default: str) -> str:
        value = self._text(table, key, where, default)
        try:
            return check_word(value)
        except BadName:
            raise self._error(f"{where}: {value!r} is not a lower snake case word") from None

    def _error(self, problem: str) -> SettingsError:
        return SettingsError(file=str(self.file), problem=problem)


def _content_of(file: Path) -> tuple[str, str]:
    """The text of a secret's file, and what to say if there is none."""
    try:
        return file.read_text("utf-8").rstrip("\r\n"), f"{file} holds no secret"
    except UnicodeDecodeError:
        return "", f"{file} is not UTF-8 text"
    except OSError as error:
        return "", f"{file} cannot be read: {error.strerror}"


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """``spark.driver.memory`` written bare is a nest of tables: its dotted name again."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(cast(dict[str, Any], value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
