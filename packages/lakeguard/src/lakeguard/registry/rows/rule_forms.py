"""Converts rules in rows to the rule grammar.

``quality_rules`` has a type and an expression; ``dq_rule_set`` a JSON list of names with
parameters. Both become the text that a YAML file would hold. Anything else is a GrammarError.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from lakeguard.gate.grammar.grammar_error import GrammarError, Span, nearest
from lakeguard.gate.grammar.literals import (
    Flag,
    Number,
    Text,
    literal_text,
)
from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.registry.macros import Expanded, Macros
from lakeguard_sdk.model.definitions import CatalogueRule

TYPE_NAMES = {
    "valid_values": "in_set",
    "accepted_values": "in_set",
    "range_check": "range",
    "max_length": "length",
    "min_length": "length",
    "pattern": "regex",
    "expression": "sql_row",
}
"""Rule type names of other systems."""
_FREE = ("sql_row", "sql_agg")
"""Rule types whose expression may start with a function named like a rule type."""
_COLUMN = r"(?P<column>[A-Za-z_]\w*|`(?:[^`]|``)+`)"
_VALUE = r"[+-]?[\w.+:-]+|'(?:[^']|'')*'"
_BETWEEN = re.compile(
    rf"{_COLUMN}\s+between\s+(?P<low>{_VALUE})\s+and\s+(?P<high>{_VALUE})", re.IGNORECASE
)
_BOUND = re.compile(rf"{_COLUMN}\s*(?P<op>>=|<=)\s*(?P<value>{_VALUE})")
_AND = re.compile(r"\s+and\s+", re.IGNORECASE)
_NOT_NULL = re.compile(rf"{_COLUMN}\s+is\s+not\s+null", re.IGNORECASE)
_IN = re.compile(rf"{_COLUMN}\s+in\s*\((?P<values>.*)\)", re.IGNORECASE | re.DOTALL)
_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*\(")


def type_name(word: str) -> str | None:
    """Our name of a rule type, from any case or system."""
    name = TYPE_NAMES.get(word.strip().lower(), word.strip().lower())
    return name if RULE_TYPES.find(name) else None


def expression_text(rule_type: str | None, expression: str) -> str:
    """``RANGE`` and ``amount between 0 and 10`` as ``range(amount, min=0, max=10)``."""
    text = expression.strip()
    called = _CALL.match(text)
    inner = type_name(called[1]) if called else None
    if rule_type is None:
        return text
    kind = type_name(rule_type)
    if kind is None:
        return _by_name(rule_type, text)
    if called and inner is not None and (inner == kind or kind not in _FREE):
        if inner != kind:
            problem = f"rule_type is {rule_type}, but the expression is {called[1]}"
            raise GrammarError(problem, Span(called.start(1), len(called[1])), kind="meaning")
        return text[: called.start(1)] + inner + text[called.end(1) :]
    return _condition(kind, text) or f"{kind}({_without_brackets(text)})"


def _by_name(name: str, text: str) -> str:
    """``POSITIVE`` and ``amount`` as a built-in catalogue rule."""
    macros = Macros()
    if macros.find(name) is None:
        raise _unknown(name, [*macros.names])
    called = _CALL.match(text)
    whole = called is not None and called[1].lower() == name.strip().lower()
    call = text if whole else f"{name.strip()}({_without_brackets(text)})"
    return _single(macros.expand(call, None) or [], name)


def _condition(kind: str, text: str) -> str | None:
    """Rules written as conditions."""
    if kind == "not_null" and (found := _NOT_NULL.fullmatch(text)):
        return f"not_null({found['column']})"
    if kind == "in_set" and (found := _IN.fullmatch(text)):
        return f"in_set({found['column']}, values=[{found['values']}])"
    if kind != "range":
        return None
    if found := _BETWEEN.fullmatch(text):
        return f"range({found['column']}, min={found['low']}, max={found['high']})"
    bounds = [_BOUND.fullmatch(part.strip()) for part in _AND.split(text)]
    if not 1 <= len(bounds) <= 2 or None in bounds:
        return None
    limit_by_op = {found["op"]: found["value"] for found in bounds if found}
    columns = {found["column"] for found in bounds if found}
    if len(columns) > 1 or len(limit_by_op) < len(bounds):
        return None
    names = {">=": "min", "<=": "max"}
    limits = ", ".join(f"{names[op]}={limit_by_op[op]}" for op in (">=", "<=") if op in limit_by_op)
    return f"range({columns.pop()}, {limits})"


def _without_brackets(text: str) -> str:
    """Without an enclosing pair of parentheses."""
    inner = text[1:-1]
    whole = text.startswith("(") and text.endswith(")") and _closed(inner)
    return inner if whole else text


def _closed(text: str) -> bool:
    """Whether parentheses are balanced, ignoring quoted ones."""
    depth = 0
    for mark in re.sub(r"'[^']*'|`[^`]*`", "", text):
        depth += (mark == "(") - (mark == ")")
        if depth < 0:
            return False
    return True


def entry_text(entry: Any, column: str, catalogue: Mapping[str, CatalogueRule]) -> str:
    """One entry of ``dq_rule_set``: a text, or ``{"rule": NAME, parameter: value, …}``.

    The column is added unless the entry is plain text.
    """
    if isinstance(entry, str):
        expanded = Macros(catalogue).expand(entry, column)
        return entry if expanded is None else _single(expanded, entry)
    if not isinstance(entry, dict) or not isinstance(entry.get("rule"), str):
        raise _refused('write a rule, "unique" or {"rule": "RANGE_CHECK", "min": 0}')
    word: str = entry["rule"]
    given = {key.lower(): value for key, value in entry.items() if key != "rule"}
    kind = type_name(word)
    listed = catalogue.get(word.strip().lower())
    if kind is not None:
        return _typed(word, kind, column, given)
    if listed is None:
        raise _unknown(word, [*catalogue])
    if not listed.active:
        raise _refused(f"{listed.rule} is inactive in dq_rule_catalog")
    return filled(listed, column, given)


def _typed(word: str, kind: str, column: str, given: dict[str, Any]) -> str:
    if word.strip().lower() == "min_length" and "min" not in given and "max" in given:
        raise _refused("MIN_LENGTH needs min")
    found = RULE_TYPES.find(kind)
    order = [spec.name for spec in found.parameters] if found else []
    unknown = sorted(set(given) - set(order))
    if unknown:
        raise _refused(f"{word} has no parameter {unknown[0]!r}{_or(nearest(unknown[0], order))}")
    parameters = [
        f"{name}={_literal(given[name])}" for name in order if given.get(name) is not None
    ]
    return f"{kind}({', '.join([column_text(column), *parameters])})"


def filled(rule: CatalogueRule, column: str, given: Mapping[str, Any]) -> str:
    """The catalogue rule for one column, with its parameters."""
    values = {name: _literal(value) for name, value in given.items()}
    return _single(Macros().fill(rule, [column_text(column)], values, ""), rule.rule)


def _single(found: list[Expanded], name: str) -> str:
    if len(found) > 1:
        raise _refused(f"{name} expands to several rules; write each of them")
    return found[0].text


def _literal(value: Any) -> str:
    match value:
        case bool():
            return literal_text(Flag(value=value))
        case int() | Decimal():
            return literal_text(Number(value=Decimal(value)))
        case str():
            return literal_text(Text(value=value))
        case list():
            return f"[{', '.join(map(_literal, value))}]"
        case _:
            raise _refused("a parameter must be a string, number, boolean or list of them")


def _or(hint: str) -> str:
    return f";{hint}" if hint else ""


def _unknown(word: str, others: list[str] | None = None) -> GrammarError:
    known = [*(found.name for found in RULE_TYPES), *TYPE_NAMES, *(others or [])]
    hint = nearest(word, known)
    span = Span(0, max(1, len(word)))
    return GrammarError("unknown rule", span, kind="rule_type", hint=hint, word=word[:80])


def _refused(problem: str) -> GrammarError:
    return GrammarError(problem, Span(0, 1), kind="meaning")
