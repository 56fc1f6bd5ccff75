"""Typed access to the values of one row; each reader returns None for NULL.

NULL leaves a field unchanged, an empty string clears it. Each error is reported once, at its value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeVar

from lakeguard.registry.rows.row import Cite, Now, Row
from lakeguard.registry.rows.texts import clean_word, is_word, shown
from lakeguard.registry.text.characters import flag_of
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import (
    BadDefinitionName,
    DefinitionError,
    MissingKey,
    Place,
    SecretValue,
    WrongValue,
)
from lakeguard_sdk.security.secret_values import (
    address_holds_secret,
    is_reference,
    is_sensitive_key,
    looks_secret,
)

Choice = TypeVar("Choice", bound=StrEnum)


class Cells:
    """One row with typed readers by column."""

    def __init__(self, row: Row, findings: Findings) -> None:
        self.row = row
        self.findings = findings

    def refuse_secret(self, column: str, key: str) -> bool:
        """Whether the value is a secret where ``key`` needs a reference. Reported even if the row
        has other errors, so its line is never shown."""
        value = self.row.values.get(column)
        return isinstance(value, str) and self.refuse_secret_text(column, key, value)

    def refuse_secret_text(self, column: str, key: str, value: str) -> bool:
        if not value or is_reference(value):
            return False
        looks = address_holds_secret if key.lower() == "url" else looks_secret
        if not is_sensitive_key(key) and not looks(value):
            return False
        self.add(SecretValue(self.place(column), key=shown(key)))
        return True

    def has(self, column: str) -> bool:
        return self.row.values.get(column) is not None

    def place(self, column: str) -> Place:
        return self.row.place_of(column)

    def cite(self, column: str = "") -> Cite:
        return Cite(self.row, column)

    def add(self, error: DefinitionError) -> None:
        self.findings.add(error)

    def wrong(self, column: str, problem: str, hint: str = "") -> None:
        self.add(WrongValue(self.place(column), key=column, problem=problem, hint=hint))

    def missing(self, column: str) -> None:
        self.add(MissingKey(self.place(column), key=column))

    def exact(self, column: str) -> str | None:
        """The value as text, with surrounding spaces."""
        match self.row.values.get(column):
            case None:
                return None
            case Now():
                self.wrong(column, "the current time is allowed in created_at and updated_at only")
                return None
            case bool(flag):
                return "true" if flag else "false"
            case Decimal() as number:
                return format(number.to_integral_value() if number == int(number) else number, "f")
            case value:
                return str(value)

    def given(self) -> dict[str, str]:
        """All values as an export writes them, without NULLs and current times."""
        values = self.row.values.items()
        return {c: _written(v) for c, v in values if v is not None and not isinstance(v, Now)}

    def text(self, column: str) -> str | None:
        value = self.exact(column)
        return None if value is None else value.strip()

    def needed(self, column: str) -> str | None:
        """A required text that is not empty."""
        if not self.has(column):
            self.missing(column)
            return None
        value = self.text(column)
        if value == "":
            self.wrong(column, "must not be empty")
        return value or None

    def word(self, column: str) -> str | None:
        """A name, converted to lower snake case."""
        value = self.text(column)
        return None if value is None else self.as_word(column, value)

    def as_word(self, column: str, value: str) -> str | None:
        name = clean_word(value)
        if name is None:
            self.add(BadDefinitionName(self.place(column), name=shown(value)))
        return name

    def flag(self, column: str) -> bool | None:
        value = self.text(column)
        if value is None:
            return None
        found = flag_of(value)
        if found is None:
            self.wrong(column, f"{shown(value)!r} is not a boolean; write TRUE or FALSE")
        return found

    def choice(
        self, column: str, options: type[Choice], aliases: Mapping[str, Choice] | None = None
    ) -> Choice | None:
        """A member of an enum, ignoring case."""
        value = self.text(column)
        if value is None:
            return None
        known = {option.value.lower(): option for option in options}
        known |= {word.lower(): option for word, option in (aliases or {}).items()}
        found = known.get(value.lower())
        if found is None:
            words = [option.value for option in options]
            hint = did_you_mean(value, words) or f"; write one of {', '.join(words)}"
            self.wrong(column, f"invalid value {shown(value)!r}", hint)
        return found

    def whole(self, column: str) -> int | None:
        value = self.text(column)
        if value is None:
            return None
        if value.isascii() and value.isdigit() and len(value) < 10:
            return int(value)
        self.wrong(column, "write a whole number, 0 or more")
        return None

    def names(self, column: str) -> tuple[str, ...] | None:
        """``["a", "b"]`` or ``a, b``, without duplicates."""
        value = self.text(column)
        if value is None:
            return None
        if value.startswith("["):
            found = self.json(column)
            if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
                if found is not None:
                    self.wrong(column, 'write a list of strings, ["a", "b"]')
                return None
        else:
            found = [item.strip() for item in value.split(",")] if value else []
        if not all(found) or len(set(found)) < len(found):
            self.wrong(column, "duplicate or empty column")
            return None
        return tuple(found)

    def words(self, column: str) -> tuple[str, ...] | None:
        """Snake_case names."""
        found = self.names(column)
        for word in found or ():
            if not is_word(word):
                self.add(BadDefinitionName(self.place(column), name=shown(word)))
                return None
        return found

    def json(self, column: str) -> Any:
        """Any JSON with exact numbers; None if invalid."""
        value = self.text(column) or ""
        try:
            return json.loads(
                value, parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_once
            )
        except (ValueError, RecursionError):
            self.wrong(column, "invalid JSON")
            return None

    def mapping(self, column: str) -> dict[str, str] | None:
        """``{"key": "value"}``; numbers and booleans become text."""
        if not self.has(column):
            return None
        found = self.json(column)
        if found is None:
            return None
        if not isinstance(found, dict) or not all(_plain(item) for item in found.values()):
            self.wrong(column, 'write an object of strings, {"key": "value"}')
            return None
        return {key: _as_text(item) for key, item in found.items()}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _written(value: str | int | Decimal) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _plain(value: object) -> bool:
    return isinstance(value, str | int | Decimal)


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
