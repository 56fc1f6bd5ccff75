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
    lake = "s3://company-lake/gold-standard"
    database = "postgresql://lakeguard@db.example:5432/governance"
    password = "env:LAKEGUARD_DB_PASSWORD"

No setting weakens a check. The only environment variable read is ``LAKEGUARD_ENV``, which selects
the environment. Secrets are never in the file: it holds references (``env:NAME``, ``file:PATH``),
which are resolved on use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlencode, urlsplit

from lakeguard.settings.channels import read_alert_channels, read_event_channels
from lakeguard.settings.settings import (
    DEFAULT_SCHEMA,
    HERE,
    AlertChannel,
    AuditSettings,
    DatabaseSettings,
    DispatchSettings,
    EventChannel,
    FileCheck,
    IdentitySettings,
    InboxSettings,
    MaintenanceSettings,
    OutboundSettings,
    RecordsSettings,
    RecordStore,
    SecretReference,
    SecretsSettings,
    ServiceSettings,
    Settings,
    StorageSettings,
    problem_of_address,
)
from lakeguard.settings.settings_text import SettingsText, flat
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import NoProject
from lakeguard_sdk.security.outbound import parse_network
from lakeguard_sdk.security.secret_values import is_sensitive_key, looks_secret
from lakeguard_sdk.storage.clouds import CLOUDS
from lakeguard_sdk.storage.storage import LAKE_SCHEMES

SETTINGS_FILE = "lakeguard.toml"
ENV_VARIABLE = "LAKEGUARD_ENV"
DEFAULT_ENV = "dev"
TOP_KEYS = ("default_env", "env", "alerts", "events", "inbox")
ENV_KEYS = (
    "lake", "database", "schema", "password", "owner", "owner_password", "organisation", "spark",
    "maintenance", "alerts", "events", "dispatch", "inbox", "check_files", "secrets", "storage",
    "outbound", "audit", "identity", "service", "records",
)  # fmt: skip
DEFAULT_DATABASE = "sqlite:.lakeguard/state.db"
SERVER_FILES = ("sslcert", "sslkey", "sslrootcert")
SERVER_OPTIONS = ("channel_binding", "host", "sslmode", "target_session_attrs", *SERVER_FILES)
LONGEST_SCHEMA = 63
MOST = 100_000
"""Maximum days, megabytes or files."""
MOST_ATTEMPTS = 100
MOST_SECONDS = 86_400
_STORE_LIMITS = ("timeout_seconds", "retry_seconds")
_FOLDER = re.compile(r"[A-Za-z0-9_.=-]+")


def find_project(start: Path) -> Path:
    """The nearest folder with a ``lakeguard.toml``, from ``start`` upwards."""
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


