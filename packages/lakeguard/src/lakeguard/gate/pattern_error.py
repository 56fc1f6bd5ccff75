"""Why a pattern is refused."""

from __future__ import annotations


class PatternError(Exception):
    """The pattern is not accepted; the message names the construct and what to write."""
