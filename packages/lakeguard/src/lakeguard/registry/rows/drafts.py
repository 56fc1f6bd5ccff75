"""Draft definitions: registered values, overlaid with values from rows and their places.

A draft is filled value by value, by rows of any table. Two rows with different values for the
same field conflict; the error names both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from lakeguard.registry.files.load_columns import LISTS, SINGLE
from lakeguard.registry.kinds import KINDS, Key
from lakeguard.registry.rows.row import Cite, Row
from lakeguard.registry.rows.texts import shown
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard_sdk.core.dataset_name import clean_column
from lakeguard_sdk.errors import MissingKey, Place, WrongValue
from lakeguard_sdk.model.definitions import Definition, TargetDefinition

_NOUNS = {kind.word: kind.noun for kind in KINDS}
_MODEL_PATHS: dict[Path, Path] = {
    ("source",): ("build", "source"),
    ("source", "name"): ("build", "source"),
    ("source", "object"): ("build", "object"),
    ("source", "external_id"): ("build", "external_id"),
    ("build", "sql"): ("build", "text"),
    ("build", "python"): ("build", "file"),
    ("schema", "profile"): ("profile",),
    ("applies_to",): ("applies_to_layer",),
}
"""Maps paths in YAML files to paths in the model."""

_FREE = ("options", "details", "config", "secrets", "url")
"""Fields whose values are never shown."""


class DraftValue(NamedTuple):
    value: Any
    cite: Cite

    @property
    def place(self) -> Place:
        return self.cite.place


class Draft:
    """One definition; ``before`` is the registered one."""

    def __init__(self, key: Key, before: Definition | None, row: Row) -> None:
        self.key = key
        self.before = before
        self.row = row
        """The first row about it."""
        self.values: dict[Path, DraftValue] = {}

    @property
    def name(self) -> str:
        return self.key[1]

    @property
    def place(self) -> Place:
        return self.row.place

    def set_value(self, path: Path, value: Any, cite: Cite, findings: Findings) -> None:
        """Set a value; None leaves it unset."""
        if value is None:
            return
        first = self.values.setdefault(path, DraftValue(value, cite))
        if first.value != value and not _same_columns(path, first.value, value):
            key = ".".join(map(str, path))
            problem = f"conflicts with {first.place}"
            if path[0] not in _FREE:
                problem = f"{_short(value)} here, but {_short(first.value)} at {first.place}"
            findings.add(WrongValue(cite.place, key=key, problem=problem, hint=""))

    def value(self, *path: str) -> Any:
        """The value from rows, else the registered one, else None."""
        if path in self.values:
            return self.values[path].value
        data: Any = self.before
        for step in path:
            data = data.get(step) if isinstance(data, Mapping) else getattr(data, step, None)
        return data

    def members(self, field: str) -> dict[str, dict[str, Any]]:
        """Row values of named items, such as the sources of a target, by item and field."""
        found: dict[str, dict[str, Any]] = {}
        for path, item in self.values.items():
            if path[0] == field and len(path) == 3:
                found.setdefault(str(path[1]), {})[str(path[2])] = item.value
        return found

    def place_of(self, path: Path) -> Place:
        """The place of the value, or the nearest known place."""
        path = _MODEL_PATHS.get(path, path)
        while path:
            if path in self.values:
                return self.values[path].place
            for known in self.values:
                if known[: len(path)] == path:
                    return self.values[known].place
            path = path[:-1]
        return self.place

    def locate(self, definition: Definition, path: Path) -> Place:
        match path:
            case ("sources", int(index), *_) if isinstance(definition, TargetDefinition):
                return self.place_of(("sources", definition.sources[index].source))
            case _:
                return self.place_of(path)

    def finished(self, assembled: Mapping[str, Any], findings: Findings) -> Definition | None:
        """The definition with ``assembled`` fields; None after reporting errors."""
        kind, name = self.key
        data: dict[str, Any] = {} if self.before is None else self.before.to_data()
        data |= {"kind": kind, kind: name}
        for path, item in self.values.items():
            if path[0] not in assembled:
                _put(data, path, item.value)
        data |= assembled
        noun: Any = _NOUNS[kind]
        try:
            definition: Definition = noun.model_validate(data)
        except ValidationError as error:
            for problem in error.errors():
                findings.add(self._refusal(problem["loc"], problem["type"], problem["msg"]))
            return None
        return definition

    def _refusal(self, path: Path, kind: str, message: str) -> MissingKey | WrongValue:
        key = ".".join(str(step) for step in path)
        if kind in ("missing", "union_tag_not_found"):
            return MissingKey(self.place_of(path), key=f"{key} of {self.name}")
        return WrongValue(self.place_of(path), key=key, problem=message[:200], hint="")


class Drafts:
    """All drafts of a load, by kind and name, in row order."""

    def __init__(self, registered: Mapping[Key, Definition]) -> None:
        self.registered = registered
        self.drafts: dict[Key, Draft] = {}

    def open(self, kind: str, name: str, row: Row) -> Draft:
        key = (kind, name)
        if key not in self.drafts:
            self.drafts[key] = Draft(key, self.registered.get(key), row)
        return self.drafts[key]

    def names(self, kind: str) -> set[str]:
        return {name for found, name in (*self.registered, *self.drafts) if found == kind}

    def of_kind(self, kind: str) -> list[Draft]:
        return [draft for (found, _), draft in self.drafts.items() if found == kind]


def _put(data: dict[str, Any], path: Path, value: Any) -> None:
    for step in path[:-1]:
        data = data.setdefault(str(step), {})
    data[str(path[-1])] = value


def _same_columns(path: Path, one: Any, other: Any) -> bool:
    """Whether columns of a load are the same, one given by its name in the source."""
    if path[0] != "load" or path[1] not in (*LISTS, *SINGLE):
        return False
    return _clean_columns(one) == _clean_columns(other)


def _clean_columns(value: Any) -> tuple[str, ...]:
    return tuple(map(clean_column, [value] if isinstance(value, str) else value))


def _short(value: Any) -> str:
    return repr(shown(str(value)))
