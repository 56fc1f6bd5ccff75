"""The names that a dataset gives to the columns of files."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.clean_names import clean_column
from lakeguard_sdk.errors import NothingToLookAt


def declared_names(found: Sequence[str], file: str) -> list[str]:
    """Those of the files; one with a blank or ``#`` in it is cleaned, as a run cleans it."""
    names = [clean_column(name) if {" ", "#"} & set(name) else name for name in found]
    for at, name in enumerate(names):
        if name in names[:at]:
            twin = found[names.index(name)]
            reason = f"columns {twin!r} and {found[at]!r} would both be called {name!r}"
            raise NothingToLookAt(pattern=file, reason=reason)
    return names
