"""Settings of a project: ``lakeguard.toml``, one environment at a time.

    default_env = "dev"

    [env.dev]
    lake = "."
    database = "sqlite:.lakeguard/state.db"

    [env.dev.spark]
    spark.driver.memory = "2g"

Nothing here weakens a check. The one environment variable that is read, ``LAKEGUARD_ENV``,
chooses which of the file's environments is meant.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from lakeguard_sdk.errors import BadName, NoProject, SettingsError
from lakeguard_sdk.names import Word, check_word
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.secret_values import is_sensitive_key, looks_secret
from lakeguard_sdk.spelling import did_you_mean

SETTINGS_FILE = "lakeguard.toml"
ENV_VARIABLE = "LAKEGUARD_ENV"
DEFAULT_ENV = "dev"
TOP_KEYS = ("default_env", "env")
ENV_KEYS = ("lake", "database", "schema", "organisation", "spark")


class Settings(Noun):
    """One environment of one project; all places are absolute."""

    folder: Path
    env: Word
    lake: str
    database_path: Path
    database_schema: Word
    organisation: Word
    spark: dict[str, str]


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
            database_path=self._database(table, f"{where}.database"),
            database_schema=self._word(table, "schema", f"{where}.schema", "lakeguard"),
            organisation=self._word(table, "organisation", f"{where}.organisation", "default"),
            spark=dict(self._spark(self._table(table, "spark", f"{where}.spark"), where)),
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

    def _database(self, table: Mapping[str, Any], key: str) -> Path:
        text = self._text(table, "database", key, "sqlite:.lakeguard/state.db")
        kind, _, place = text.partition(":")
        if kind.startswith("postgres"):
            raise self._error(f"{key}: PostgreSQL is not available yet; write sqlite:PATH")
        if kind != "sqlite" or not place or place.startswith((":", "//")):
            raise self._error(f"{key}: not a database; write sqlite:PATH")
        return (self.file.parent / place).resolve()

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


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """``spark.driver.memory`` written bare is a nest of tables: its dotted name again."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(cast(dict[str, Any], value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
