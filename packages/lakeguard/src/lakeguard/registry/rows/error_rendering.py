"""Mistakes in rows as a person should see them: over their line, unless it may hold a secret."""

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
    """Each error with its line. In a row the name of a secret stands beside its value, so a
    line that names one is not shown, whatever the mistake is."""
    told = list(errors)
    hidden = {(e.place.file, e.place.line) for e in told if isinstance(e, SecretValue)}
    for error in told:
        place = error.place
        line = _line(place.file, place.line)
        secret = (place.file, place.line) in hidden or is_sensitive_key(line) or looks_secret(line)
        kept_back = secret or len(line) > _LONGEST_LINE
        yield render_error(error, () if kept_back else [*[""] * (place.line - 1), line])


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
