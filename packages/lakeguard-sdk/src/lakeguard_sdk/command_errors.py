"""Errors of commands that choose what to run, when, or from which files."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused, UsageError


class BuiltByProgram(UsageError):
    """Its rows come from a program: call ``tx.publish`` there, on a Spark session of yours."""

    code = "LG-1201"
    what = "{dataset} is not built by runs: a program publishes it with tx.publish"
    next_command = 'tx.publish("{dataset}", frame)'


class NoWindow(UsageError):
    """Say which column the window is about, and two of its values."""

    code = "LG-1202"
    what = "{dataset} cannot be filled back: {reason}"
    next_command = "lakeguard backfill {dataset} --from A --to B --by COLUMN"


class NothingToLookAt(UsageError):
    """Name files that exist and have rows of one kind; nothing was written."""

    code = "LG-1203"
    what = "{pattern}: {reason}"
    next_command = "lakeguard source add NAME PATTERN"


class AlreadyGoverned(UsageError):
    """It has versions already: publish, roll back, or adopt the table under another name."""

    code = "LG-1204"
    what = "{dataset} is governed already, and v{version} is published"
    next_command = "lakeguard show {dataset}"


class OtherTable(UsageError):
    """A dataset has one table, where its definition says: adopt that one, or use another name."""

    code = "LG-1205"
    what = "{dataset} has its table at {location}, not at {asked}"
    next_command = "lakeguard adopt {dataset} {location}"


class NothingToApprove(UsageError):
    """What was seen last is what is declared, or cannot be declared by columns alone."""

    code = "LG-1206"
    what = "there is nothing to approve in the schema of {dataset}: {reason}"
    next_command = "lakeguard schema diff {dataset}"


class NotApprovable(UsageError):
    """No run could bring the table to what would be declared; nothing was written."""

    code = "LG-1207"
    what = "the schema of {dataset} is not approved: {reason}"
    next_command = "lakeguard schema approve {dataset} --reason WHY --column NAME"


class NotAdoptable(Refused):
    """The table stays as it is. Take the way out that is named, or copy its rows."""

    code = "LG-3005"
    what = "{location} is not adopted: {reason}"
    next_command = "{way_out}"


class MaintenanceRefused(Refused):
    """A table that is not as the ledger knows it is left as it is: put it right first."""

    code = "LG-3004"
    what = "{dataset} is not maintained: {reason}"
    next_command = "lakeguard verify"
