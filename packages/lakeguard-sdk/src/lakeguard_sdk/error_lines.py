"""One-line descriptions of errors, for logs and records."""

from __future__ import annotations

from lakeguard_sdk.errors import LakeGuardError


def first_line(error: BaseException) -> str:
    """The first line of the message, or the type if there is no message."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def error_line(error: BaseException) -> str:
    """One line, with the type of errors that are not LakeGuard's: their message alone may mean
    nothing."""
    line, kind = first_line(error), type(error).__name__
    return line if isinstance(error, LakeGuardError) or line == kind else f"{kind}: {line}"


def discreet_line(error: BaseException) -> str:
    """Like ``error_line``, but only the type of other errors: their message may contain row
    values."""
    return first_line(error) if isinstance(error, LakeGuardError) else type(error).__name__
