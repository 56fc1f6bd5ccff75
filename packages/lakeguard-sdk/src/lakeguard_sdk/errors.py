"""One error tree. Each error says what happened, why, and the next command.

LakeGuardError
├── UsageError             the call is wrong: exit 2, nothing was written
│   ├── BadName            LG-1001
│   ├── BadAddress         LG-1002
│   ├── NotRegistered      LG-1003
│   ├── UnknownVersion     LG-1004
│   ├── UnknownRun         LG-1005
│   ├── SettingsError      LG-1006
│   ├── NoProject          LG-1007
│   ├── UnknownPlane       LG-1008
│   ├── AlreadyThere       LG-1009
│   ├── AlreadyPublished   LG-1010
│   ├── ReasonNeeded       LG-1011
│   ├── SecretReason       LG-1012
│   ├── UnknownTask        LG-1601, NotRetryable LG-1602, NotCancelable LG-1603
│   ├── JobStillOff        LG-1604
│   ├── NothingWaits       LG-1501, WriteOffInvalid LG-1502
│   ├── ReportRefused      LG-1611
│   ├── NotReported        LG-1612, NotHandedOver LG-1615
│   ├── BadPlace           LG-1613
│   ├── PlaceTaken         LG-1614
│   ├── UnknownJob         LG-1621, UnknownGraph LG-1622, LaunchInvalid LG-1623
│   ├── NothingToDeploy    LG-1624, NoEvent LG-1641, SecretEvent LG-1642
│   ├── NoSuchReach        LG-1661, UnknownInvalidation LG-1662
│   ├── InvalidationOver   LG-1663, WhyNeeded LG-1664, NeverBuiltAgain LG-1665
│   ├── BadUserName        LG-1681
│   ├── NotInDraft         LG-1220
│   ├── NothingDrafted     LG-1221
│   ├── NotComparable      LG-1222
│   ├── NoLog              LG-1651
│   ├── InvalidDefinitions LG-2000, carries all of the next
│   ├── DefinitionError    LG-20xx, one code per kind of mistake, with file, line, column
│   ├── RegistryMoved      LG-2100
│   └── PlanChanged        LG-2101
├── Refused                the control plane says no: exit 3
│   ├── NotPermitted       LG-3001
│   ├── RollbackBlocked    LG-3002
│   ├── NotApproved        LG-3003
│   ├── MaintenanceRefused LG-3004
│   ├── NotAdoptable       LG-3005
│   ├── FilesRemoved       LG-3006
│   ├── NotWaivable        LG-3007
│   ├── SampleRefused      LG-3008
│   ├── SampleNotMasked    LG-3009
│   ├── PromotionRefused   LG-3010
│   ├── ProfileRefused     LG-3015
│   ├── ProfileNotMasked   LG-3016
│   ├── BadToken           LG-3311
│   ├── ReportedOtherwise  LG-3312
│   ├── OutputThere        LG-3313
│   ├── TaskCanceled       LG-3301
│   ├── LaunchRefused      LG-3320, one code per gate up to LG-3330; GraphLeft LG-3331
│   ├── KeySpent           LG-3332, EventDiffers LG-3341
│   ├── NotApart           LG-3381
│   └── NotReplayable      LG-3201, ReadsAllAnew LG-3202
├── MoveError              a move did not happen
│   ├── TableBusy          LG-4001, retryable
│   ├── BaseMoved          LG-4002, retryable
│   ├── Fenced             LG-4003
│   ├── CommitMismatch     LG-4004
│   ├── TableUnreadable    LG-4005
│   ├── StagedFilesChanged LG-4006
│   ├── ForeignTable       LG-4007
│   ├── DefinitionMoved    LG-4008, retryable
│   └── ColumnsUnderWay    LG-4009, retryable
├── EngineError            the data plane could not do its work: exit 1
│   ├── JavaMissing        LG-5001
│   ├── JarsMissing        LG-5002
│   ├── SourceUnreadable   LG-5003
│   ├── BuildFailed        LG-5004
│   ├── StagingFailed      LG-5005
│   ├── WorkerMissing      LG-5006
│   ├── DeliveryFailed     LG-5007
│   ├── SecretMissing      LG-5008
│   ├── SourceUnavailable  LG-5009, retryable
│   ├── LoadFailed         LG-5010
│   ├── Interrupted        LG-5011
│   ├── SparkNotStarted    LG-5012
│   ├── SparkEnded         LG-5013
│   ├── JobFailed          LG-5651, JobUnusable LG-5653, CallRefused LG-5656
│   ├── JobAsksAgain       LG-5652, retryable; so are JobCrashed LG-5654, JobTimedOut LG-5655,
│   │                      CallFailed LG-5657, WorkerStopped LG-5658 and
│   │                      ReportOverdue LG-5659
│   ├── VersionUnreadable  LG-5020
│   ├── AlertNotSent       LG-5201, EventNotSent LG-5202
│   └── NotRebuildable     LG-5021
└── StateError             the database is not what this version needs
    ├── StateMissing       LG-6001
    ├── StateMismatch      LG-6002
    ├── StateUnavailable   LG-6003, retryable; StateShut LG-6006 is one that is not
    ├── StateRefused       LG-6004
    └── SemanticsUnknown   LG-6005
"""

from __future__ import annotations

from typing import Any, ClassVar


class LakeGuardError(Exception):
    """Carries its fields; ``retryable`` tells whether the same call may succeed later."""

    code: ClassVar[str] = "LG-0000"
    retryable: ClassVar[bool] = False
    exit_code: ClassVar[int] = 1
    what: ClassVar[str] = "something went wrong"
    next_command: ClassVar[str] = "lakeguard doctor"

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        super().__init__(self.what.format(**fields))

    @property
    def next_step(self) -> str:
        return self.next_command.format(**self.fields)

    def to_data(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": str(self),
            "next": self.next_step,
            "retryable": self.retryable,
        }


