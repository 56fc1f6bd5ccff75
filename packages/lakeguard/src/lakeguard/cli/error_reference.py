"""``docs/errors.md`` from the error tree: ``python -m lakeguard.cli.error_reference``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from inspect import cleandoc

from lakeguard.cli.error_tree import error_classes
from lakeguard.cli.failures import WRONG_CALL
from lakeguard_sdk.definition_errors import DefinitionError
from lakeguard_sdk.errors import (
    EngineError,
    LakeGuardError,
    MoveError,
    Refused,
    StateError,
    UsageError,
)

_HEAD = """\
# Error codes

Every error has a stable code, says what happened and names the next command; in JSON it is
`{"error": {"code", "message", "next", "retryable"}}`. Words in braces are filled in.
This page is made from the error tree: `python -m lakeguard.cli.error_reference`.
"""

_FAMILIES: tuple[tuple[str, type[LakeGuardError]], ...] = (
    ("The call is wrong: exit 2, nothing was written", UsageError),
    ("A definition is wrong: exit 2, nothing was applied", DefinitionError),
    ("The control plane says no: exit 3", Refused),
    ("A move did not happen: exit 1", MoveError),
    ("The data plane could not do its work: exit 1", EngineError),
    ("The database is not what this version needs: exit 1", StateError),
)


def error_reference() -> str:
    """The page, the same bytes each time for the same tree."""
    parts = [_HEAD]
    for title, family in _FAMILIES:
        rows = sorted(_row(kind) for kind in _members(family))
        if family is UsageError:
            rows.insert(0, _WRONG_CALL_ROW)
        parts.append(_table(title, rows))
    parts.append(_table("Nobody foresaw it: exit 1", [_DEFECT_ROW]))
    return "\n".join(parts)


def _members(family: type[LakeGuardError]) -> Iterator[type[LakeGuardError]]:
    """Classes with a code of their own whose nearest family this is; only the SDK's."""
    families = [kind for _, kind in _FAMILIES]
    for kind in error_classes(family):
        nearest = next(parent for parent in kind.__mro__ if parent in families)
        ours = kind.__module__.startswith("lakeguard_sdk.")
        if nearest is family and ours and "code" in vars(kind):
            yield kind


def _row(kind: type[LakeGuardError]) -> tuple[str, str, str, str]:
    again = " It may pass by itself: try again." if kind.retryable else ""
    way_out = " ".join(cleandoc(kind.__doc__ or "").split()) + again
    return kind.code, kind.what, way_out, kind.next_command


_WRONG_CALL_ROW = (
    WRONG_CALL,
    "an unknown command, option or value",
    "Look at the command's help.",
    "lakeguard --help",
)
_DEFECT_ROW = (
    LakeGuardError.code,
    "the error as Python says it",
    "Call again with `--debug` to see where it came from.",
    LakeGuardError.next_command,
)


def _table(title: str, rows: list[tuple[str, str, str, str]]) -> str:
    lines = [f"## {title}", "", "| code | what | way out | next |", "|---|---|---|---|"]
    for code, what, way_out, following in rows:
        cells = (code, _cell(what), _cell(way_out.replace("``", "`")), f"`{_cell(following)}`")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("!r}", "}").replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(error_reference())
