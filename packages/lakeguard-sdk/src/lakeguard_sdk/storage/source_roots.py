"""Whether a source is below the folders that a service lets its sources read.

Links are resolved. A pattern is checked up to its first wildcard; a run checks every file that it
reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from lakeguard_sdk.storage.location import until_wildcard
from lakeguard_sdk.storage.storage import is_remote, local_path, located

_PARENT = ".."


def is_below_roots(pattern: str, lake: str, roots: Sequence[str]) -> bool:
    """Takes a path or pattern as in a definition; relative ones are in the lake."""
    place = located(lake, pattern)
    if is_remote(place):
        return first_outside([place], lake, roots) is None
    parts = Path(local_path(place)).parts
    fixed = until_wildcard(parts)
    if _PARENT in parts[len(fixed) :]:
        return False
    return first_outside([str(Path(*fixed))], lake, roots) is None


def first_outside(paths: Iterable[str], lake: str, roots: Sequence[str]) -> str | None:
    """The first of these files and folders that is below none of the roots."""
    stores = [f"{root.rstrip('/')}/" for root in roots if is_remote(root)]
    folders = [os.path.realpath(local_path(root)) for root in roots if not is_remote(root)]
    for path in paths:
        place = located(lake, path)
        if is_remote(place):
            is_below = _PARENT not in place.split("/") and any(map(f"{place}/".startswith, stores))
        else:
            real = os.path.realpath(local_path(place))
            is_below = any(os.path.commonpath((real, folder)) == folder for folder in folders)
        if not is_below:
            return path
    return None
