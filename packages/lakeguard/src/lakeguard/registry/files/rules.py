"""Parses the rules of a dataset file; errors point at the exact characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lakeguard.gate.grammar.grammar_error import GrammarError, nearest
from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rules.compile import compile_text, define_rule
from lakeguard.gate.rules.parse import read_rule
from lakeguard.gate.rules.quarantine_rules import check_quarantine
from lakeguard.registry.files.columns import ColumnsRead
from lakeguard.registry.macros import Macros
from lakeguard.registry.text.fields import LONGEST_TEXT, Fields
from lakeguard.registry.text.yaml_nodes import Block, Node, Scalar
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.errors import (
    DefinitionError,
    DuplicateRule,
    Place,
    RuleMeaning,
    RuleSyntax,
    UnknownColumn,
    UnknownRuleType,
)
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.model.load import Load, load_columns
from lakeguard_sdk.types.schema import Column, TableSchema

KEYS = ("rule", "id", "severity", "active", "external_id")
RULE_ID = re.compile(r"[a-z][a-z0-9_.-]{0,199}\Z")
RULE_ID_FORM = (
    "use lower case letters, digits and . _ -, at most 200 characters, and start with a letter"
)
_SHAPE = "unique(order_id) or {rule: unique(order_id), severity: WARN}"


@dataclass(frozen=True)
class _Entry:
    """One rule as written; ``where`` is its node in the file."""

    where: Node
    text: str
    column: str | None
    rule_id: str | None = None
    severity: Severity | None = None
    active: bool = True
    external_id: str = ""


def read_rules(
    fields: Fields, dataset: str, columns: ColumnsRead, load: Load | None, macros: Macros
) -> tuple[RuleDefinition, ...]:
    """Rules in order: by column, then those of the dataset.

    They may use columns that the load adds, and catalogue rules.
    """
    schema = batch = None
    if columns.complete and load is not None:
        declared = tuple(Column(name=c.name, type=c.type) for c in columns.columns)
        schema = TableSchema(columns=declared + load_columns(load))
        batch = TableSchema(columns=declared)
    reader = _RuleReader(fields, dataset, schema, batch, macros)
    for declared_rules in columns.rules:
        if declared_rules.required is not None:
            reader.take(_Entry(declared_rules.required, "not_null", declared_rules.column))
        for node in declared_rules.rules:
            reader.read(node, declared_rules.column)
    for node in fields.items("rules"):
        reader.read(node, None)
    return tuple(reader.rules.values())


class _RuleReader:
    def __init__(
        self,
        fields: Fields,
        dataset: str,
        schema: TableSchema | None,
        batch: TableSchema | None,
        macros: Macros,
    ) -> None:
        self.macros = macros
        self.fields = fields
        self.dataset = dataset
        self.schema = schema
        self.batch = batch
        self.rules: dict[str, RuleDefinition] = {}

    def read(self, node: Node, column: str | None) -> None:
        """A rule is a string, or a mapping with the rule and its options."""
        entry: _Entry | None = None
        if isinstance(node, Scalar) and not node.is_null:
            entry = _Entry(node, node.value, column)
        elif isinstance(node, Block):
            entry = self._spelled_out(node, column)
        else:
            self.fields.wrong(node, "rules", f"write a rule, such as {_SHAPE}")
        if entry is not None:
            self.take(entry)

    def _spelled_out(self, block: Block, column: str | None) -> _Entry | None:
        before = self.fields.findings.count
        fields = Fields(self.fields.document, block, self.fields.findings, KEYS)
        scalar = fields.scalar("rule", required=True)
        rule_id = fields.text("id")
        if rule_id is not None and not RULE_ID.match(rule_id):
            fields.wrong(block.values["id"], "id", RULE_ID_FORM)
        has_severity = fields.node("severity") is not None
        severity = fields.choice("severity", Severity) if has_severity else None
        active = fields.flag("active", True)
        external_id = fields.text("external_id") or ""
        if scalar is None or fields.findings.count > before:
            return None
        return _Entry(scalar, scalar.value, column, rule_id, severity, active, external_id)

    def take(self, entry: _Entry) -> None:
        """Add the rule, or the rules that a catalogue rule expands to."""
        try:
            expanded = self.macros.expand(entry.text, entry.column)
        except GrammarError as error:
            place = self.fields.document.place(entry.where)
            self.fields.add(rule_error(place, self.dataset, error))
            return
        if expanded is None:
            self._take_one(entry)
            return
        for number, item in enumerate(expanded, 1):
            own = entry.rule_id if len(expanded) == 1 else f"{entry.rule_id}.{number}"
            self._take_one(
                replace(
                    entry,
                    text=item.text,
                    column=None,
                    rule_id=own if entry.rule_id else item.rule_id,
                    severity=entry.severity or item.severity,
                )
            )

    def _take_one(self, entry: _Entry) -> None:
        try:
            rule = read_rule(entry.text, column=entry.column).rule
            if self.schema is not None:
                compile_text(entry.text, self.schema, column=entry.column)
                check_quarantine(entry.text, self.batch or self.schema, column=entry.column)
        except GrammarError as error:
            if error.kind == "rule_type":
                known = [*(rule.name for rule in RULE_TYPES), *self.macros.names]
                error.hint = nearest(error.word, known)
            self.fields.add(self._refused(entry, error))
            return
        try:
            definition = define_rule(
                rule, rule_id=entry.rule_id, severity=entry.severity, active=entry.active
            )
        except GrammarError as error:
            # Its offset refers to the canonical text, which is not in the file.
            place = self.fields.document.place(entry.where)
            self.fields.add(rule_error(place, self.dataset, error))
            return
        self._claim(entry, definition.model_copy(update={"external_id": entry.external_id}))

    def _claim(self, entry: _Entry, rule: RuleDefinition) -> None:
        if len(rule.rule_id) > LONGEST_TEXT:
            self.fields.wrong(entry.where, "rules", "the generated id is too long; set id:")
        elif rule.rule_id in self.rules:
            place = self.fields.document.place(entry.where)
            first = self.rules[rule.rule_id].expression
            self.fields.add(DuplicateRule(place, rule=rule.rule_id, first=first))
        else:
            self.rules[rule.rule_id] = rule

    def _refused(self, entry: _Entry, error: GrammarError) -> DefinitionError:
        where, document = entry.where, self.fields.document
        if isinstance(where, Scalar) and where.value == entry.text:
            place = document.place_within(where, error.offset, error.length)
        else:
            place = document.place(where)
        return rule_error(place, self.dataset, error, hint=_cut_short(where))


def rule_error(
    place: Place, dataset: str, error: GrammarError, *, hint: str = "", at: object = None
) -> DefinitionError:
    """A grammar error as a definition error."""
    shown_hint = grammar_hint(error) or hint
    match error.kind:
        case "syntax":
            return RuleSyntax(place, problem=error.message, hint=shown_hint, at=at)
        case "rule_type":
            return UnknownRuleType(place, type=error.word, hint=shown_hint, at=at)
        case "column":
            return UnknownColumn(place, dataset=dataset, column=error.word, hint=shown_hint, at=at)
        case "meaning":
            return RuleMeaning(place, problem=error.message, hint=shown_hint, at=at)


def grammar_hint(error: GrammarError) -> str:
    return f"; {error.hint.strip()}" if error.hint.strip() else ""


def _cut_short(node: Node) -> str:
    """Hint for an unquoted rule that YAML ends at a comma or ``#``."""
    if not isinstance(node, Scalar) or node.style:
        return ""
    if node.value.count("(") > node.value.count(")"):
        return "; quote the whole rule"
    return ""


# Required columns: ``required: true`` in files, ``is_nullable`` in rows.


def is_required(name: str, rules: Sequence[RuleDefinition]) -> bool:
    """Whether a rule blocks on any NULL in the column."""
    return any(
        rule.rule_id == f"not_null.{name}"
        and rule.expression == f"not_null({column_text(name)})"
        and rule.severity is Severity.FAIL
        and rule.active
        for rule in rules
    )
