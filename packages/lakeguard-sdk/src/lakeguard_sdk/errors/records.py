"""Errors of the record platform."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import Refused, StateError, UsageError


class UnknownKind(UsageError):
    """Register the kind with its JSON schema before the first record of it."""

    code = "LG-1801"
    what = "unknown kind of record {kind!r}{hint}"
    next_command = "lakeguard records kinds"


class RecordRefused(UsageError):
    """Correct the record as its kind's schema says; nothing was stored."""

    code = "LG-1802"
    what = "record of {kind} about {target} refused: {place}: {reason}; nothing was stored"
    next_command = "lakeguard records kinds {kind}"


class KindRefused(UsageError):
    """A later version of a kind accepts whatever an earlier one accepted; else register another
    kind."""

    code = "LG-1803"
    what = "kind {kind} version {version} refused: {reason}"
    next_command = "lakeguard records kinds {kind}"


class UnknownCursor(UsageError):
    """Go on with a cursor or page token that this repository gave, unchanged, for the same
    query."""

    code = "LG-1804"
    what = "{cursor!r} is no cursor of these records"
    next_command = "lakeguard records tail"


class RecordConflict(Refused):
    """A fact was stored with other content before: if the new content is right, give it a higher
    version."""

    code = "LG-3501"
    what = (
        "{kind} about {target} by {producer} is stored with other content, as version {version};"
        " nothing was stored"
    )
    next_command = "lakeguard records history {target} --kind {kind}"


class RecordsDamaged(StateError):
    """A stored record has other bytes than were written. Restore the database from a backup."""

    code = "LG-6301"
    what = "records are damaged at {place}: {reason}"
    next_command = "lakeguard doctor"


class RecordsUnavailable(StateError):
    """The repository cannot be reached; records that wait in a spool are sent later."""

    code = "LG-6302"
    retryable = True
    what = "the record repository at {place} is unavailable: {reason}"
    next_command = "lakeguard doctor"
