"""Rules of source columns: ``dq_rule_set``, with the severities and switches that apply to it.

Each setting may change alone: the others are as registered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.rules.compile import default_rule_id, define_rule
from lakeguard.gate.rules.parse import read_rule
from lakeguard.registry.files.rules import is_required, rule_error
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.row import Cite
from lakeguard.registry.rows.rule_forms import entry_text
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    ColumnDefinition,
    DatasetDefinition,
    FromSource,
    RuleDefinition,
)

_OF_OBJECT = ("dq_enabled", "dq_fail_behavior")
_OF_COLUMN = ("dq_rule_set", "dq_severity", "nullable")
Catalogue = Mapping[str, CatalogueRule]


@dataclass(frozen=True)
class RuleSettings:
    """What a source object and one of its columns say of the column's rules."""

    enabled: bool = True
    behaviour: Severity | None = None
    severity: Severity | None = None

    @property
    def effective(self) -> Severity:
        """FAIL if the object or the column is; by default WARN."""
        fails = Severity.FAIL in (self.severity, self.behaviour)
        return Severity.FAIL if fails else Severity.WARN


def read_column_rules(sheet: Worksheet, catalogue: Catalogue) -> None:
    """Replace the rules of every column about which the rows say something."""
    for draft in sheet.drafts.of_kind("dataset"):
        rows = draft.members("columns")
        before = _registered(draft)
        of_object = any(("build", name) in draft.values for name in _OF_OBJECT)
        known = [column.name for column in before.values() if column.dq_rule_set]
        for name in dict.fromkeys([*rows, *(known if of_object else ())]):
            row = rows.get(name, {})
            if row.get("active") is False or not (of_object or set(_OF_COLUMN) & set(row)):
                continue
            _replace_rules(sheet, draft, before.get(name), name, row, catalogue)


def _registered(draft: Draft) -> dict[str, ColumnDefinition]:
    if not isinstance(draft.before, DatasetDefinition):
        return {}
    return {column.name: column for column in draft.before.columns}


def _replace_rules(
    sheet: Worksheet,
    draft: Draft,
    before: ColumnDefinition | None,
    name: str,
    row: Mapping[str, Any],
    catalogue: Catalogue,
) -> None:
    cite = _cite(draft, name)
    if row.get("nullable") is False:
        required = read_rule("not_null", column=name).rule
        sheet.add_rule(draft, define_rule(required, rule_id=None, severity=Severity.FAIL), cite)
    if isinstance(draft.before, DatasetDefinition) and before is not None:
        gone = {rule.rule_id for rule in column_rules(draft.before, before, catalogue)}
        sheet.replaced_rules.setdefault(draft.name, set()).update(gone)
    if "dq_rule_set" in row:
        sheet.columns_with_rules.setdefault(draft.name, set()).add(name)
    severity = row.get("dq_severity", before.dq_severity if before else None)
    settings = RuleSettings(
        enabled=draft.value("build", "dq_enabled") is not False,
        behaviour=_severity(draft.value("build", "dq_fail_behavior")),
        severity=_severity(severity),
    )
    text = row.get("dq_rule_set", before.dq_rule_set if before else "")
    if text:
        for rule in _derived(sheet, draft, name, cite, text, settings, catalogue):
            sheet.add_rule(draft, rule, cite)
    elif "dq_severity" in row and "dq_rule_set" not in row:
        for rule in _revised(draft, name, settings.effective):
            sheet.add_rule(draft, rule, cite)


def _severity(value: Any) -> Severity | None:
    return None if value is None else Severity(value)


def _cite(draft: Draft, name: str) -> Cite:
    """The cell that changes the rules of a column."""
    paths = [("columns", name, field) for field in _OF_COLUMN]
    paths += [("build", field, "") for field in _OF_OBJECT]
    for path in paths:
        found = draft.values.get(tuple(step for step in path if step))
        if found is not None:
            return found.cite
    return Cite(draft.row)


def _derived(
    sheet: Worksheet,
    draft: Draft,
    name: str,
    cite: Cite,
    text: str,
    settings: RuleSettings,
    catalogue: Catalogue,
) -> list[RuleDefinition]:
    """The rules of a rule set; mistakes are reported at its cell."""
    cells = Cells(cite.row, sheet.findings)
    found: dict[str, RuleDefinition] = {}
    try:
        entries = _entries(text)
    except (ValueError, RecursionError):
        cells.wrong("dq_rule_set", "invalid JSON")
        return []
    for entry in entries:
        try:
            rule = _rule(entry, name, settings, catalogue)
        except GrammarError as error:
            cells.add(rule_error(cells.place("dq_rule_set"), draft.name, error))
            continue
        first = found.setdefault(rule.rule_id, rule)
        if first.expression != rule.expression:
            problem = f"duplicate rule {rule.rule_id} with a different expression"
            cells.wrong("dq_rule_set", problem)
    return _without_required(sheet, draft, name, found)


def _without_required(
    sheet: Worksheet, draft: Draft, name: str, found: dict[str, RuleDefinition]
) -> list[RuleDefinition]:
    """``is_nullable`` outranks a weaker rule of the set, now or as registered."""
    rules = [item.rule for item in sheet.rules.get(draft.name, {}).values()]
    if draft.members("columns").get(name, {}).get("nullable") is None:
        rules += draft.before.rules if isinstance(draft.before, DatasetDefinition) else ()
    required = f"not_null.{name}" if is_required(name, rules) else None
    return [rule for rule_id, rule in found.items() if rule_id != required]


def _entries(text: str) -> list[Any]:
    found = json.loads(text, parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_unique)
    return found if isinstance(found, list) else [found]


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found


def _rule(entry: Any, column: str, settings: RuleSettings, catalogue: Catalogue) -> RuleDefinition:
    """A rule with limits of its own has the severity that they imply."""
    text = entry_text(entry, column, catalogue)
    read = read_rule(text, column=column if text == entry else None).rule
    limited = read.fail_if is not None or read.warn_if is not None
    severity = None if limited else settings.effective
    return define_rule(read, rule_id=None, severity=severity, active=settings.enabled)


def column_rules(
    dataset: DatasetDefinition, column: ColumnDefinition, catalogue: Catalogue
) -> Iterator[RuleDefinition]:
    """The rules of a dataset that its column's ``dq_rule_set`` stands for."""
    if not column.dq_rule_set or not isinstance(dataset.build, FromSource):
        return
    build = dataset.build
    settings = RuleSettings(build.dq_enabled, build.dq_fail_behavior, column.dq_severity)
    for entry in _entries(column.dq_rule_set):
        try:
            rule = _rule(entry, column.name, settings, catalogue)
        except GrammarError:  # a catalogue rule that changed since
            continue
        if rule in dataset.rules:
            yield rule


def _revised(draft: Draft, name: str, severity: Severity) -> Iterator[RuleDefinition]:
    """Registered rules of a column that no rule set gave, with the severity of the row."""
    rules = draft.before.rules if isinstance(draft.before, DatasetDefinition) else ()
    for rule in rules:
        read = read_rule(rule.expression).rule
        limited = read.fail_if is not None or read.warn_if is not None
        own = read.columns == (name,) and rule.rule_id == default_rule_id(read)
        if own and not limited and not is_required(name, [rule]):
            yield rule.model_copy(update={"severity": severity})
