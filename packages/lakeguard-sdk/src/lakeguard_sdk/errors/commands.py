"""Commands and arguments: names, settings, users, and what a command cannot do."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import Refused, UsageError


class BadName(UsageError):
    """Write ``layer.name`` with a layer of bronze, silver, gold and a lower snake case name."""

    code = "LG-1001"
    what = (
        "{name!r} is not a valid name: names are lower snake case, start with a letter and have"
        " at most 128 characters; a dataset is layer.name with layer bronze, silver or gold"
    )
    next_command = "lakeguard status"


class BadAddress(UsageError):
    """Write ``silver.flights``, ``silver.flights@v7`` or ``silver.flights@2026-01-31T00:00Z``."""

    code = "LG-1002"
    what = "{address!r} is not a version: write v7, or a time with its zone"
    next_command = "lakeguard versions DATASET"


class NotRegistered(UsageError):
    """Register the dataset: write its definition and apply it."""

    code = "LG-1003"
    what = "{dataset} is not registered{hint}"
    next_command = "lakeguard status, or write its definition and: lakeguard apply"

    def __init__(self, *, dataset: str, hint: str = "") -> None:
        super().__init__(dataset=dataset, hint=hint)


class UnknownVersion(UsageError):
    """Ask for the versions that exist."""

    code = "LG-1004"
    what = "{dataset} has no version {version}"
    next_command = "lakeguard versions {dataset}"


class UnknownRun(UsageError):
    """Ask for the runs that exist."""

    code = "LG-1005"
    what = "there is no run {run}"
    next_command = "lakeguard runs"


class SettingsError(UsageError):
    """Correct ``lakeguard.toml`` at the place named."""

    code = "LG-1006"
    what = "{file}: {problem}"
    next_command = "edit {file}, then: lakeguard doctor"


class NoProject(UsageError):
    """Go to a folder with ``lakeguard.toml``, or make one."""

    code = "LG-1007"
    what = "there is no lakeguard.toml in {folder} or above it"
    next_command = "lakeguard init my-lake"


class UnknownPlane(UsageError):
    """Give a folder; install the package that serves other addresses."""

    code = "LG-1008"
    what = "nothing installed can connect to {url!r}"
    next_command = "pip install lakeguard"


class AlreadyThere(UsageError):
    """Choose another place, or remove what is there."""

    code = "LG-1009"
    what = "{place} already exists; nothing was changed"
    next_command = "lakeguard {command}"


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


class NotInDraft(UsageError):
    """Name a dataset that the file defines."""

    code = "LG-1220"
    what = "the draft does not define {dataset}; it defines {has}"
    next_command = "lakeguard backtest FILE --dataset DATASET"


class NothingDrafted(UsageError):
    """Hand in a file that defines a dataset, or a folder of them."""

    code = "LG-1221"
    what = "{file} defines no dataset"
    next_command = "lakeguard backtest FILE"


class NotComparable(UsageError):
    """Name two runs, or two versions, of one dataset."""

    code = "LG-1222"
    what = "{before} is of {dataset}, and {after} of {other}: they have nothing in common"
    next_command = "lakeguard runs {dataset}"


class BadUserName(UsageError):
    """Whoever acts has a name of 1 to 128 printable characters, without a space at its ends: it is
    kept with all that he does."""

    code = "LG-1681"
    what = "{name!r} is no name of a user: {problem}"
    next_command = "act under another name of the operating system, then: lakeguard status"


class NotPermitted(Refused):
    """A run may read and report on itself; everything else needs an operator."""

    code = "LG-3001"
    what = "{holder} may not call {method}"
    next_command = "connect as an operator"


class MaintenanceRefused(Refused):
    """A table that is not as the ledger knows it is left as it is: put it right first."""

    code = "LG-3004"
    what = "{dataset} is not maintained: {reason}"
    next_command = "lakeguard verify"


class NotAdoptable(Refused):
    """The table stays as it is. Take the way out that is named, or copy its rows."""

    code = "LG-3005"
    what = "{location} is not adopted: {reason}"
    next_command = "{way_out}"
