"""Definition errors with the source lines they refer to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeguard.registry.text.definition_positions import sharpened
from lakeguard.registry.text.error_rendering import render_errors
from lakeguard_sdk.errors import InvalidDefinitions


@contextmanager
def with_source_lines(folder: Path) -> Iterator[None]:
    """``InvalidDefinitions`` raised inside carries the offending lines of its files as a note."""
    try:
        yield
    except InvalidDefinitions as invalid:
        errors = [sharpened(error, folder) for error in invalid.errors]
        invalid.add_note("\n".join(render_errors(errors, folder)))
        raise
