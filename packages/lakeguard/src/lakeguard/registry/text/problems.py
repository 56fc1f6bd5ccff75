"""Collects every error of a folder instead of stopping at the first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lakeguard_sdk.errors import DefinitionError, InvalidDefinitions, MissingKey, UnknownKey
from lakeguard_sdk.security.secret_values import holds_secret, masked


class Findings:
    """Collects errors and returns them in file order."""

    def __init__(self) -> None:
        self._errors: list[DefinitionError] = []

    def add(self, error: DefinitionError) -> None:
        """Add an error with possible secrets masked, because errors are printed and logged."""
        self._errors.append(_harmless(error))

    @property
    def count(self) -> int:
        return len(self._errors)

    def errors(self) -> tuple[DefinitionError, ...]:
        """Sorted by place, without duplicates; in a file with unknown keys, which may have been
        meant to be the missing ones, these come last."""
        unique = {(e.place, e.code, str(e)): e for e in self._errors}
        unknown = {e.place.file for e in self._errors if isinstance(e, UnknownKey)}

        def order(error: DefinitionError) -> tuple[str, bool, int, int, str]:
            last = isinstance(error, MissingKey) and error.place.file in unknown
            return (error.place.file, last, *_place_in_file(error))

        return tuple(sorted(unique.values(), key=order))

    def raise_if_any(self) -> None:
        if self._errors:
            raise InvalidDefinitions(self.errors())


def _harmless(error: DefinitionError) -> DefinitionError:
    fields = {key: _masked(value) for key, value in error.fields.items()}
    file = error.place.file
    if fields == error.fields and not holds_secret(file):
        return error
    place = replace(error.place, file=masked(file))
    return type(error)(place, **fields)


def _masked(value: Any) -> Any:
    if isinstance(value, str) and type(value) is str:
        return masked(value)
    return [_masked(item) for item in value] if isinstance(value, list) else value


def _place_in_file(error: DefinitionError) -> tuple[int, int, str]:
    return error.place.line, error.place.column, error.code
