"""Mistakes in definitions, shown at the very characters where they stand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeguard.registry.locating import sharpened
from lakeguard.registry.rendering import render_errors
from lakeguard_sdk.errors import InvalidDefinitions


@contextmanager
def shown_in_place(folder: Path) -> Iterator[None]:
    """Whatever mistakes are raised inside carry the lines of the files they stand in."""
    try:
        yield
    except InvalidDefinitions as invalid:
        errors = [sharpened(error, folder) for error in invalid.errors]
        invalid.add_note("\n".join(render_errors(errors, folder)))
        raise
