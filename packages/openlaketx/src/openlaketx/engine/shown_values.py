"""Row values in error messages: shortened, and redacted for private columns.

The control plane stores and displays errors. Our own messages format values with ``shown``; texts
from Spark, a database or a user's function pass ``masked_message``, because the columns of their
values are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pyspark.sql import Column
from pyspark.sql import functions as F

LONGEST = 40
OURS = "lakeguard: "
"""Prefix of every message raised by a row."""
_PRIVATE = "(masked value)"
_QUOTED = re.compile(r"(?<!\w)(?:'[^']*'|\"[^\"]*\")(?!\w)")

_private: ContextVar[frozenset[str]] = ContextVar("private", default=frozenset())


@contextmanager
def mask_columns(columns: Iterable[str]) -> Iterator[None]:
    """Redact the values of these columns in messages made by this thread during the block."""
    token = _private.set(frozenset(columns))
    try:
        yield
    finally:
        _private.reset(token)


def refusal(*parts: Column | str) -> Column:
    """An expression that raises an error with this message."""
    texts = (F.lit(part) if isinstance(part, str) else part for part in parts)
    return F.raise_error(F.concat(F.lit(OURS), *texts))


def refused_text(text: Column, name: str, before: str, after: str) -> Column:
    """An expression that raises an error about a text, which is not NULL: as ``refusal`` with
    ``shown``, in half the code. It is part of every cast, and Java compiles no long method."""
    if name in _private.get():
        return F.raise_error(F.lit(f"{OURS}{before}{_PRIVATE}{after}"))
    line = F.translate(F.substring(text, 1, LONGEST), "\r\n", "  ")
    end = F.when(F.length(text) > LONGEST, f"…'{after}").otherwise(f"'{after}")
    return F.raise_error(F.concat(F.lit(f"{OURS}{before}'"), line, end))


def shown(value: Column, name: str, quote: str = "'") -> Column:
    """The value for a message: quoted, on one line, shortened; NULL unquoted."""
    if name in _private.get():
        return F.lit(_PRIVATE)
    text = F.translate(value.cast("string"), "\r\n", "  ")
    cut = F.when(F.length(text) > LONGEST, F.concat(F.substring(text, 1, LONGEST), F.lit("…")))
    quoted = F.concat(F.lit(quote), F.coalesce(cut, text), F.lit(quote))
    return F.coalesce(quoted, F.lit("NULL"))


def shown_text(value: str | None, name: str) -> str:
    """The same for a Python value."""
    if name in _private.get():
        return _PRIVATE
    return "NULL" if value is None else f"'{_cut(' '.join(value.splitlines()))}'"


def masked_message(text: str, kind: str) -> str:
    """A foreign message, or only its ``kind`` if it may contain a private value."""
    hidden = sorted(_private.get())
    if not hidden:
        return _QUOTED.sub(lambda match: match[0][0] + _cut(match[0][1:-1]) + match[0][-1], text)
    names = ", ".join(hidden[:3]) + (", …" if len(hidden) > 3 else "")
    return f"{kind}; details are masked, they may contain a value of {names}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
