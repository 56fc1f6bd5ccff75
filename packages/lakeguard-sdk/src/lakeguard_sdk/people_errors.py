"""Errors about people."""

from __future__ import annotations

from lakeguard_sdk.errors import UsageError


class BadUserName(UsageError):
    """Whoever acts has a name of 1 to 128 printable characters, without a space at its ends: it is
    kept with all that he does."""

    code = "LG-1681"
    what = "{name!r} is no name of a user: {problem}"
    next_command = "act under another name of the operating system, then: lakeguard status"
