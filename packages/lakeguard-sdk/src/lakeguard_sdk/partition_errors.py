"""Errors of partitions and invalidations."""

from __future__ import annotations

from lakeguard_sdk.errors import UsageError


class NoSuchReach(UsageError):
    """Name partitions of the dataset as ``versions --partitions`` lists them, or a window of one
    of its columns; nothing was written."""

    code = "LG-1661"
    what = "{dataset} has no such part: {problem}"
    next_command = "lakeguard versions {dataset} --partitions"


class NeverBuiltAgain(UsageError):
    """Name the window that is wrong, or make the load FULL: only then is it put right."""

    code = "LG-1665"
    what = "no run of {dataset} builds all of it again: its load, {load}, reads new rows only"
    next_command = (
        "lakeguard invalidations add {dataset} --from A --to B --by COLUMN --reason correction"
    )


class UnknownInvalidation(UsageError):
    """Name an invalidation as ``lakeguard invalidations list`` lists it."""

    code = "LG-1662"
    what = "there is no invalidation {invalidation}"
    next_command = "lakeguard invalidations list --all"


class InvalidationOver(UsageError):
    """All have caught up with it, or somebody withdrew it before."""

    code = "LG-1663"
    what = "invalidation {invalidation} is over: it was {end} at {ended_at}"
    next_command = "lakeguard invalidations show {invalidation}"


class WhyNeeded(UsageError):
    """Say why; it stays in the ledger."""

    code = "LG-1664"
    what = "withdrawing invalidation {invalidation} needs a reason"
    next_command = 'lakeguard invalidations withdraw {invalidation} --why "…"'
