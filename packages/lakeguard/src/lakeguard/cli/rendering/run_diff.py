"""Rendering of comparisons of two runs."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.cli.terminal.layout import (
    columns,
    indented,
    moment,
    number,
    strong,
    table,
)
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.run_comparison import (
    CheckPair,
    Difference,
    NamedFiles,
    RunSide,
    SideBySide,
    Since,
    Subject,
)

_LONGEST = 160
_LABELS = {
    Subject.COLUMN: "column {name}",
    Subject.RULE: "rule {name}",
    Subject.POLICY: "policy {name}",
    Subject.INPUT: "input {name}",
    Subject.REFERENCE: "reference {name}",
    Subject.BUILD: "{name}",
    Subject.DEFINITION: "definition, {name}",
    Subject.SOURCE: "source, {name}",
    Subject.SETTING: "setting {name}",
    Subject.ENGINE: "{name}",
    Subject.FIGURE: "{name}",
}


def since_lines(since: Since | SideBySide) -> list[str]:
    """Files first, because new files are the most likely cause."""
    files = [
        *_files("new {}", since.new_files),
        *_files("{} with other content", since.changed_files),
        *_files("{} gone", since.gone_files),
    ]
    rows = [*files, *(_row(item) for item in since.differences)]
    return columns(rows) or [
        "files, columns, rules, policies, input versions, build and settings are the same"
    ]


def _files(words: str, files: NamedFiles | None) -> list[tuple[str, str]]:
    if files is None:
        return []
    counted = plural(files.count, "file").partition(" ")
    what = f"{counted[0]} {words.format(counted[2])}"
    names = ", ".join(map(escaped, files.names))
    rest = files.count - len(files.names)
    more = f" and {number(rest)} more" if rest else ""
    return [(what, f"{names}{more} ({plural(files.bytes, 'byte')})")]


def _row(item: Difference) -> tuple[str, str]:
    what = escaped(_LABELS[item.subject].format(name=item.name))
    if item.before is None:
        return what, f"new: {_short(item.after)}"
    if item.after is None:
        return what, f"gone, was: {_short(item.before)}"
    return what, f"{_short(item.before)} → {_short(item.after)}"


def _short(text: str | None) -> str:
    escaped_text = escaped(text or "nothing")
    return escaped_text if len(escaped_text) <= _LONGEST else f"{escaped_text[:_LONGEST]}…"


# Two runs, one column each, differences first.


def side_by_side_lines(found: SideBySide, *, every: bool = False) -> list[str]:
    heads = ("", escaped(found.before.run_id), escaped(found.after.run_id))
    lines = [strong(found.dataset), *indented(table(heads, list(_facts(found, every))))]
    lines += ["", strong("Inputs"), *indented(since_lines(found))]
    rows = [_check(pair) for pair in found.checks if every or not pair.same]
    same = sum(pair.same for pair in found.checks)
    title = "Checks" if rows else "Checks: none differs"
    lines += [
        "",
        strong(title),
        *indented(table(("CHECK", "BEFORE", "AFTER"), rows) if rows else []),
    ]
    if same and not every:
        lines.append(f"  {plural(same, 'check')} the same   (--all shows them)")
    return lines


def _facts(found: SideBySide, every: bool) -> Iterator[list[str]]:
    yield ["verdict", _verdict(found.before), _verdict(found.after)]
    yield ["version", _version(found.before), _version(found.after)]
    for figure in found.figures:
        if every or figure.before != figure.after:
            yield [escaped(figure.name), figure.before or "—", figure.after or "—"]
    yield ["ended", moment(found.before.ended_at), moment(found.after.ended_at)]


def _verdict(side: RunSide) -> str:
    return side.status.value if side.verdict is None else side.verdict.value


def _version(side: RunSide) -> str:
    return "none" if side.version is None else f"v{side.version}"


def _check(pair: CheckPair) -> list[str]:
    return [escaped(pair.check_id), _came_to(pair.before), _came_to(pair.after)]


def _came_to(check: CheckResult | None) -> str:
    return "not evaluated" if check is None else f"{check.outcome.value}  {escaped(check.message)}"
