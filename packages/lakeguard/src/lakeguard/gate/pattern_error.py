"""Why a pattern is refused."""

from __future__ import annotations


class PatternError(Exception):
    """The pattern is not accepted; the message names the construct and what to write."""


class EmptyPattern(PatternError):
    """There is no pattern."""


class Anchored(PatternError):
    """The pattern says where it begins or ends; ``what`` must be left out, whichever is meant."""

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what
