"""Rendering of suggestions as YAML, with the evidence above each rule."""

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
    Suggestion,
    VersionResult,
    ranked,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard.services.suggest_rules import Suggested
from lakeguard_sdk.core.enums import Outcome, Severity


def chosen_of(found: Suggested, *, everything: bool) -> list[Suggestion]:
    """The strong ones, or all, highest confidence first."""
    return ranked(found.suggestions, 0.0 if everything else SURE_ENOUGH)


def suggested_data(found: Suggested, chosen: Sequence[Suggestion]) -> dict[str, Any]:
    data = found.to_data()
    data["suggestions"] = [
        {**item.to_data(), "fails_on": item.mutation.description} for item in chosen
    ]
    data["weaker"] = len(found.suggestions) - len(chosen)
    return data


def fragment_lines(found: Suggested, chosen: Sequence[Suggestion]) -> list[str]:
    """Column rules first, ordered by their strongest rule, then dataset rules."""
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
    summary = f"{plural(len(chosen), 'rule')} for {found.dataset} v{found.version}"
    return [
        f"{toned('✓ wrote', Tone.GOOD)}  {escaped(out)}   {summary}",
        "Next: edit it and paste it into the definition",
    ]


def _head(found: Suggested, chosen: Sequence[Suggestion]) -> Iterator[str]:
    about = f"{found.dataset} v{found.version}"
    summary = f"{plural(len(chosen), 'rule')} suggested from {plural(found.rows, 'row')}"
    yield f"{about}: {summary}, tested on {_versions(found.versions)}."
    left = len(found.suggestions) - len(chosen)
    if left:
        yield f"{plural(left, 'weaker rule')} with --all."
    if chosen:
        yield "Nothing was applied: paste the rules you want into the definition."


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
    """Reason, confidence, violations per version, and what the rule would catch."""
    sure = f"confidence {item.confidence:.2f}"
    found = ", ".join(map(_result, item.results))
    return [
        escaped(f"{item.why}; {sure}"),
        escaped(f"violations: {found}; fails on: {item.mutation.description}"),
    ]


def _result(result: VersionResult) -> str:
    if result.outcome in (Outcome.ERROR, Outcome.NOT_EVALUATED):
        return f"v{result.version} {result.message}"
    if result.failed_rows is not None:
        return f"v{result.version} {result.failed_rows:,}"
    return f"v{result.version} {'0' if result.outcome is Outcome.PASS else result.message}"


def _written(item: Suggestion) -> str:
    """The rule text; below a column, without its name."""
    rule = parse_rule(item.rule)
    if not item.column:
        return rule_text(rule)
    return rule_text(rule.model_copy(update={"columns": ()})).removesuffix("()")


def _text(text: str, place: str) -> str:
    """Plain if YAML reads it back unchanged, else quoted."""
    try:
        found = yaml.safe_load(place.format(text))
    except yaml.YAMLError:
        found = None
    return text if found in ([text], {"rule": text}) else json.dumps(text, ensure_ascii=False)
