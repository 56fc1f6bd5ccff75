"""Keeping a worker's memory and first environment from the processes of its jobs."""

from __future__ import annotations

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def seclude() -> None:
    """Other processes of the same user cannot look into this one, or trace it; a user who may do
    everything still can. On systems without such a switch nothing happens."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
