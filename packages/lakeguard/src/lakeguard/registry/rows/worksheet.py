"""What the readers of rows share: the rows by table, the drafts, and who is meant by an id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from lakeguard.registry.findings import Findings
from lakeguard.registry.kinds import Key
from lakeguard.registry.nodes import Path
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.directory import Ids, registered_ids, registered_objects
from lakeguard.registry.rows.drafts import Draft, Drafts
from lakeguard.registry.rows.naming import clean_word, is_own_id
from lakeguard.registry.rows.row import Cite, Row
from lakeguard.registry.rows.wording import shown
from lakeguard_sdk.definition import Definition, RuleDefinition
from lakeguard_sdk.errors import DuplicateRule
from lakeguard_sdk.words import BUILT_IN_PROFILES


class SaidRule(NamedTuple):
    rule: RuleDefinition
    cite: Cite


class Worksheet:
    """One load, while its rows are read."""

    def __init__(
        self, rows: Iterable[Row], registered: Mapping[Key, Definition], findings: Findings
    ) -> None:
        self.findings = findings
        self.drafts = Drafts(registered)
        self.sources = registered_ids("source", registered)
        self.targets = registered_ids("target", registered)
        self.datasets = registered_ids("dataset", registered)
        self.jobs = registered_ids("job", registered)
        self.objects = registered_objects(registered)
        self.rules: dict[str, dict[str, SaidRule]] = {}
        """By dataset and id: what rows say of rules."""
        self.spoken_columns: dict[str, set[str]] = {}
        """By dataset: columns whose rules a row lists whole."""
        self._rows: dict[str, list[Row]] = {}
        for row in rows:
            self._rows.setdefault(row.table, []).append(row)

    @cached_property
    def profiles(self) -> set[str]:
        """Every profile that there is, once their rows are read."""
        return self.drafts.names("profile") | set(BUILT_IN_PROFILES)

    def cells(self, table: str) -> Iterator[Cells]:
        for row in self._rows.get(table, ()):
            yield Cells(row, self.findings)

    def named(self, ids: Ids, cells: Cells, id_column: str, name_column: str) -> Draft | None:
        """The draft of the row's thing: by its name, else by its id."""
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
        """``before`` is a name that the thing had and gives up now."""
        id_column, row_id = id_cell
        own = (name, name.partition(".")[2])
        known = ids.owner(row_id)
        if row_id not in own and known not in (None, name, before):
            cells.wrong(id_column, f"{shown(row_id)} is {ids.kind} {known}, not {name}")
            return None
        if not ids.declare(cells, id_column, row_id, name):
            return None
        draft = self.drafts.open(ids.kind, name, cells.row)
        if cells.has("external_id"):
            self.say(draft, cells, ("external_id",), "external_id", cells.text("external_id"))
        elif row_id not in own and not is_own_id(row_id):
            self.say(draft, cells, ("external_id",), id_column, row_id)
        return draft

    def say(self, draft: Draft, cells: Cells, path: Path, column: str, value: Any) -> None:
        draft.say(path, value, cells.cite(column), self.findings)

    def say_texts(self, draft: Draft, cells: Cells, *columns: str) -> None:
        """Columns whose names are those of the pieces."""
        for column in columns:
            self.say(draft, cells, (column,), column, cells.text(column))

    def say_rule(self, draft: Draft, rule: RuleDefinition, cite: Cite) -> None:
        said = self.rules.setdefault(draft.name, {})
        first = said.setdefault(rule.rule_id, SaidRule(rule, cite))
        if first.rule != rule:
            before = f"{first.rule.expression} at {first.cite.place}"
            self.findings.add(DuplicateRule(cite.place, rule=rule.rule_id, first=before))
