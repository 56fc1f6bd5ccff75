"""Renders errors in rows with their line, unless it may hold a secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from lakeguard.registry.rows.source_text import MAX_BYTES
from lakeguard.registry.text.error_rendering import render_error
from lakeguard_sdk.errors import DefinitionError, SecretValue
from lakeguard_sdk.security.secret_values import is_sensitive_key, looks_secret

_LONGEST_LINE = 2000


def render_row_errors(errors: Iterable[DefinitionError]) -> Iterator[str]:
    """Each error with its line. A row has the name of a secret next to its value, so a line that
    names one is never shown."""
    found = list(errors)
    hidden = {(e.place.file, e.place.line) for e in found if isinstance(e, SecretValue)}
    for error in found:
        place = error.place
        line = _line(place.file, place.line)
        secret = (place.file, place.line) in hidden or is_sensitive_key(line) or looks_secret(line)
        is_hidden = secret or len(line) > _LONGEST_LINE
        yield render_error(error, () if is_hidden else [*[""] * (place.line - 1), line])


def _line(file: str, number: int) -> str:
    lines = _lines(file)
    return lines[number - 1] if 0 < number <= len(lines) else ""


@lru_cache(maxsize=8)
def _lines(file: str) -> tuple[str, ...]:
    try:
        data = Path(file).read_bytes()[:MAX_BYTES]
    except OSError:
        return ()
    return tuple(data.decode("utf-8-sig", "replace").split("\n"))