class _Reader(SettingsText):
    """Parses the environments of one file."""

    def settings(self, wanted: str | None) -> Settings:
        self.check_keys(self.data, TOP_KEYS, "")
        environments = self.table(self.data, "env", "env")
        env = wanted or self.word(self.data, "default_env", "default_env", DEFAULT_ENV)
        if env not in environments and (environments or env != DEFAULT_ENV):
            known = ", ".join(sorted(environments)) or DEFAULT_ENV
            hint = did_you_mean(env, environments or [DEFAULT_ENV])
            raise self.error(f"unknown environment {env!r}{hint} (known: {known})")
        for name in environments:
            self.word({"env": name}, "env", f"env.{name}", name)
            self._environment(name, self.table(environments, name, f"env.{name}"))
        return self._environment(env, self.table(environments, env, f"env.{env}"))

    def _environment(self, env: str, table: Mapping[str, Any]) -> Settings:
        where = f"env.{env}"
        self.check_keys(table, ENV_KEYS, where)
        return Settings(
            folder=self.file.parent,
            env=env,
            lake=self._lake(table, f"{where}.lake"),
            storage=self._storage(table, f"{where}.storage"),
            database=self._database(table, where),
            organisation=self.word(table, "organisation", f"{where}.organisation", "default"),
            spark=dict(self._spark(self.table(table, "spark", f"{where}.spark"), where)),
            check_files=self._check_files(table, f"{where}.check_files"),
            maintenance=self._maintenance(table, f"{where}.maintenance"),
            dispatch=self._dispatch(table, f"{where}.dispatch"),
            alert_channels=self._alert_channels(table, where),
            event_channels=self._event_channels(table, where),
            inbox=self._inbox(table, where),
            secrets=self._secrets(table, f"{where}.secrets"),
            outbound=self._outbound(table, f"{where}.outbound"),
            audit=self._audit(table, f"{where}.audit"),
            identity=self._identity(table, f"{where}.identity"),
            service=self._service(table, f"{where}.service"),
            records=self._records(table, f"{where}.records"),
        )

    def _lake(self, table: Mapping[str, Any], key: str) -> str:
        text = self.text(table, "lake", key, ".")
        scheme = urlsplit(text).scheme
        if scheme == "file":
            return text
        if scheme in LAKE_SCHEMES:
            return self._store(text, key)
        if "://" in text:
            known = " or ".join(f"{name}://BUCKET/FOLDER" for name in LAKE_SCHEMES)
            reason = "has no access for Spark yet" if scheme in CLOUDS else "is not supported"
            raise self.error(f"{key}: {scheme}:// {reason}; write a folder, or {known}")
        place = str((self.file.parent / text).resolve())
        if "%" in place:
            raise self.error(f"{key}: a path with a % cannot hold Delta tables")
        return place

    def _store(self, text: str, key: str) -> str:
        """A bucket, or a folder of one. Messages never show it, because it may contain a secret."""
        bucket, *folders = text.partition("://")[2].rstrip("/").split("/")
        plain = re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", bucket)
        odd = any(part in ("", ".", "..") or not _FOLDER.fullmatch(part) for part in folders)
        if not plain or odd:
            raise self.error(f"{key}: write {LAKE_SCHEMES[0]}://BUCKET/FOLDER in plain letters")
        return text.rstrip("/")

    def _storage(self, table: Mapping[str, Any], where: str) -> StorageSettings:
        section = self.table(table, "storage", where)
        self.check_keys(section, StorageSettings.model_fields, where)
        keys = {
            name: self.secret(section, name, f"{where}.{name}")
            for name in ("access_key", "secret_key")
        }
        if (keys["access_key"] is None) != (keys["secret_key"] is None):
            raise self.error(f"{where}: write both access_key and secret_key, or neither")
        region = self.optional_text(section, "region", f"{where}.region")
        endpoint = self._endpoint(section, f"{where}.endpoint")
        limits = {name: section[name] for name in _STORE_LIMITS if name in section}
        for name, value in limits.items():
            if type(value) is not int or not 1 <= value <= MOST_SECONDS:
                raise self.error(f"{where}.{name}: write a whole number from 1 to {MOST_SECONDS:,}")
        if section and urlsplit(self.text(table, "lake", where, ".")).scheme not in LAKE_SCHEMES:
            choice = f"remove this table, or write lake = {LAKE_SCHEMES[0]}://BUCKET/FOLDER"
            raise self.error(f"{where}: the lake is a folder; {choice}")
        return StorageSettings(endpoint=endpoint, region=region, **keys, **limits)

    def _endpoint(self, section: Mapping[str, Any], key: str) -> str:
        text = self.optional_text(section, "endpoint", key)
        problem = problem_of_address(text, allow_http=True) if text else ""
        parts = urlsplit(text)
        if not problem and parts.scheme == "http" and parts.hostname not in HERE:
            problem = "write https://; http:// is for a store on this machine"
        if problem:
            raise self.error(f"{key}: {problem}")
        return text

    def _database(self, table: Mapping[str, Any], where: str) -> DatabaseSettings:
        key = f"{where}.database"
        text = self.text(table, "database", key, DEFAULT_DATABASE)
        schema = self._schema(table, f"{where}.schema")
        password = self.secret(table, "password", f"{where}.password")
        kind, _, place = text.partition(":")
        if kind in ("postgresql", "postgres"):
            server = self._server(text, key)
            owner, owner_password = self._owner(table, server, where)
            return DatabaseSettings(
                server=server,
                schema_name=schema,
                password=password,
                owner=owner,
                owner_password=owner_password,
            )
        if kind != "sqlite" or not place or place.startswith((":", "//")):
            choice = "sqlite:PATH or postgresql://USER@HOST:PORT/NAME"
            raise self.error(f"{key}: not a database URL; write {choice}")
        for name in ("password", "owner", "owner_password"):
            if name in table:
                raise self.error(f"{where}.{name}: a SQLite file has no {name}")
        return DatabaseSettings(file=(self.file.parent / place).resolve(), schema_name=schema)

    def _owner(
        self, table: Mapping[str, Any], server: str, where: str
    ) -> tuple[str, SecretReference | None]:
        """Who migrates, if it is not the role of the URL."""
        owner = self.optional_text(table, "owner", f"{where}.owner")
        password = self.secret(table, "owner_password", f"{where}.owner_password")
        role = urlsplit(server).username
        if owner and (not role or unquote(role) == owner):
            choice = "postgresql://SERVICE_ROLE@HOST:PORT/NAME"
            raise self.error(f"{where}.owner: name another role in database, {choice}")
        if password is not None and not owner:
            raise self.error(f"{where}.owner_password: write owner too")
        return owner, password

    def _server(self, text: str, key: str) -> str:
        """The URL without secrets. Messages never show it, because it may contain one."""
        try:
            parts = urlsplit(text)
            _ = parts.port
        except ValueError:
            raise self.error(f"{key}: write postgresql://USER@HOST:PORT/NAME") from None
        options = dict(parse_qsl(parts.query, keep_blank_values=True))
        if parts.password is not None or "password" in options:
            reference = 'password = "env:NAME" or "file:PATH"'
            raise self.error(f"{key}: remove the password from the URL; write {reference}")
        for name in options:
            if name not in SERVER_OPTIONS:
                hint = did_you_mean(name, SERVER_OPTIONS) or f" ({', '.join(SERVER_OPTIONS)})"
                raise self.error(f"{key}: unknown URL option{hint}")
        self._check_parts(parts, options, key)
        for name in SERVER_FILES:
            if name in options and options[name] != "system":
                options[name] = str((self.file.parent / options[name]).resolve())
        query = f"?{urlencode(options)}" if options else ""
        return f"postgresql://{parts.netloc}{parts.path}{query}"

    def _check_parts(self, parts: SplitResult, options: Mapping[str, str], key: str) -> None:
        name = parts.path.removeprefix("/")
        if not name or parts.fragment or set("/@:") & set(name):
            raise self.error(f"{key}: write one database, postgresql://USER@HOST:PORT/NAME")
        if bool(parts.hostname) == ("host" in options):
            raise self.error(f"{key}: write one host, or a socket folder, ?host=/PATH")
        if "host" in options and not options["host"].startswith("/"):
            raise self.error(f"{key}: ?host= must be a socket folder; write @HOST:PORT")

    def _schema(self, table: Mapping[str, Any], key: str) -> str:
        """A schema name that PostgreSQL neither truncates nor reserves."""
        name = table.get("schema", DEFAULT_SCHEMA)
        if not isinstance(name, str) or "\0" in name:
            raise self.error(f"{key}: write a text")
        if not 1 <= len(name.encode()) <= LONGEST_SCHEMA:
            raise self.error(f"{key}: a schema name must have 1 to {LONGEST_SCHEMA} bytes")
        if name.startswith("pg_") or name in ("$user", "information_schema"):
            raise self.error(f"{key}: {name!r} is reserved by PostgreSQL")
        return name

    def _spark(self, table: Mapping[str, Any], where: str) -> Iterator[tuple[str, str]]:
        for name, value in flat(table):
            key = f"{where}.spark: {name}"
            if not name.startswith("spark."):
                raise self.error(f"{key}: a Spark option must start with spark.")
            if not isinstance(value, str | int | float):
                raise self.error(f"{key}: a value must be a string, a number or a boolean")
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if looks_secret(text) or is_sensitive_key(name):
                raise self.error(f"{key}: looks like a secret; remove it from this file")
            yield name, text

    def _check_files(self, table: Mapping[str, Any], key: str) -> FileCheck:
        return self.choice(table, "check_files", key, FileCheck.FOOTERS)

    def _maintenance(self, table: Mapping[str, Any], where: str) -> MaintenanceSettings:
        section = self.table(table, "maintenance", where)
        self.check_keys(section, MaintenanceSettings.model_fields, where)
        for key, value in section.items():
            least = 1 if key == "small_file_mb" else 0
            if type(value) is not int or not least <= value <= MOST:
                raise self.error(f"{where}.{key}: write a whole number from {least} to {MOST:,}")
        return MaintenanceSettings(**section)

    def _dispatch(self, table: Mapping[str, Any], where: str) -> DispatchSettings:
        section = self.table(table, "dispatch", where)
        self.check_keys(section, DispatchSettings.model_fields, where)
        for key, value in section.items():
            most = MOST_ATTEMPTS if key == "attempts" else MOST_SECONDS
            least = 0 if key == "quiet_seconds" else 1
            if type(value) is not int or not least <= value <= most:
                raise self.error(f"{where}.{key}: write a whole number from {least} to {most:,}")
        found = DispatchSettings(**section)
        if found.heartbeat_seconds * 2 > found.lease_seconds:
            raise self.error(f"{where}.heartbeat_seconds: must be at most half of the lease")
        if found.backoff_first_seconds > found.backoff_longest_seconds:
            raise self.error(
                f"{where}.backoff_first_seconds: must not be longer than the maximum backoff"
            )
        return found

    def _alert_channels(self, table: Mapping[str, Any], where: str) -> tuple[AlertChannel, ...]:
        """The environment's channels, else those of the file."""
        of_all = read_alert_channels(self, self.data, "alerts")  # validated in any case
        own = f"{where}.alerts"
        return read_alert_channels(self, table, own) if "alerts" in table else of_all

    def _event_channels(self, table: Mapping[str, Any], where: str) -> tuple[EventChannel, ...]:
        of_all = read_event_channels(self, self.data, "events")
        own = f"{where}.events"
        return read_event_channels(self, table, own) if "events" in table else of_all

    def _secrets(self, table: Mapping[str, Any], where: str) -> SecretsSettings:
        section = self.table(table, "secrets", where)
        self.check_keys(section, SecretsSettings.model_fields, where)
        command = section.get("command", [])
        if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
            raise self.error(f'{where}.command: write a list such as ["vault-read", "--raw"]')
        if "command" in section and not (command and command[0].strip()):
            raise self.error(f"{where}.command: name a program")
        if any(looks_secret(word) or "\0" in word for word in command):
            raise self.error(f"{where}.command: looks like a secret; remove it from this file")
        return SecretsSettings(command=tuple(command))

    def _outbound(self, table: Mapping[str, Any], where: str) -> OutboundSettings:
        section = self.table(table, "outbound", where)
        self.check_keys(section, OutboundSettings.model_fields, where)
        private, allow = section.get("private", True), section.get("allow", [])
        if not isinstance(private, bool):
            raise self.error(f"{where}.private: write true or false")
        if not isinstance(allow, list) or not all(isinstance(each, str) for each in allow):
            raise self.error(f'{where}.allow: write a list such as ["10.1.0.0/16"]')
        for network in allow:
            try:
                parse_network(network)
            except ValueError:
                wanted = "a network such as 10.1.0.0/16, or one address"
                raise self.error(f"{where}.allow: {network!r} is not {wanted}") from None
        if allow and private:
            raise self.error(f"{where}.allow: has no effect without private = false")
        return OutboundSettings(private=private, allow=tuple(allow))

    def _audit(self, table: Mapping[str, Any], where: str) -> AuditSettings:
        section = self.table(table, "audit", where)
        self.check_keys(section, AuditSettings.model_fields, where)
        return AuditSettings(key=self.secret(section, "key", f"{where}.key"))

    def _identity(self, table: Mapping[str, Any], where: str) -> IdentitySettings:
        if "identity" not in table:
            return IdentitySettings()
        from lakeguard.settings.identity import read_identity

        return read_identity(self, self.table(table, "identity", where), where)

    def _service(self, table: Mapping[str, Any], where: str) -> ServiceSettings:
        if "service" not in table:
            return ServiceSettings()
        from lakeguard.settings.service import read_service

        return read_service(self, self.table(table, "service", where), where)

    def _records(self, table: Mapping[str, Any], where: str) -> RecordsSettings:
        section = self.table(table, "records", where)
        self.check_keys(section, RecordsSettings.model_fields, where)
        store = self.choice(section, "store", f"{where}.store", RecordStore.SQL)
        return RecordsSettings(store=store)

    def _inbox(self, table: Mapping[str, Any], where: str) -> InboxSettings:
        of_all = self._inbox_of(self.data, "inbox")
        return self._inbox_of(table, f"{where}.inbox") if "inbox" in table else of_all

    def _inbox_of(self, table: Mapping[str, Any], where: str) -> InboxSettings:
        section = self.table(table, "inbox", where)
        self.check_keys(section, InboxSettings.model_fields, where)
        return InboxSettings(secret=self.secret(section, "secret", f"{where}.secret"))
