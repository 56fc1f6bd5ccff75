"""Errors about the lake ledger and the State that owns it."""

from __future__ import annotations

from lakeguard_sdk.errors import StateError


class LakeOwned(StateError):
    """A lake has one State; a second one would tell another story of the same tables."""

    code = "LG-6101"
    what = "{place} is not the State of this lake: {lake} belongs to State {owner} since {since}"
    next_command = "lakeguard rebuild"


class StateOlder(StateError):
    """The ledger on the lake knows more than this State: it was restored from a backup."""

    code = "LG-6102"
    what = "{place} is older than the ledger on the lake: batch {known} here, {told} there"
    next_command = "lakeguard rebuild --replace"


class StateForked(StateError):
    """The same batch says one thing here and another on the lake."""

    code = "LG-6103"
    what = "{place} and the ledger on the lake differ at batch {batch}"
    next_command = "lakeguard verify"


class LedgerUnreadable(StateError):
    """A table of the lake ledger, or its owner's file, cannot be read or is damaged."""

    code = "LG-6104"
    what = "{location}: {reason}"
    next_command = "lakeguard verify"


class LedgerOlder(StateError):
    """The ledger on the lake was put back from a backup: it lost what it had been told."""

    code = "LG-6107"
    what = "the ledger at {location} is older than the State: batch {told} there, {known} here"
    next_command = "put a newer copy of {location} back, then: lakeguard verify"


class LedgerGone(StateError):
    """The State has told of rows, and the ledger that held them is no more."""

    code = "LG-6105"
    what = "the ledger of this State is gone from {location}"
    next_command = "put {location} back from a backup, then: lakeguard verify"


class LedgerOrphaned(StateError):
    """There is a ledger, and its owner's file is no more: a new State would write over it."""

    code = "LG-6108"
    what = "{location} holds a ledger without its plane.json"
    next_command = "lakeguard rebuild"


class RebuildRefused(StateError):
    """A rebuild fills an empty State from a whole ledger, and nothing else."""

    code = "LG-6106"
    what = "{reason}"
    next_command = "{fix}"
