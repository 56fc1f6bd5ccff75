"""What changed since the last green run, a line for each thing."""

from __future__ import annotations

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import columns, number, plural
from lakeguard_sdk.comparison import Difference, NamedFiles, SideBySide, Since, Subject

_LONGEST = 160
_SAID = {
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
    """Files first: what arrived is most often what is wrong."""
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
    said = plural(files.count, "file").partition(" ")
    what = f"{said[0]} {words.format(said[2])}"
    names = ", ".join(map(inert, files.names))
    rest = files.count - len(files.names)
    more = f" and {number(rest)} more" if rest else ""
    return [(what, f"{names}{more} ({plural(files.bytes, 'byte')})")]


def _row(item: Difference) -> tuple[str, str]:
    what = inert(_SAID[item.subject].format(name=item.name))
    if item.before is None:
        return what, f"new: {_short(item.after)}"
    if item.after is None:
        return what, f"gone, was: {_short(item.before)}"
    return what, f"{_short(item.before)} → {_short(item.after)}"


def _short(text: str | None) -> str:
    told = inert(text or "nothing")
    return told if len(told) <= _LONGEST else f"{told[:_LONGEST]}…"
