"""The names that a dataset gives to the columns of files."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.command_errors import NothingToLookAt


def declared_names(found: Sequence[str], file: str) -> list[str]:
    """Those of the files; one with a blank or ``#`` in it is cleaned, as a run cleans it."""
    names = [clean_name(name) if {" ", "#"} & set(name) else name for name in found]
    for at, name in enumerate(names):
        if name in names[:at]:
            twin = found[names.index(name)]
            reason = f"columns {twin!r} and {found[at]!r} would both be called {name!r}"
            raise NothingToLookAt(pattern=file, reason=reason)
    return names


def clean_name(text: str) -> str:
    """``Cell ID#`` as ``cell_id``: ``#`` is dropped, a blank becomes ``_``, all lower case."""
    return text.replace("#", "").strip().replace(" ", "_").lower()
