"""State shared by the row readers: rows by table, drafts and ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from lakeguard.registry.kinds import Key
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.drafts import Draft, Drafts
from lakeguard.registry.rows.row import Cite, Row
from lakeguard.registry.rows.texts import clean_word, is_own_id, shown
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import BUILT_IN_PROFILES
from lakeguard_sdk.core.ids import is_uuid
from lakeguard_sdk.errors import DuplicateDefinition, DuplicateRule, UnknownReference
from lakeguard_sdk.model.definitions import (
    DatasetDefinition,
    Definition,
    FromSource,
    RuleDefinition,
)
from lakeguard_sdk.model.given_values import GivenRow

# Ids are resolved by rows of the same load first, then by the registry.


class Ids:
    """The ids of one kind. They are compared as text; each identifies one name."""

    def __init__(self, kind: str, names: Iterable[str], external: Mapping[str, str]) -> None:
        self.kind = kind
        self._external = external
        """Registered external ids, with the name of each."""
        self._names = frozenset(names)
        """If a text is both a name and an id, the name wins."""
        self._given_external: dict[str, str] = {}
        """External ids that rows give in a column of their own."""
        self._declared: dict[str, tuple[str, Cite]] = {}
        self._rows: dict[tuple[str, str], Cite] = {}

    def declare(self, cells: Cells, column: str, row_id: str, name: str) -> bool:
        """Whether the row is the first of its table for this id and this name."""
        cite = cells.cite(column)
        for key in ((cells.row.table, f"id {row_id}"), (cells.row.table, f"name {name}")):
            first = self._rows.setdefault(key, cite)
            if first.row is not cells.row:
                label = f"{self.kind} {name}"
                cells.add(DuplicateDefinition(cite.place, name=label, first=first.place))
                return False
        owner, first = self._declared.setdefault(row_id, (name, cite))
        if owner != name:
            label, before = f"{self.kind} {shown(row_id)}", f"{first.place}, as {owner}"
            cells.add(DuplicateDefinition(cite.place, name=label, first=before))
            return False
        self._declared.setdefault(name, (name, cite))
        return True

    def mention(self, name: str, cite: Cite) -> None:
        """Register a name that rows introduce."""
        self._declared.setdefault(name, (name, cite))

    def mention_external(self, external_id: str, name: str) -> None:
        """Rows may refer to an external id that another row of the load gives."""
        self._given_external.setdefault(external_id, name)

    def find(self, row_id: str) -> str | None:
        if row_id in self._declared:
            return self._declared[row_id][0]
        if row_id in self._names:
            return row_id
        return self._given_external.get(row_id) or self._external.get(row_id)

    def owner(self, row_id: str) -> str | None:
        """The registered name with this external id."""
        return self._external.get(row_id)

    def resolve(self, cells: Cells, column: str) -> str | None:
        """The name of the row's id; an error if it is missing or unknown."""
        row_id = cells.needed(column)
        if row_id is None:
            return None
        found = self.find(row_id)
        if found is None:
            known = (*self._declared, *self._names, *self._given_external, *self._external)
            hint = did_you_mean(row_id, known)
            place = cells.place(column)
            cells.add(UnknownReference(place, kind=self.kind, name=shown(row_id), hint=hint))
        return found


def _registered_ids(
    kind: str, registered: Mapping[Key, Definition], own: Mapping[str, str] | None = None
) -> Ids:
    """By external id, by name, and by their ``own`` ids, given by name."""
    return _ids(kind, registered, kind, lambda item: getattr(item, "external_id", ""), own or {})


def _registered_objects(registered: Mapping[Key, Definition]) -> Ids:
    """Source objects, also identified by the name of their dataset."""
    return _ids("source object", registered, "dataset", _object_id)


def _object_id(item: Definition) -> str:
    if isinstance(item, DatasetDefinition) and isinstance(item.build, FromSource):
        return item.build.external_id
    return ""


def _ids(
    label: str,
    registered: Mapping[Key, Definition],
    kind: str,
    external_id: Callable[[Definition], str],
    own: Mapping[str, str] = MappingProxyType({}),
) -> Ids:
    items = {name: item for (found, name), item in registered.items() if found == kind}
    external = {external_id(item): name for name, item in items.items()}
    external |= {own_id: name for name, own_id in own.items()}
    external.pop("", None)
    return Ids(label, items, external)


class RowRule(NamedTuple):
    rule: RuleDefinition
    cite: Cite


