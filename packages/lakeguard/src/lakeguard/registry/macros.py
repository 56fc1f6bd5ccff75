"""Expands catalogue rules into rules."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from lakeguard.gate.grammar.grammar_error import GrammarError, Span, nearest
from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard_sdk.core.enums import Severity
from lakeguard_sdk.model.definitions import CatalogueRule

_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*(\()?")
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)\s*(.*)\Z", re.DOTALL)
_HOLE = re.compile(r"\{(, )?([a-z][a-z0-9_]*)\}")
_EACH = re.compile(r"\{each ([^{}]*@[^{}]*) joined by ([^{}]+)\}")
_PIECE = re.compile(r"'(?:[^']|'')*'|`(?:[^`]|``)+`|.", re.DOTALL)
_OPEN, _CLOSE = "([", ")]"


@dataclass(frozen=True)
class Expanded:
    """One rule of an expanded macro, with its id."""

    text: str
    rule_id: str
    severity: Severity | None


@dataclass
class _Call:
    name: str
    columns: list[str] = field(default_factory=list)
    given: dict[str, str] = field(default_factory=dict)
    clauses: str = ""


@cache
def built_in_rules() -> Mapping[str, CatalogueRule]:
    """Built-in catalogue rules, by name."""
    text = files("lakeguard.registry").joinpath("built_in_rules.toml").read_text("utf-8")
    return {name: CatalogueRule(rule=name, **keys) for name, keys in tomllib.loads(text).items()}


class Macros:
    """The catalogue: defined rules and built-in rules."""

    def __init__(self, catalogue: Mapping[str, CatalogueRule] | None = None) -> None:
        self._rules = {**built_in_rules(), **(catalogue or {})}

    def find(self, name: str) -> CatalogueRule | None:
        """Find by name, ignoring case; rule types take precedence."""
        lower = name.strip().lower()
        return None if RULE_TYPES.find(lower) else self._rules.get(lower)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._rules))

    def expand(self, text: str, column: str | None) -> list[Expanded] | None:
        """The expanded rules, or None if the text is not a catalogue rule.

        GrammarError if a parameter is missing or unknown, or the rule is inactive.
        """
        start = _CALL.match(text)
        rule = self.find(start[1]) if start else None
        if start is None or rule is None:
            return None
        call = _read(text, start, column)
        return self.fill(rule, call.columns, call.given, call.clauses)

    def fill(
        self, rule: CatalogueRule, columns: Sequence[str], given: Mapping[str, str], clauses: str
    ) -> list[Expanded]:
        """``columns`` and ``given`` values are text of the rule grammar."""
        if not rule.active:
            raise _refused(f"{rule.rule} is inactive in the catalogue")
        _check(rule, columns, given)
        parts = _split(rule.expression, ";")
        severity = None if rule.severity is Severity.FAIL else rule.severity
        if "fail_if" in rule.expression + clauses or "warn_if" in rule.expression + clauses:
            severity = None
        called = ".".join([rule.rule, *(column.strip("`") for column in columns)])
        found = []
        for part in parts:
            for each in [*columns] if "{column}" in part else [""]:
                text = f"{_filled(part.strip(), each, columns, given)} {clauses}".strip()
                found.append(Expanded(text, called, severity))
        if len(found) == 1:
            return found
        return [
            Expanded(item.text, f"{called}.{number}", severity)
            for number, item in enumerate(found, 1)
        ]


def _read(text: str, start: re.Match[str], column: str | None) -> _Call:
    call = _Call(start[1].lower())
    inside, end = _inside(text, start.end()) if start[2] else ("", start.end())
    for argument in _split(inside, ",") if inside.strip() else []:
        named = _NAMED.match(argument)
        if named:
            call.given[named[1].lower()] = named[2].strip()
        elif call.given:
            raise _refused("columns must come before named parameters")
        else:
            call.columns.append(argument.strip())
    if column is not None and not call.columns:
        call.columns.append(column_text(column))
    call.clauses = text[end:].strip()
    return call


def _inside(text: str, start: int) -> tuple[str, int]:
    depth = 1
    for piece in _PIECE.finditer(text, start):
        depth += (piece[0] in _OPEN) - (piece[0] in _CLOSE)
        if depth == 0:
            return text[start : piece.start()], piece.end()
    raise _refused("unbalanced parentheses")


def _split(text: str, mark: str) -> list[str]:
    """Split at marks outside quotes and brackets."""
    parts, depth = [""], 0
    for piece in _PIECE.finditer(text):
        depth += (piece[0] in _OPEN) - (piece[0] in _CLOSE)
        if piece[0] == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece[0]
    return parts


def _check(rule: CatalogueRule, columns: Sequence[str], given: Mapping[str, str]) -> None:
    holes = {name: bool(comma) for comma, name in _HOLE.findall(rule.expression)}
    about = _EACH.search(rule.expression) or {"column", "columns"} & set(holes)
    if about and not columns:
        raise _refused(f"{rule.rule} needs a column")
    if columns and not about:
        raise _refused(f"{rule.rule} takes no column")
    takes = {name: may for name, may in holes.items() if name not in ("column", "columns")}
    for name in sorted(takes):
        if not takes[name] and name not in given:
            raise _refused(f"{rule.rule} needs {name}")
    for name in sorted(set(given) - set(takes)):
        hint = nearest(name, takes)
        raise _refused(f"{rule.rule} has no parameter {name!r}{';' if hint else ''}{hint}")


def _filled(part: str, column: str, columns: Sequence[str], given: Mapping[str, str]) -> str:
    def each(found: re.Match[str]) -> str:
        return f" {found[2]} ".join(found[1].replace("@", name) for name in columns)

    values = {**given, "column": column, "columns": ", ".join(columns)}

    def value(found: re.Match[str]) -> str:
        if not found[1]:
            return values[found[2]]
        return f", {found[2]}={values[found[2]]}" if found[2] in values else ""

    return _HOLE.sub(value, _EACH.sub(each, part))


def _refused(problem: str) -> GrammarError:
    return GrammarError(problem, Span(0, 1), kind="meaning")
