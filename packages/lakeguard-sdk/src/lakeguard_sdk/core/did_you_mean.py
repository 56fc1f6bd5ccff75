"""Spelling suggestions for unknown names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, options: Iterable[str]) -> str | None:
    """The closest option, or None if none is close."""
    by_folded = {option.casefold(): option for option in sorted(options, reverse=True)}
    found = get_close_matches(word[:200].casefold(), list(by_folded), n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, options: Iterable[str]) -> str:
    """``; did you mean unique?`` to end an error message, or an empty string."""
    found = nearest(word, options)
    return f"; did you mean {found}?" if found else ""
