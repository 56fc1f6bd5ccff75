"""Parses a rule of the catalogue: a named rule template."""

from __future__ import annotations

import re

from lakeguard.gate.grammar.tokens import LONGEST_TEXT
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.registry.macros import built_in_rules
from lakeguard.registry.text.fields import LONGEST_DESCRIPTION, Fields
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import Document
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.definitions import CatalogueRule

KEYS = ("rule", "expression", "severity", "description", "active")
_TYPE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)\s*(?=[({]|\s|$)")
_FILLED_IN = re.compile(r"\{(?:, )?[a-z][a-z0-9_]{0,127}\}|\{each [^{}]*@[^{}]* joined by [^{}]+\}")
_QUOTED = re.compile(r"'(?:[^']|'')*'")


def read_catalogue_rule(document: Document, findings: Findings) -> CatalogueRule | None:
    """The definition, or None after reporting every error."""
    before = findings.count
    fields = Fields(document, document.root, findings, KEYS)
    name = fields.word("rule")
    expression = fields.text("expression", required=True, limit=LONGEST_TEXT)
    severity = fields.choice("severity", Severity, Severity.FAIL)
    description = fields.text("description", limit=LONGEST_DESCRIPTION) or ""
    active = fields.flag("active", True)
    if findings.count > before or name is None or expression is None or severity is None:
        return None
    return CatalogueRule(
        rule=name,
        expression=expression,
        severity=severity,
        description=description,
        active=active,
    )


def name_problem(name: str) -> str | None:
    """Why the name is taken by a rule type or a built-in rule, or None."""
    if RULE_TYPES.find(name) is not None:
        return f"{name} is a rule type; choose another name"
    if name in built_in_rules():
        return f"{name} is a built-in rule; choose another name"
    return None


def template_problem(expression: str) -> str | None:
    """The problem of a rule template, or None."""
    parts = _QUOTED.sub(lambda text: text[0].replace(";", " "), expression).split(";")
    return next((found for part in parts if (found := _part_problem(part))), None)


def _part_problem(expression: str) -> str | None:
    found = _TYPE.match(expression)
    if found is None:
        return "write a rule, such as range({column}, min={low})"
    rule_type = found[1].lower()
    if RULE_TYPES.find(rule_type) is None:
        names = [known.name for known in RULE_TYPES]
        return f"unknown rule type {found[1][:80]!r}{did_you_mean(rule_type, names)}"
    rest = _QUOTED.sub("", _FILLED_IN.sub("", expression))
    if "{" in rest or "}" in rest:
        return "write parameters as {column} or {a_name}, in lower snake case"
    if rest.count("(") != rest.count(")"):
        return "unbalanced parentheses"
    return None
