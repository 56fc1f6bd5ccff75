"""Values of rows in what a run says of its failure: short, and none of a private column.

What ends a run is kept by the control plane, and told to whoever asks. Our own messages name a
value through ``shown``; what Spark, a database or a function of the user says passes
``foreign_words``, because nobody knows which column a value in it is from.
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
"""Begins every message that a row fails a run with."""
_PRIVATE = "a private value"
_QUOTED = re.compile(r"(?<!\w)(?:'[^']*'|\"[^\"]*\")(?!\w)")

_private: ContextVar[frozenset[str]] = ContextVar("private", default=frozenset())


@contextmanager
def keeping_private(columns: Iterable[str]) -> Iterator[None]:
    """In the block, and by its thread, no value of these columns is told."""
    token = _private.set(frozenset(columns))
    try:
        yield
    finally:
        _private.reset(token)


def refusal(*parts: Column | str) -> Column:
    """An error of the row, with these words."""
    texts = (F.lit(part) if isinstance(part, str) else part for part in parts)
    return F.raise_error(F.concat(F.lit(OURS), *texts))


def shown(value: Column, name: str, quote: str = "'") -> Column:
    """The column's value for a message: in quotes, on one line, cut; NULL without quotes."""
    if name in _private.get():
        return F.lit(_PRIVATE)
    text = F.translate(value.cast("string"), "\r\n", "  ")
    cut = F.when(F.length(text) > LONGEST, F.concat(F.substring(text, 1, LONGEST), F.lit("…")))
    quoted = F.concat(F.lit(quote), F.coalesce(cut, text), F.lit(quote))
    return F.coalesce(quoted, F.lit("NULL"))


def shown_text(value: str | None, name: str) -> str:
    """The same for a value that is at hand."""
    if name in _private.get():
        return _PRIVATE
    return "NULL" if value is None else f"'{_cut(' '.join(value.splitlines()))}'"


def foreign_words(text: str, kind: str) -> str:
    """What others said; only its ``kind`` where it may hold a value of a private column."""
    hidden = sorted(_private.get())
    if not hidden:
        return _QUOTED.sub(lambda match: match[0][0] + _cut(match[0][1:-1]) + match[0][-1], text)
    names = ", ".join(hidden[:3]) + (", …" if len(hidden) > 3 else "")
    return f"{kind}; what more was said may hold a value of {names}, and is not kept"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