class UsageError(LakeGuardError):
    exit_code = 2


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


class AlreadyPublished(UsageError):
    """The dataset shows that version already, and nothing else was written to its table."""

    code = "LG-1010"
    what = "{dataset} already shows v{version}; there is nothing to roll back"
    next_command = "lakeguard versions {dataset}"


class ReasonNeeded(UsageError):
    """Say why: the reason stays in the ledger beside the move."""

    code = "LG-1011"
    what = "a rollback needs a reason"
    next_command = 'lakeguard rollback {dataset} --to v{version} --reason "…"'


class SecretReason(UsageError):
    """What is written to the ledger stays there, and everybody reads it."""

    code = "LG-1012"
    what = "the reason holds what looks like a secret; nothing was written"
    next_command = "the same command again, with a reason that holds no secret"


class RegistryMoved(UsageError):
    """The registry changed after the plan was made: plan again and look at it."""

    code = "LG-2100"
    what = "the registry moved since this plan was made ({planned} then, {now} now)"
    next_command = "lakeguard plan --out FILE, then: lakeguard apply FILE"


class PlanChanged(UsageError):
    """The steps are not what a plan of their definitions would be: plan again."""

    code = "LG-2101"
    what = "this plan was changed after it was made"
    next_command = "lakeguard plan --out FILE, then: lakeguard apply FILE"


class Refused(LakeGuardError):
    exit_code = 3


class NotPermitted(Refused):
    """A run may read and report on itself; everything else needs an operator."""

    code = "LG-3001"
    what = "{holder} may not call {method}"
    next_command = "connect as an operator"


class RollbackBlocked(Refused):
    """A BLOCK policy of today forbids the state asked for: choose another version."""

    code = "LG-3002"
    what = "{dataset} cannot go back to v{version}: {reason}"
    next_command = "lakeguard versions {dataset}"


class NotApproved(Refused):
    """Only a recorded decision that allows it makes a move."""

    code = "LG-3003"
    what = "run {run} has no decision that allows it to publish: {reason}"
    next_command = "lakeguard why {run}"


class MoveError(LakeGuardError):
    next_command = "lakeguard run {dataset}"


class TableBusy(MoveError):
    """Another move on this table is under way; the next attempt may go through."""

    code = "LG-4001"
    retryable = True
    what = "{dataset} is busy: {holder} is moving it"


class BaseMoved(MoveError):
    """The table changed while the run worked; the next attempt starts from what is there now."""

    code = "LG-4002"
    retryable = True
    what = "{dataset} moved while the run worked: expected {expected}, found {found}"


class Fenced(MoveError):
    """The run lost its lease, or was ended: its work was not published."""

    code = "LG-4003"
    what = "run {run} was ended before it could finish: {reason}"
    next_command = "lakeguard tasks show {run}"


class CommitMismatch(MoveError):
    """The commit on the table is not the one that was approved."""

    code = "LG-4004"
    what = "commit {commit} of {dataset} is not what was approved: {difference}"
    next_command = "lakeguard rollback {dataset} --to VERSION --reason ..."


class TableUnreadable(MoveError):
    """The table's log or files are damaged or gone: bring them back from a copy."""

    code = "LG-4005"
    what = "the table of {dataset} cannot be used: {reason}"
    next_command = "lakeguard doctor, and bring {location} back from a copy"


class StagedFilesChanged(MoveError):
    """The staged files are not those that were measured; run again."""

    code = "LG-4006"
    what = "staged file {path} of {dataset} changed after it was measured: {difference}"


class ForeignTable(MoveError):
    """A table that LakeGuard did not create stands at the dataset's place."""

    code = "LG-4007"
    what = "{location} already holds a Delta table that is not {dataset}: {difference}"
    next_command = "move it away, then: lakeguard run {dataset}"


class EngineError(LakeGuardError):
    pass


class JavaMissing(EngineError):
    """Install Java 17 or newer."""

    code = "LG-5001"
    what = "Java 17 or newer was not found{hint}"
    next_command = "apt-get install openjdk-17-jre-headless (Debian), then: lakeguard doctor"


class JarsMissing(EngineError):
    """Fetch the jars for Spark once; later runs use the cache."""

    code = "LG-5002"
    what = "the jars for Spark are not usable: {reason}"
    next_command = "python -m openlaketx.engine.jars"


class SourceUnreadable(EngineError):
    """The source could not be read as its definition says."""

    code = "LG-5003"
    what = "source {source} could not be read: {reason}"
    next_command = "look at the file, or at the source's definition; then: lakeguard run {dataset}"


class BuildFailed(EngineError):
    """Spark could not compute the dataset."""

    code = "LG-5004"
    what = "{dataset} could not be built: {reason}"
    next_command = "correct the build, lakeguard apply, lakeguard run {dataset}"


class StagingFailed(EngineError):
    """What was written is not what was meant; nothing was published."""

    code = "LG-5005"
    what = "staging {dataset} failed: {reason}"
    next_command = "lakeguard run {dataset}"


class SecretMissing(EngineError):
    """Set the variable, or write the file, where the worker runs."""

    code = "LG-5008"
    what = "the secret {reference} could not be read: {reason}"
    next_command = "give the worker the secret; then run again"


class WorkerMissing(EngineError):
    """Install the data plane beside the control plane."""

    code = "LG-5006"
    what = "no worker is installed here"
    next_command = "pip install 'openlaketx[local]'"


class StateError(LakeGuardError):
    pass
