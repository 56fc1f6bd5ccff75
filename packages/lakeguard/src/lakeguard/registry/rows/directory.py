"""Who is meant by an id in a row: by the rows of the same load, else by the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from lakeguard.registry.kinds import Key
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.row import Cite
from lakeguard.registry.rows.wording import shown
from lakeguard_sdk.definition import DatasetDefinition, Definition, FromSource
from lakeguard_sdk.errors import DuplicateDefinition, UnknownReference
from lakeguard_sdk.spelling import did_you_mean


class Ids:
    """The ids of one kind. They are compared as text, and each means one name."""

    def __init__(self, kind: str, names: Iterable[str], external: Mapping[str, str]) -> None:
        self.kind = kind
        self._external = external
        """Registered ids of other systems, each with the name meant."""
        self._known = {**external, **{name: name for name in names}}
        """Of a name and an id that are one text, the name is meant."""
        self._said: dict[str, tuple[str, Cite]] = {}
        self._rows: dict[tuple[str, str], Cite] = {}

    def declare(self, cells: Cells, column: str, row_id: str, name: str) -> bool:
        """Whether the row is the first of its table for this id and this name."""
        cite = cells.cite(column)
        for key in ((cells.row.table, f"id {row_id}"), (cells.row.table, f"name {name}")):
            first = self._rows.setdefault(key, cite)
            if first.row is not cells.row:
                said = f"{self.kind} {name}"
                cells.add(DuplicateDefinition(cite.place, name=said, first=first.place))
                return False
        meant, first = self._said.setdefault(row_id, (name, cite))
        if meant != name:
            said, before = f"{self.kind} {shown(row_id)}", f"{first.place}, as {meant}"
            cells.add(DuplicateDefinition(cite.place, name=said, first=before))
            return False
        self._said.setdefault(name, (name, cite))
        return True

    def mention(self, name: str, cite: Cite) -> None:
        """A name that rows give to something new."""
        self._said.setdefault(name, (name, cite))

    def find(self, row_id: str) -> str | None:
        if row_id in self._said:
            return self._said[row_id][0]
        return self._known.get(row_id)

    def owner(self, row_id: str) -> str | None:
        """What is registered with this id of another system."""
        return self._external.get(row_id)

    def resolve(self, cells: Cells, column: str) -> str | None:
        """The name that the row's id means; a mistake where it is missing or means nothing."""
        row_id = cells.needed(column)
        if row_id is None:
            return None
        found = self.find(row_id)
        if found is None:
            hint = did_you_mean(row_id, [*self._said, *self._known])
            place = cells.place(column)
            cells.add(UnknownReference(place, kind=self.kind, name=shown(row_id), hint=hint))
        return found


def registered_ids(kind: str, registered: Mapping[Key, Definition]) -> Ids:
    return _ids(kind, registered, kind, lambda item: getattr(item, "external_id", ""))


def registered_objects(registered: Mapping[Key, Definition]) -> Ids:
    """What sources hold and datasets read; an object is known by its dataset's name, too."""
    return _ids("source object", registered, "dataset", _object_id)


def _object_id(item: Definition) -> str:
    if isinstance(item, DatasetDefinition) and isinstance(item.build, FromSource):
        return item.build.external_id
    return ""


def _ids(
    said: str,
    registered: Mapping[Key, Definition],
    kind: str,
    external_id: Callable[[Definition], str],
) -> Ids:
    held = {name: item for (found, name), item in registered.items() if found == kind}
    external = {external_id(item): name for name, item in held.items()}
    external.pop("", None)
    return Ids(said, held, external)
