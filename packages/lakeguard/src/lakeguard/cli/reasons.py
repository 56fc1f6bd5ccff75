"""Reasons for rules, as comments in the file that holds the rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from lakeguard.cli.inert import inert


def with_reasons(text: str, reasons: Mapping[str, str]) -> str:
    """The same file with a comment above each rule that there is a reason for."""
    said = (yaml.safe_load(text) or {}).get("rules") or []
    told = iter([reasons.get(_rule(item)) for item in said])
    return "".join(_commented(text.splitlines(keepends=True), told)) if reasons else text


def _rule(item: object) -> str:
    return str(item["rule"] if isinstance(item, dict) else item)


def _commented(lines: list[str], told: Iterator[str | None]) -> Iterator[str]:
    """An item of the list of rules begins a line; what goes on is indented."""
    inside = False
    for line in lines:
        inside = line.startswith("rules:") or (inside and line.startswith(("-", " ")))
        if inside and line.startswith("- ") and (reason := next(told, None)):
            yield f"# {inert(reason)}\n"
        yield line
