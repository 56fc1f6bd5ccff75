"""All mistakes of a folder, not only the first."""

from __future__ import annotations

from lakeguard_sdk.definition_errors import DefinitionError, InvalidDefinitions


class Findings:
    """Collects mistakes; says them in the order in which a reader meets them."""

    def __init__(self) -> None:
        self._errors: list[DefinitionError] = []

    def add(self, error: DefinitionError) -> None:
        self._errors.append(error)

    @property
    def count(self) -> int:
        return len(self._errors)

    def errors(self) -> tuple[DefinitionError, ...]:
        """Sorted by place; the same mistake at the same place is said once."""
        unique = {(e.place, e.code, str(e)): e for e in self._errors}
        return tuple(sorted(unique.values(), key=_reading_order))

    def raise_if_any(self) -> None:
        if self._errors:
            raise InvalidDefinitions(self.errors())


def _reading_order(error: DefinitionError) -> tuple[str, int, int, str]:
    return error.place.file, error.place.line, error.place.column, error.code
