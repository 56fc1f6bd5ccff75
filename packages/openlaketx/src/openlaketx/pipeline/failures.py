"""Conversion of errors to the ``Failure`` sent to the control plane."""

from __future__ import annotations

from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.run import Failure

_LONGEST = 500


def failure_of(error: Exception) -> Failure:
    """One line of bounded length; only a ``LakeGuardError`` can be retryable."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    if isinstance(error, LakeGuardError):
        return Failure(code=error.code, message=text[:_LONGEST], retryable=error.retryable)
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return Failure(code=LakeGuardError.code, message=message[:_LONGEST])
