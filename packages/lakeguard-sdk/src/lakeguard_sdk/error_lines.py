"""One line about an error, for a log, a note or a record."""

from __future__ import annotations

from lakeguard_sdk.errors import LakeGuardError


def first_line(error: BaseException) -> str:
    """The first line of its message; its type where it has none."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def error_line(error: BaseException) -> str:
    """One line; an error that is not ours has its type before it, for its message alone may mean
    nothing."""
    line, kind = first_line(error), type(error).__name__
    return line if isinstance(error, LakeGuardError) or line == kind else f"{kind}: {line}"


def discreet_line(error: BaseException) -> str:
    """As ``error_line``, but of an error that is not ours only the type: its message may hold
    values of rows."""
    return first_line(error) if isinstance(error, LakeGuardError) else type(error).__name__
