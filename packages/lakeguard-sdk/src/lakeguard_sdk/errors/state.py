"""Errors of the state database and of the ledger on the lake."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import Refused, StateError


class StateDatabaseShared(Refused):
    """A target's database is the state database. Published data and control plane state are kept
    separate: give the target its own database and role."""

    code = "LG-3381"
    what = "target {target}: its database is the state database"
    next_command = "give the target another database, then: lakeguard plan"


class StateMissing(StateError):
    """Nothing has been applied yet."""

    code = "LG-6001"
    what = "{place} has no state yet"
    next_command = "lakeguard apply"


class StateMismatch(StateError):
    """The database was created by another version of LakeGuard."""

    code = "LG-6002"
    what = "{place} is at schema {found}, this version needs {needed}"
    next_command = "upgrade lakeguard"


class StateUnavailable(StateError):
    """The database is unreachable or locked; the same call may succeed later."""

    code = "LG-6003"
    retryable = True
    what = "{place} is unavailable: {reason}"
    next_command = "repeat the command"


class StateCommitUnknown(StateUnavailable):
    """The connection was lost during a commit: it is unknown whether it was committed."""

    code = "LG-6014"
    what = "{place} was lost during a commit: {reason}"
    next_command = "check whether it took effect, and repeat the command if not"


class StateRefused(StateError):
    """The state tables cannot be created: a privilege is missing, or a name is taken."""

    code = "LG-6004"
    what = "{place} cannot hold the state: {reason}"
    next_command = "choose another schema, or request the privileges for this one"


class SemanticsUnknown(StateError):
    """Replay with a LakeGuard at least as new as the one that made the decision."""

    code = "LG-6005"
    what = "the decision uses semantics {semantics}; this version knows {known}"
    next_command = "lakeguard doctor"


class StateLoginRefused(StateUnavailable):
    """The server refused the login: wrong password, or an unknown role or database. Retrying does
    not help."""

    code = "LG-6006"
    retryable = False
    what = (
        "{place} refused the login: {reason}; check database and password of the environment in "
        "lakeguard.toml"
    )
    next_command = "lakeguard doctor"


class ServiceNotTrusted(StateUnavailable):
    """The service speaks no TLS, or nobody that this machine trusts vouches for its certificate.
    Retrying does not help."""

    code = "LG-6015"
    retryable = False
    what = "no TLS connection to {place}: {reason}"
    next_command = (
        "check the scheme of LAKEGUARD_URL; name the authority of the certificate in SSL_CERT_FILE"
    )


class StateLocked(StateUnavailable):
    """Another process holds the database; the same call succeeds once it is done."""

    code = "LG-6007"
    what = "{place} is locked by another process: {reason}"
    next_command = "repeat the command"


class StateFull(StateUnavailable):
    """The disk of the database is full; nothing was written, and the same call succeeds once there
    is space."""

    code = "LG-6008"
    what = "{place} cannot be written: no space is left ({reason})"
    next_command = "free space where the database is, then repeat the command"


class StateReadOnly(StateError):
    """The database, its file or its folder may not be written."""

    code = "LG-6009"
    what = "{place} may not be written: {reason}"
    next_command = "make the file and its folder writable for this user, then repeat the command"


class StateDamaged(StateError):
    """The database is corrupt or truncated. Everything in the ledger on the lake can be restored;
    ``rebuild`` keeps the damaged file beside the new one."""

    code = "LG-6010"
    what = "{place} is damaged: {reason}"
    next_command = "lakeguard rebuild"


class StateNotMigrated(StateError):
    """The role of the service may not migrate the database; its owner does."""

    code = "LG-6011"
    what = "{place} is at schema {found}, this version needs {needed}"
    next_command = "lakeguard migrate"


class OrganisationsNotSeparated(StateError):
    """Row-level security does not bind the role, which would see the rows of all organisations."""

    code = "LG-6012"
    what = "{place} does not separate organisations for role {role}: {reason}"
    next_command = "lakeguard migrate"


class AuditKeyUnusable(StateError):
    """The key that signs exported heads is missing, readable by others, or not an Ed25519 key."""

    code = "LG-6013"
    what = "the audit key cannot be used: {reason}"
    next_command = "correct the key, then: lakeguard audit head --out FILE"


class LakeOwned(StateError):
    """A lake has exactly one state database. If it was lost, rebuild it from the ledger."""

    code = "LG-6101"
    what = (
        "{place} is empty or belongs to another lake: {lake} has been owned by state {owner}"
        " since {since}"
    )
    next_command = "lakeguard rebuild"


class StateOlder(StateError):
    """The ledger on the lake is newer than the state database, which was probably restored from a
    backup."""

    code = "LG-6102"
    what = "{place} is older than the ledger on the lake: batch {known} here, {ledger} there"
    next_command = "lakeguard rebuild --replace"


class StateForked(StateError):
    """The same batch differs between the state database and the lake."""

    code = "LG-6103"
    what = "{place} and the ledger on the lake differ at batch {batch}"
    next_command = "lakeguard verify"


class LedgerUnreadable(StateError):
    """A table of the ledger, or its owner file, is unreadable or damaged."""

    code = "LG-6104"
    what = "{location}: {reason}"
    next_command = "lakeguard verify"


class LedgerMissing(StateError):
    """The state database has delivered rows to a ledger that no longer exists."""

    code = "LG-6105"
    what = "the ledger at {location} is missing"
    next_command = "restore {location} from a backup, then: lakeguard verify"


class RebuildRefused(StateError):
    """A rebuild needs an empty state database and a complete ledger."""

    code = "LG-6106"
    what = "{reason}"
    next_command = "{fix}"


class LedgerOlder(StateError):
    """The ledger on the lake was restored from a backup and lost delivered batches."""

    code = "LG-6107"
    what = "the ledger at {location} is older than the state: batch {ledger} there, {known} here"
    next_command = "restore a newer copy of {location}, then: lakeguard verify"


class LedgerOrphaned(StateError):
    """The ledger exists but its owner file is missing: a new state would overwrite it."""

    code = "LG-6108"
    what = "{location} contains a ledger without plane.json"
    next_command = "lakeguard rebuild"


class IssuerUnavailable(StateError):
    """Wait until the issuer of user tokens answers, or correct its address. Service tokens, and
    user tokens whose key is cached, keep working."""

    code = "LG-6201"
    retryable = True
    what = "the keys of {issuer} could not be fetched: {reason}"
    next_command = "lakeguard doctor"
