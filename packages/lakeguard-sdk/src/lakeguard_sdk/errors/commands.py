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
    """List the versions that exist."""

    code = "LG-1004"
    what = "{dataset} has no version {version}"
    next_command = "lakeguard versions {dataset}"


class UnknownRun(UsageError):
    """List the runs that exist."""

    code = "LG-1005"
    what = "run {run} does not exist"
    next_command = "lakeguard runs"


class SettingsError(UsageError):
    """Correct ``lakeguard.toml`` at the named setting."""

    code = "LG-1006"
    what = "{file}: {problem}"
    next_command = "edit {file}, then: lakeguard doctor"


class AuditHeadRefused(UsageError):
    """The file is not a head that this environment exported, or it was changed since."""

    code = "LG-1015"
    what = "the exported head is refused: {reason}"
    next_command = "lakeguard audit verify"


class SecretStoreMissing(UsageError):
    """Name the program that prints a secret of the store, or write ``env:NAME`` or ``file:PATH``.
    A definition never names a program."""

    code = "LG-1014"
    what = (
        "{owner}: {name} is {reference}, but lakeguard.toml names no command that resolves"
        " secret:// references"
    )
    next_command = (
        'write [env.NAME.secrets] command = ["PROGRAM"] into lakeguard.toml; then: lakeguard plan'
    )


class NoProject(UsageError):
    """Change to a folder with ``lakeguard.toml``, or create one."""

    code = "LG-1007"
    what = "no lakeguard.toml in {folder} or any folder above it"
    next_command = "lakeguard init my-lake"


class UnknownPlane(UsageError):
    """Pass a folder, or install the package that handles this URL."""

    code = "LG-1008"
    what = "no installed package can connect to {url!r}"
    next_command = "pip install lakeguard"


class AlreadyExists(UsageError):
    """Choose another path, or remove the existing one."""

    code = "LG-1009"
    what = "{place} already exists; nothing was changed"
    next_command = "lakeguard {command}"


class BuiltByProgram(UsageError):
    """A program supplies its rows: call ``tx.publish`` there, with your own Spark session."""

    code = "LG-1201"
    what = "{dataset} is not built by runs: a program publishes it with tx.publish"
    next_command = 'tx.publish("{dataset}", frame)'


class NoWindow(UsageError):
    """Name the column of the window, and its first and last value."""

    code = "LG-1202"
    what = "cannot backfill {dataset}: {reason}"
    next_command = "lakeguard backfill {dataset} --from A --to B --by COLUMN"


class SourceNotInspectable(UsageError):
    """Name existing files that share one format and schema; nothing was written."""

    code = "LG-1203"
    what = "{pattern}: {reason}"
    next_command = "lakeguard source add NAME PATTERN"


class AlreadyGoverned(UsageError):
    """It already has versions: publish, roll back, or adopt the table under another name."""

    code = "LG-1204"
    what = "{dataset} is already governed; v{version} is published"
    next_command = "lakeguard show {dataset}"


class OtherTable(UsageError):
    """A dataset has one table, at its defined location: adopt that one, or use another name."""

    code = "LG-1205"
    what = "the table of {dataset} is at {location}, not at {asked}"
    next_command = "lakeguard adopt {dataset} {location}"


class NothingToApprove(UsageError):
    """The last observed schema is already declared, or cannot be declared by columns alone."""

    code = "LG-1206"
    what = "no schema change to approve for {dataset}: {reason}"
    next_command = "lakeguard schema diff {dataset}"


class NotApprovable(UsageError):
    """No run could migrate the table to the new declaration; nothing was written."""

    code = "LG-1207"
    what = "cannot approve the schema of {dataset}: {reason}"
    next_command = "lakeguard schema approve {dataset} --reason WHY --column NAME"


class NothingSelected(UsageError):
    """Write a dataset, ``tag:NAME`` or ``domain:NAME``, with a ``+`` before or after it to add
    ancestors or descendants."""

    code = "LG-1208"
    what = "{selector} selects no dataset{hint}"
    next_command = "lakeguard status"


class NoDecision(UsageError):
    """Name a run that the gate judged: one that was published or blocked."""

    code = "LG-1209"
    what = "run {run} has no decision: {reason}"
    next_command = "lakeguard runs {dataset}"


class NothingApplied(UsageError):
    """A run uses applied definitions: apply those of the project's files first."""

    code = "LG-1210"
    what = "no dataset is applied, so there is nothing to run"
    next_command = "lakeguard apply"


class NotInDraft(UsageError):
    """Name a dataset that the file defines."""

    code = "LG-1220"
    what = "the draft does not define {dataset}; it defines {has}"
    next_command = "lakeguard backtest FILE --dataset DATASET"


class NothingDrafted(UsageError):
    """Pass a file that defines a dataset, or a folder of such files."""

    code = "LG-1221"
    what = "{file} defines no dataset"
    next_command = "lakeguard backtest FILE"


class NotComparable(UsageError):
    """Name two runs, or two versions, of one dataset."""

    code = "LG-1222"
    what = "{before} belongs to {dataset} and {after} to {other}; compare runs of one dataset"
    next_command = "lakeguard runs {dataset}"


class BadUserName(UsageError):
    """A user name has 1 to 128 printable characters and no leading or trailing space. It is
    recorded with every action."""

    code = "LG-1681"
    what = "invalid user name {name!r}: {problem}"
    next_command = "choose another name; for that of the operating system, run as another user"


class NotPermitted(Refused):
    """A run may read, and report on itself; others may do what their roles or scopes allow."""

    code = "LG-3001"
    exit_code = 1
    what = "{holder} may not call {method}"
    next_command = "ask an administrator for a role, or a token, that allows it"


class MaintenanceRefused(Refused):
    """A table that differs from the ledger is left untouched: repair it first."""

    code = "LG-3004"
    what = "cannot maintain {dataset}: {reason}"
    next_command = "lakeguard verify"


class NotAdoptable(Refused):
    """The table is unchanged. Follow the suggested step, or copy its rows."""

    code = "LG-3005"
    what = "cannot adopt {location}: {reason}"
    next_command = "{way_out}"


# Identity.


class BadNamespace(UsageError):
    """Leave it out for everything, or write a domain, a layer or a dataset."""

    code = "LG-1682"
    what = "{namespace!r} is neither domain:NAME, nor a layer, nor a dataset"
    next_command = "lakeguard role grant USER viewer --on gold"


class UnknownUser(UsageError):
    """List the users of the organisation."""

    code = "LG-1683"
    what = "there is no user {user!r}"
    next_command = "lakeguard user list"


class UnknownGrant(UsageError):
    """List the grants of the organisation; a revoked one cannot be revoked again."""

    code = "LG-1684"
    what = "there is no active grant {grant!r}"
    next_command = "lakeguard role list"


class UnknownServiceToken(UsageError):
    """List the service tokens; replace a revoked one by a token of another name."""

    code = "LG-1685"
    what = "there is no active service token {token!r}"
    next_command = "lakeguard token list"


class ServiceTokenInvalid(UsageError):
    """Give a token a name of its own, actions, and an expiry in the future."""

    code = "LG-1686"
    what = "service token {token!r}: {problem}"
    next_command = "lakeguard token create NAME --allow read"


class UnknownOrganisation(UsageError):
    """List the organisations."""

    code = "LG-1687"
    what = "there is no organisation {organisation!r}"
    next_command = "lakeguard org list"
