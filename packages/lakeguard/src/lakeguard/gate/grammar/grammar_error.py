"""Grammar errors and their source spans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

ErrorKind = Literal["syntax", "rule_type", "column", "meaning"]

_LONGEST_GUESS = 128


@dataclass(frozen=True)
class Span:
    """A span of the text, 0-based; never empty, so that it can be underlined."""

    offset: int
    length: int


class GrammarError(Exception):
    """A text that the grammar refuses; ``offset`` and ``length`` locate the error in it.

    ``word`` is the offending word without quotes; ``hint`` is empty or starts with a blank, such as
    `` did you mean unique?``.
    """

    def __init__(
        self, message: str, span: Span, *, kind: ErrorKind, hint: str = "", word: str = ""
    ) -> None:
        self.message = message
        self.offset = span.offset
        self.length = span.length
        self.kind: ErrorKind = kind
        self.hint = hint
        self.word = word
        super().__init__(f"{message};{hint}" if hint else message)


def nearest(word: str, known: Iterable[str]) -> str:
    """`` did you mean unique?`` for the closest known word, or an empty string."""
    if len(word) > _LONGEST_GUESS:
        return ""
    spelled: dict[str, str] = {}
    for name in sorted(known):
        spelled.setdefault(name.lower(), name)
    close = get_close_matches(word.lower(), sorted(spelled), n=1, cutoff=0.6)
    return f" did you mean {spelled[close[0]]}?" if close else ""
