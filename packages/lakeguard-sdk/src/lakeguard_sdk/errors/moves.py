"""Errors of publishing, rollback and promotion."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.errors.tree import MoveError, Refused, UsageError


class AlreadyPublished(UsageError):
    """The dataset already shows that version, and its table has no later commit."""

    code = "LG-1010"
    what = "{dataset} already shows v{version}; there is nothing to roll back"
    next_command = "lakeguard versions {dataset}"


class NothingToUndo(UsageError):
    """The table is as it was published; nothing was found wrong with it."""

    code = "LG-1013"
    what = "{dataset} shows v{version} as it was published; there is nothing to undo"
    next_command = "lakeguard verify"


class ReasonNeeded(UsageError):
    """Give a reason: the ledger records it with the move."""

    code = "LG-1011"
    what = "a rollback needs a reason"
    next_command = 'lakeguard rollback {dataset} --to v{version} --reason "…"'


class SecretInReason(UsageError):
    """The ledger is permanent, and everybody can read it."""

    code = "LG-1012"
    what = "the reason contains what looks like a secret; nothing was written"
    next_command = "repeat the command with a reason that contains no secret"


class RollbackBlocked(Refused):
    """A current BLOCK policy forbids that version: choose another one."""

    code = "LG-3002"
    what = "cannot roll {dataset} back to v{version}: {reason}"
    next_command = "lakeguard versions {dataset}"


class NotApproved(Refused):
    """A move needs a recorded decision that allows it."""

    code = "LG-3003"
    what = "no decision allows run {run} to publish: {reason}"
    next_command = "lakeguard why {run}"


class FilesRemoved(Refused):
    """Files of the version were removed: choose a version whose files all exist."""

    code = "LG-3006"
    what = "cannot roll {dataset} back to v{version}: maintenance removed its files; {left}"
    next_command = "lakeguard versions {dataset}"

    def __init__(self, *, dataset: str, version: int, whole: Sequence[int]) -> None:
        """``whole`` are the versions that can be restored, newest first."""
        self.whole = tuple(whole)
        names = [f"v{number}" for number in self.whole[:5]]
        more = f" and {len(whole) - 5} older" if len(whole) > 5 else ""
        left = f"still available: {', '.join(names)}{more}" if names else "no other version is left"
        super().__init__(dataset=dataset, version=version, left=left)

    def _own_next_step(self) -> str:
        if not self.whole:
            return f"lakeguard run {self.fields['dataset']}"
        return f'lakeguard rollback {self.fields["dataset"]} --to v{self.whole[0]} --reason "…"'


class VersionDamaged(Refused):
    """Files of the version are missing or are not those that were published: choose another
    version, or bring them back from a backup."""

    code = "LG-3017"
    what = "cannot roll {dataset} back to v{version}: {reason}"
    next_command = "lakeguard versions {dataset}"


class PromotionRefused(Refused):
    """Only an unused decision that allowed it promotes a dataset."""

    code = "LG-3010"
    what = "{dataset} cannot change from {before} to {after} by the {step} of decision {decision}"
    next_command = "lakeguard why {run}"


class TableBusy(MoveError):
    """Another move of this table is in progress; the next attempt may succeed."""

    code = "LG-4001"
    retryable = True
    what = "{dataset} is busy: {holder} is moving it"


class BaseChanged(MoveError):
    """The table changed during the run; the next attempt starts from its current version."""

    code = "LG-4002"
    retryable = True
    what = "{dataset} changed during the run: expected {expected}, found {found}"


class Fenced(MoveError):
    """The run lost its lease or was ended; its result was not published."""

    code = "LG-4003"
    what = "run {run} was ended before it could finish: {reason}"
    next_command = "lakeguard tasks show {run}"


class CommitMismatch(MoveError):
    """The commit on the table is not the approved one."""

    code = "LG-4004"
    what = "commit {commit} of {dataset} is not the approved one: {difference}"
    next_command = 'lakeguard rollback {dataset} --to VERSION --reason "…"'


class TableUnreadable(MoveError):
    """The table's log or files are damaged or missing: undo what happened to the log, or restore
    the table from a backup."""

    code = "LG-4005"
    what = "the table of {dataset} cannot be used: {reason}"
    next_command = 'lakeguard undo {dataset} --reason "…", or restore the table from a backup'

    def _own_next_step(self) -> str:
        return self.next_command.format(dataset=self.named or "DATASET")

    @property
    def named(self) -> str:
        """The name of the dataset, if it is known."""
        name = str(self.fields["dataset"])
        return "" if name == self.fields.get("location") else name


class StagedFilesChanged(MoveError):
    """The staged files are not the measured ones; run again."""

    code = "LG-4006"
    what = "staged file {path} of {dataset} changed after it was measured: {difference}"


class ForeignTable(MoveError):
    """A table that LakeGuard did not create is at the dataset's location."""

    code = "LG-4007"
    what = "{location} already holds a Delta table that is not {dataset}: {difference}"
    next_command = "move it away, then: lakeguard run {dataset}"


class DefinitionChanged(MoveError):
    """The run adds columns that the current definition does not accept. The definition was applied
    first: the next attempt uses it."""

    code = "LG-4008"
    retryable = True
    what = "the definition of {dataset} does not accept {columns}, added by {run}: {problem}"


class ColumnsInFlight(MoveError):
    """A run is adding columns that the new definition does not accept. The run came first, and
    nothing was applied: its columns will soon be part of the definition."""

    code = "LG-4009"
    retryable = True
    what = "{run} is publishing {columns} of {dataset}, which the definition excludes: {problem}"
    next_command = "repeat the command after the run has ended"
