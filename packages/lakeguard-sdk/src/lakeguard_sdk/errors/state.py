"""The State and its database, and the ledger on the lake."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import Refused, StateError


class NotApart(Refused):
    """A target's database is the State's own. What readers work with is kept away from what is
    decided: give the target a database of its own, with a role of its own."""

    code = "LG-3381"
    what = "target {target}: its database is the one that holds the State"
    next_command = "give the target another database, then: lakeguard plan"


class StateMissing(StateError):
    """Nothing was applied here yet."""

    code = "LG-6001"
    what = "{place} has no state yet"
    next_command = "lakeguard apply"


class StateMismatch(StateError):
    """The database was made by another version of LakeGuard."""

    code = "LG-6002"
    what = "{place} is at schema {found}, this version needs {needed}"
    next_command = "upgrade lakeguard"


class StateUnavailable(StateError):
    """The database is away, or others kept it busy; the same call may work later."""

    code = "LG-6003"
    retryable = True
    what = "{place} cannot be used now: {reason}"
    next_command = "the same command again"


class StateRefused(StateError):
    """The database lets nobody create the state there: a right is missing, or a name is taken."""

    code = "LG-6004"
    what = "{place} cannot hold the state: {reason}"
    next_command = "choose another schema, or ask for the right to use this one"


class SemanticsUnknown(StateError):
    """Replay with a version of LakeGuard that is at least as new as the one that decided."""

    code = "LG-6005"
    what = "it was decided with semantics {semantics}, and this version knows {known}"
    next_command = "lakeguard doctor"


class StateShut(StateUnavailable):
    """The server is there and lets nobody in as it is asked: a wrong password, or a role or a
    database that it does not have. It does not pass by itself."""

    code = "LG-6006"
    retryable = False
    what = (
        "{place} lets nobody in: {reason}; database and password of the environment, in "
        "lakeguard.toml, say who asks and where"
    )
    next_command = "lakeguard doctor"


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


class LedgerGone(StateError):
    """The State has told of rows, and the ledger that held them is no more."""

    code = "LG-6105"
    what = "the ledger of this State is gone from {location}"
    next_command = "put {location} back from a backup, then: lakeguard verify"


class RebuildRefused(StateError):
    """A rebuild fills an empty State from a whole ledger, and nothing else."""

    code = "LG-6106"
    what = "{reason}"
    next_command = "{fix}"


class LedgerOlder(StateError):
    """The ledger on the lake was put back from a backup: it lost what it had been told."""

    code = "LG-6107"
    what = "the ledger at {location} is older than the State: batch {told} there, {known} here"
    next_command = "put a newer copy of {location} back, then: lakeguard verify"


class LedgerOrphaned(StateError):
    """There is a ledger, and its owner's file is no more: a new State would write over it."""

    code = "LG-6108"
    what = "{location} holds a ledger without its plane.json"
    next_command = "lakeguard rebuild"
