"""Errors of a source that may be there a moment later."""

from __future__ import annotations

from lakeguard_sdk.errors import SourceUnreadable


class SourceUnavailable(SourceUnreadable):
    """The server was not there, or broke off; nothing of its answer was kept."""

    code = "LG-5009"
    retryable = True
    next_command = "lakeguard run {dataset}"
