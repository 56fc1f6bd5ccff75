"""Definitions in the making: what is registered, and over it what rows say, each with its place.

A draft is said piece by piece, by rows of whatever table. Two rows that say different things
of the same piece contradict each other, and both are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from lakeguard.registry.kinds import KINDS, Key
from lakeguard.registry.rows.row import Cite, Row
from lakeguard.registry.rows.texts import shown
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard_sdk.errors import MissingKey, Place, WrongValue
from lakeguard_sdk.model.definitions import Definition, TargetDefinition

_NOUNS = {kind.word: kind.noun for kind in KINDS}
_WRITTEN: dict[Path, Path] = {
    ("source",): ("build", "source"),
    ("source", "name"): ("build", "source"),
    ("source", "object"): ("build", "object"),
    ("source", "external_id"): ("build", "external_id"),
    ("build", "sql"): ("build", "text"),
    ("build", "python"): ("build", "file"),
    ("schema", "profile"): ("profile",),
    ("applies_to",): ("applies_to_layer",),
}
"""From a place in a YAML file to the piece of the noun that it says."""

_FREE = ("options", "details", "config", "secrets", "url")
"""Fields whose values are never shown."""


class Said(NamedTuple):
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
        """The first that spoke of it."""
        self.said: dict[Path, Said] = {}

    @property
    def name(self) -> str:
        return self.key[1]

    @property
    def place(self) -> Place:
        return self.row.place

    def say(self, path: Path, value: Any, cite: Cite, findings: Findings) -> None:
        """Takes a piece; None says nothing."""
        if value is None:
            return
        first = self.said.setdefault(path, Said(value, cite))
        if first.value != value:
            key = ".".join(map(str, path))
            problem = f"this contradicts {first.place}"
            if path[0] not in _FREE:
                problem = f"{_short(value)} here, and {_short(first.value)} at {first.place}"
            findings.add(WrongValue(cite.place, key=key, problem=problem, hint=""))

    def value(self, *path: str) -> Any:
        """What is said of a piece, else what is registered, else None."""
        if path in self.said:
            return self.said[path].value
        data: Any = self.before
        for step in path:
            data = data.get(step) if isinstance(data, Mapping) else getattr(data, step, None)
        return data

    def members(self, field: str) -> dict[str, dict[str, Any]]:
        """What is said of named items, such as the sources of a target: by item and field."""
        found: dict[str, dict[str, Any]] = {}
        for path, said in self.said.items():
            if path[0] == field and len(path) == 3:
                found.setdefault(str(path[1]), {})[str(path[2])] = said.value
        return found

    def place_of(self, path: Path) -> Place:
        """Where the piece was said, or the nearest thing to it."""
        path = _WRITTEN.get(path, path)
        while path:
            if path in self.said:
                return self.said[path].place
            for said in self.said:
                if said[: len(path)] == path:
                    return self.said[said].place
            path = path[:-1]
        return self.place

    def locate(self, definition: Definition, path: Path) -> Place:
        match path:
            case ("sources", int(index), *_) if isinstance(definition, TargetDefinition):
                return self.place_of(("sources", definition.sources[index].source))
            case _:
                return self.place_of(path)

    def finished(self, whole: Mapping[str, Any], findings: Findings) -> Definition | None:
        """The definition, with fields of ``whole`` put together elsewhere; None if it lacks
        anything."""
        kind, name = self.key
        data: dict[str, Any] = {} if self.before is None else self.before.to_data()
        data |= {"kind": kind, kind: name}
        for path, said in self.said.items():
            if path[0] not in whole:
                _put(data, path, said.value)
        data |= whole
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
    """All drafts of a load, by kind and name, in the order in which rows spoke of them."""

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


def _short(value: Any) -> str:
    return repr(shown(str(value)))
