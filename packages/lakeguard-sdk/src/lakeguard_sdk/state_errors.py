"""Errors of the database that holds the State."""

from __future__ import annotations

from lakeguard_sdk.errors import StateError


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


class StateRefused(StateError):
    """The database lets nobody create the state there: a right is missing, or a name is taken."""

    code = "LG-6004"
    what = "{place} cannot hold the state: {reason}"
    next_command = "choose another schema, or ask for the right to use this one"
