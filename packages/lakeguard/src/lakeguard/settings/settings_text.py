"""Typed access to one ``lakeguard.toml``; every error names the file and the key."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, cast

from lakeguard.settings.settings import SecretReference
from lakeguard_sdk.core.dataset_name import check_word
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import BadName, SettingsError

Choice = TypeVar("Choice", bound=StrEnum)


class SettingsText:
    """The parsed file, with validated access to its values."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            self.data = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise self.error("not UTF-8 text") from None
        except tomllib.TOMLDecodeError as error:
            raise self.error(f"invalid TOML: {error}") from None
        except RecursionError:
            raise self.error("nested too deeply") from None

    def secret(self, table: Mapping[str, Any], name: str, key: str) -> SecretReference | None:
        if name not in table:
            return None
        kind, _, place = self.text(table, name, key, "").partition(":")
        if kind == "env" and place.isidentifier():
            return SecretReference(settings_file=str(self.file), key=key, variable=place)
        if kind == "file" and place:
            file = (self.file.parent / place).resolve()
            return SecretReference(settings_file=str(self.file), key=key, file=file)
        raise self.error(f"{key}: a secret must be a reference; write env:NAME or file:PATH")

    def check_keys(self, table: Mapping[str, Any], known: Collection[str], where: str) -> None:
        for key in table:
            if key not in known:
                place = f" in [{where}]" if where else ""
                raise self.error(f"unknown key {key!r}{place}{did_you_mean(key, known)}")

    def table(self, table: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self.error(f"{where}: write a table, [{where}]")
        return cast(dict[str, Any], value)

    def text(self, table: Mapping[str, Any], key: str, where: str, default: str) -> str:
        value = table.get(key, default)
        if not isinstance(value, str) or not value.strip() or not value.isprintable():
            raise self.error(f"{where}: must not be empty")
        return value

    def optional_text(self, table: Mapping[str, Any], key: str, where: str) -> str:
        return self.text(table, key, where, "") if key in table else ""

    def word(self, table: Mapping[str, Any], key: str, where: str, default: str) -> str:
        value = self.text(table, key, where, default)
        try:
            return check_word(value)
        except BadName:
            raise self.error(f"{where}: {value!r} is not a lower snake case word") from None

    def choice(self, table: Mapping[str, Any], name: str, key: str, default: Choice) -> Choice:
        kind = type(default)
        text = self.text(table, name, key, default)
        if text not in list(kind):
            raise self.error(f"{key}: write {' or '.join(kind)}")
        return kind(text)

    def error(self, problem: str) -> SettingsError:
        return SettingsError(file=str(self.file), problem=problem)


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Join nested TOML tables to dotted names such as ``spark.driver.memory``."""
    for key, value in table.items():
        if isinstance(value, dict):
            yield from flat(cast(dict[str, Any], value), f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
