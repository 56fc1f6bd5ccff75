"""Conversion of errors to the ``Failure`` sent to the control plane."""

from __future__ import annotations

import errno
import os

from lakeguard_sdk.errors import DiskFull, LakeGuardError
from lakeguard_sdk.model.run import Failure

_LONGEST = 500
_NO_SPACE = os.strerror(errno.ENOSPC)


def full_disk(error: BaseException, dataset: str) -> DiskFull | None:
    """A full disk explains any error that it caused, whoever was blamed for it."""
    seen: BaseException | None = error
    while seen is not None:
        if getattr(seen, "errno", None) == errno.ENOSPC or _NO_SPACE in str(seen):
            return DiskFull(dataset=dataset)
        seen = seen.__cause__ or seen.__context__
    return None


def failure_of(error: Exception) -> Failure:
    """One line of bounded length; only a ``LakeGuardError`` can be retryable."""
    text = next((line for line in str(error).splitlines() if line.strip()), "")
    if isinstance(error, LakeGuardError):
        return Failure(code=error.code, message=text[:_LONGEST], retryable=error.retryable)
    message = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return Failure(code=LakeGuardError.code, message=message[:_LONGEST])
