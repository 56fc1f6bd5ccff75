"""Spelling suggestions for unknown names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_CLOSE = 0.6


def nearest(word: str, options: Iterable[str], closeness: float = _CLOSE) -> str | None:
    """The closest option, or None if none is close; 1 is the same word in any case."""
    by_folded = {option.casefold(): option for option in sorted(options, reverse=True)}
    found = get_close_matches(word[:200].casefold(), list(by_folded), n=1, cutoff=closeness)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, options: Iterable[str], closeness: float = _CLOSE) -> str:
    """``; did you mean unique?`` to end an error message, or an empty string."""
    found = nearest(word, options, closeness)
    return f"; did you mean {found}?" if found else ""
