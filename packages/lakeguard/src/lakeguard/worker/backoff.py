"""Backoff of workers while the State is unavailable."""

from __future__ import annotations

from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.errors import LakeGuardError, StateUnavailable

BACKOFF = Backoff(first=0.5, longest=30.0)


def is_retried(error: LakeGuardError) -> bool:
    """Whether to retry. A refused login counts, too: the server may be restarting, or its password
    being rotated."""
    return error.retryable or isinstance(error, StateUnavailable)
