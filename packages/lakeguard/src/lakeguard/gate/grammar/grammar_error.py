"""What is wrong with a text of the grammar, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

ErrorKind = Literal["syntax", "rule_type", "column", "meaning"]

_LONGEST_GUESS = 128


@dataclass(frozen=True)
class Span:
    """A stretch of the text, counted from 0; never empty, so that it can be underlined."""

    offset: int
    length: int


class GrammarError(Exception):
    """A text that is not accepted. ``offset`` and ``length`` are the place in that text.

    ``word`` is the offending word itself, without quotes; ``hint`` is empty or starts
    with a blank, as in `` did you mean unique?``.
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
    """`` did you mean unique?`` for the known word closest to this one, or nothing."""
    if len(word) > _LONGEST_GUESS:
        return ""
    spelled: dict[str, str] = {}
    for name in sorted(known):
        spelled.setdefault(name.lower(), name)
    close = get_close_matches(word.lower(), sorted(spelled), n=1, cutoff=0.6)
    return f" did you mean {spelled[close[0]]}?" if close else ""
