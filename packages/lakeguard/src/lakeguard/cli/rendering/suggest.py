"""Suggestions as a piece of YAML: rules where they would stand, the evidence above each."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from lakeguard.cli.terminal.layout import Tone, toned
from lakeguard.gate.grammar.rule import rule_text
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.insight.suggestions import (
    SURE_ENOUGH,
    Held,
    Suggestion,
    ranked,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard.services.suggest_rules import Suggested
from lakeguard_sdk.core.enums import Outcome, Severity


def chosen_of(found: Suggested, *, everything: bool) -> list[Suggestion]:
    """The strong ones, or all of them, the likeliest first."""
    return ranked(found.suggestions, 0.0 if everything else SURE_ENOUGH)


def suggested_data(found: Suggested, chosen: Sequence[Suggestion]) -> dict[str, Any]:
    data = found.to_data()
    data["suggestions"] = [{**item.to_data(), "fails_on": item.mutation.says} for item in chosen]
    data["weaker"] = len(found.suggestions) - len(chosen)
    return data


def fragment_lines(found: Suggested, chosen: Sequence[Suggestion]) -> list[str]:
    """Columns first, in the order of their strongest rule, then rules of the whole dataset."""
    columns = dict.fromkeys(item.column for item in chosen if item.column)
    lines = [f"# {line}" for line in _head(found, chosen)]
    if columns:
        lines.append("columns:")
    for column in columns:
        lines += [f"  {_text(column, '- {}')}:", "    rules:"]
        own = [item for item in chosen if item.column == column]
        lines += [line for item in own for line in _rule(item, "      ")]
    whole = [item for item in chosen if not item.column]
    if whole:
        lines.append("rules:")
    return lines + [line for item in whole for line in _rule(item, "  ")]


def wrote_lines(found: Suggested, chosen: Sequence[Suggestion], out: Path) -> list[str]:
    said = f"{plural(len(chosen), 'rule')} for {found.dataset} v{found.version}"
    return [
        f"{toned('✓ wrote', Tone.GOOD)}  {escaped(out)}   {said}",
        "Next: edit it, and paste what is meant into the definition",
    ]


def _head(found: Suggested, chosen: Sequence[Suggestion]) -> Iterator[str]:
    about = f"{found.dataset} v{found.version}"
    told = f"{plural(len(chosen), 'rule')} suggested from {plural(found.rows, 'row')}"
    yield f"{about}: {told}, held against {_versions(found.versions)}."
    left = len(found.suggestions) - len(chosen)
    if left:
        yield f"{plural(left, 'weaker one')} with --all."
    if chosen:
        yield "Nothing was applied: paste what is meant into the definition."


def _versions(versions: Sequence[int]) -> str:
    return ", ".join(f"v{version}" for version in versions)


def _rule(item: Suggestion, indent: str) -> Iterator[str]:
    for line in evidence_lines(item):
        yield f"{indent}# {line}"
    written = _written(item)
    if item.severity is Severity.WARN:
        yield f"{indent}- {{rule: {_text(written, '{{rule: {}}}')}, severity: WARN}}"
    else:
        yield f"{indent}- {_text(written, '- {}')}"


def evidence_lines(item: Suggestion) -> list[str]:
    """Why, how sure that is, what versions say, and what the rule would catch."""
    sure = f"confidence {item.confidence:.2f}"
    return [
        escaped(f"{item.why}; {sure}"),
        escaped(f"violations: {', '.join(map(_held, item.held))}; fails on: {item.mutation.says}"),
    ]


def _held(told: Held) -> str:
    if told.outcome in (Outcome.ERROR, Outcome.NOT_EVALUATED):
        return f"v{told.version} {told.message}"
    if told.failed_rows is not None:
        return f"v{told.version} {told.failed_rows:,}"
    return f"v{told.version} {'0' if told.outcome is Outcome.PASS else told.message}"


def _written(item: Suggestion) -> str:
    """The rule as it stands below its column, which it then leaves out."""
    rule = parse_rule(item.rule)
    if not item.column:
        return rule_text(rule)
    return rule_text(rule.model_copy(update={"columns": ()})).removesuffix("()")


def _text(text: str, place: str) -> str:
    """As it is where YAML reads just that at its place, else in quotes."""
    try:
        found = yaml.safe_load(place.format(text))
    except yaml.YAMLError:
        found = None
    return text if found in ([text], {"rule": text}) else json.dumps(text, ensure_ascii=False)
