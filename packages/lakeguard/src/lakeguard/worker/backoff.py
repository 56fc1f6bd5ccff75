"""Which failures of the State a worker waits out, and how long."""

from __future__ import annotations

from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.errors import LakeGuardError, StateUnavailable

BACKOFF = Backoff(first=0.5, longest=30.0)


def is_waited_out(error: LakeGuardError) -> bool:
    """Who was served before asks on, even where a State lets nobody in: after a restart of the
    server, or while its password is changed, somebody may set that right."""
    return error.retryable or isinstance(error, StateUnavailable)