class Worksheet:
    """The state of one load while its rows are read."""

    def __init__(
        self,
        rows: Iterable[Row],
        registered: Mapping[Key, Definition],
        findings: Findings,
        dataset_ids: Mapping[str, str],
    ) -> None:
        self.findings = findings
        self.dataset_ids = dataset_ids
        """Ids of the registered datasets by name."""
        self.drafts = Drafts(registered)
        self.sources = _registered_ids("source", registered)
        self.targets = _registered_ids("target", registered)
        self.datasets = _registered_ids("dataset", registered, dataset_ids)
        self.jobs = _registered_ids("job", registered)
        self.objects = _registered_objects(registered)
        self.rules: dict[str, dict[str, RowRule]] = {}
        """Rules from rows, by dataset and rule id."""
        self.columns_with_rules: dict[str, set[str]] = {}
        """By dataset: columns whose complete rules are listed in a row."""
        self.replaced_rules: dict[str, set[str]] = {}
        """By dataset: ids of registered rules that came from a rule set which the rows change."""
        self._subjects: list[tuple[Key, tuple[str, ...], Cells]] = []
        """Every row that says something of a definition, with its definition and member."""
        self._rows: dict[str, list[Row]] = {}
        for row in rows:
            self._rows.setdefault(row.table, []).append(row)

    @cached_property
    def profiles(self) -> set[str]:
        """All profiles; complete once their rows are read."""
        return self.drafts.names("profile") | set(BUILT_IN_PROFILES)

    def cells(self, table: str) -> Iterator[Cells]:
        for row in self._rows.get(table, ()):
            yield Cells(row, self.findings)

    def named(self, ids: Ids, cells: Cells, id_column: str, name_column: str) -> Draft | None:
        """The draft of the row, by its name, else by its id."""
        row_id = cells.needed(id_column)
        if row_id is None:
            return None
        known = ids.find(row_id)
        if cells.has(name_column):
            name = cells.word(name_column)
        else:
            name = known or clean_word(row_id)
            if name is None:
                cells.missing(name_column)
        if name is None:
            return None
        return self.opened(ids, cells, (id_column, row_id), name)

    def opened(
        self, ids: Ids, cells: Cells, id_cell: tuple[str, str], name: str, before: str = ""
    ) -> Draft | None:
        """``before`` is the former name in a rename."""
        id_column, row_id = id_cell
        own = (name, name.partition(".")[2])
        known = ids.owner(row_id)
        if row_id not in own and known not in (None, name, before):
            cells.wrong(id_column, f"{shown(row_id)} is {ids.kind} {known}, not {name}")
            return None
        if not ids.declare(cells, id_column, row_id, name):
            return None
        draft = self.drafts.open(ids.kind, name, cells.row)
        if ids.kind == "dataset" and is_uuid(row_id):
            self.set_dataset_id(draft, cells, row_id, before)
        elif not cells.has("external_id") and row_id not in own and not is_own_id(row_id):
            self.set_value(draft, cells, ("external_id",), id_column, row_id)
        if external_id := cells.text("external_id"):
            ids.mention_external(external_id, name)
        self.set_value(draft, cells, ("external_id",), "external_id", external_id)
        self.about(draft, cells)
        return draft

    def set_dataset_id(self, draft: Draft, cells: Cells, dataset_id: str, before: str = "") -> None:
        """A new dataset keeps the UUID that it is given; that of a registered one never changes.
        Any other id is of another system."""
        column = "dataset_id"
        if not is_uuid(dataset_id):
            self.set_value(draft, cells, ("external_id",), column, dataset_id)
            return
        known = self.dataset_ids.get(draft.name) or self.dataset_ids.get(before)
        if known is None:
            self.set_value(draft, cells, ("dataset_id",), column, dataset_id)
        elif known != dataset_id:
            cells.wrong(column, f"the id of {draft.name} is {known} and never changes")

    def about(self, draft: Draft, cells: Cells, *member: str) -> None:
        """Record which definition a row is about, and which member of it."""
        self._subjects.append((draft.key, member, cells))

    def given(self) -> list[GivenRow]:
        """The rows as they were given."""
        return [
            GivenRow(key, cells.row.table, member, cells.given())
            for key, member, cells in self._subjects
        ]

    def set_value(self, draft: Draft, cells: Cells, path: Path, column: str, value: Any) -> None:
        draft.set_value(path, value, cells.cite(column), self.findings)

    def set_texts(self, draft: Draft, cells: Cells, *columns: str) -> None:
        """Set columns whose names equal the fields."""
        for column in columns:
            self.set_value(draft, cells, (column,), column, cells.text(column))

    def add_rule(self, draft: Draft, rule: RuleDefinition, cite: Cite) -> None:
        rules = self.rules.setdefault(draft.name, {})
        first = rules.setdefault(rule.rule_id, RowRule(rule, cite))
        if first.rule != rule:
            before = f"{first.rule.expression} at {first.cite.place}"
            self.findings.add(DuplicateRule(cite.place, rule=rule.rule_id, first=before))
