"""``rules.md`` and ``policies.md`` in ``docs/reference``, from the types in the gate."""

from __future__ import annotations

from lakeguard.gate.grammar.functions import FUNCTIONS, IF_EXAMPLE, IF_MEANING
from lakeguard.gate.policy_types.catalog import POLICY_KINDS
from lakeguard.gate.policy_types.policy_form import PolicyKind
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rules import parse
from lakeguard_sdk.core.enums import Scope
from tools.docs.rules_and_policies_text import (
    CLAUSES,
    CONDITIONS,
    COUNTING,
    PATTERNS,
    POLICIES_INTRODUCTION,
    PRIVATE_VALUES,
    RESULTS,
    RULES_INTRODUCTION,
    SCHEMA_DIFFERENCES,
    TRAVELLING_TAGS,
    VALUES,
    WAIVERS,
)

_KINDS = {
    "whole": "a whole number from 0",
    "number": "a number",
    "share": "a number from 0 to 1",
    "percent": "a percentage such as `95%`",
    "flag": "`true` or `false`",
    "duration": "a duration such as `90s`, `15m`, `24h`, `7d` or `2w`",
    "step": "a whole number, or a duration such as `15m`, `1h` or `1d`",
    "reference": "a dataset with its columns in brackets",
    "bound": "a number; for dates and timestamps a quoted date or time",
    "text": "a text in quotes",
    "list": "a list such as `['A', 'B']`",
    "literal": "a value of the column's type",
    "condition": "a condition (see Conditions)",
    "aggregate": "`sum`, `min`, `max`, `avg` or `count` of values, with arithmetic between them",
    "operator": "one of `=` `<>` `<` `<=` `>` `>=`",
}


def rules_reference() -> str:
    """All of ``docs/reference/rules.md``."""
    parts = [
        RULES_INTRODUCTION,
        _overview(),
        COUNTING,
        CLAUSES,
        RESULTS,
        VALUES,
        CONDITIONS,
        _functions(),
        PATTERNS,
        "## Rule types\n",
        *(_rule_type(rule_type) for rule_type in RULE_TYPES),
        _grammar(),
    ]
    return "\n".join(parts)


def policies_reference() -> str:
    """All of ``docs/reference/policies.md``."""
    listed = [_policy_type(kind) for kind in POLICY_KINDS.values()]
    parts = [POLICIES_INTRODUCTION, _policies_overview(), *listed]
    return "\n".join([*parts, SCHEMA_DIFFERENCES, TRAVELLING_TAGS, PRIVATE_VALUES, WAIVERS])


def _overview() -> str:
    lines = ["| rule | meaning | column |", "|---|---|---|"]
    for found in RULE_TYPES:
        first = found.summary.partition(". ")[0].removesuffix(".")
        lines.append(f"| [`{found.name}`](#{found.name}) | {first} | {found.takes} |")
    return "\n".join(lines) + "\n"


def _rule_type(found: RuleType) -> str:
    lines = [f"### {found.name}\n", f"{found.summary}\n", f"```\n{found.example}\n```\n"]
    lines.append(f"- Columns: {_columns(found)}; types: {found.takes}.")
    lines += [f"- {_parameter(spec, found)}" for spec in found.parameters]
    lines.append(f"- NULL: {found.nulls}")
    lines.append(f"- Limits: {_limits(found)}")
    if found.scopes:
        lines.append("- Scope: " + ", ".join(_scope(scope, found) for scope in found.scopes) + ".")
    if found.groups:
        lines.append("- Groups: `by` and columns; NULL is a group of its own.")
    lines.append("- Engine: every engine gives the same result.\n")
    return "\n".join(lines)


def _functions() -> str:
    lines = ["| function | meaning |", "|---|---|"]
    lines += [f"| `{spec.example}` | {spec.meaning} |" for spec in FUNCTIONS.values()]
    lines.append(f"| `{IF_EXAMPLE}` | {IF_MEANING} |")
    return "\n".join(lines) + "\n"


def _columns(found: RuleType) -> str:
    fewest, most = found.columns
    if most is None:
        return f"{_number(fewest)} or more"
    return _number(most)


def _number(count: int) -> str:
    return {0: "none", 1: "one", 2: "two"}.get(count, str(count))


def _parameter(spec: ParameterSpec, found: RuleType) -> str:
    notes = ["required"] if spec.required else []
    if found.principal == spec.name:
        notes.append("name optional")
    tail = f" ({', '.join(notes)})" if notes else ""
    return f"`{spec.name}`: {_KINDS[spec.kind]}; {spec.meaning}{tail}."


def _limits(found: RuleType) -> str:
    if found.limit_target == "rows":
        return "`warn_if` and `fail_if` on the failing rows, in rows or per cent."
    if found.spec("min") is None:
        return "its parameters; `severity: WARN` makes it warn."
    words = "on the share, in per cent" if found.limit_target == "share" else "on the value itself"
    limits = f"`min` and `max`, or `warn_if` and `fail_if` {words}; not both."
    if found.groups:
        limits += " With `by`, `min` and `max` for every group, and limits on the rows of failing"
        limits += " groups."
    return limits


def _scope(scope: Scope, found: RuleType) -> str:
    return f"`{scope}` (the default)" if scope is found.scopes[0] else f"`{scope}`"


def _policies_overview() -> str:
    lines = ["| type | about | forms |", "|---|---|---|"]
    for kind in POLICY_KINDS.values():
        first = kind.summary.partition(". ")[0].removesuffix(".")
        forms = "<br>".join(f"`{each.form.replace('|', chr(92) + '|')}`" for each in kind.forms)
        lines.append(f"| [{kind.type}](#{kind.type.lower()}) | {first} | {forms} |")
    return "\n".join(lines) + "\n"


def _policy_type(kind: PolicyKind) -> str:
    lines = [f"## {kind.type}\n", f"{kind.summary}\n"]
    for form in kind.forms:
        lines += [
            f"```\n{form.example}\n```\n",
            f"- Form: `{form.form}`.",
            f"- Meaning: {form.meaning}",
            f"- Evaluated: {form.judged}",
            f"- Violated: {form.violated}\n",
        ]
    return "\n".join(lines)


def _grammar() -> str:
    lines = (parse.__doc__ or "").splitlines()
    rules = [line[4:] for line in lines if line.startswith("    ")]
    return "\n".join(["## The grammar\n", "```", *rules, "```", ""])
