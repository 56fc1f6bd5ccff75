"""Moves that did not happen: publishing, rollback and the promotion states."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard_sdk.errors.tree import MoveError, Refused, UsageError


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


class FilesRemoved(Refused):
    """Files of the version are gone for good: go back to one that is still whole."""

    code = "LG-3006"
    what = "{dataset} cannot go back to v{version}: maintenance removed files of it; {left}"
    next_command = "lakeguard versions {dataset}"

    def __init__(self, *, dataset: str, version: int, whole: Sequence[int]) -> None:
        """``whole`` are the versions that can be shown again, the newest first."""
        self.whole = tuple(whole)
        names = [f"v{number}" for number in self.whole[:5]]
        more = f" and {len(whole) - 5} older" if len(whole) > 5 else ""
        left = f"still whole: {', '.join(names)}{more}" if names else "no other version is left"
        super().__init__(dataset=dataset, version=version, left=left)

    @property
    def next_step(self) -> str:
        if not self.whole:
            return f"lakeguard run {self.fields['dataset']}"
        return f'lakeguard rollback {self.fields["dataset"]} --to v{self.whole[0]} --reason "…"'


class PromotionRefused(Refused):
    """Only a decision that allowed it, and that nothing came of yet, promotes a dataset."""

    code = "LG-3010"
    what = "{dataset} cannot become {after} after {before} by the {step} of decision {decision}"
    next_command = "lakeguard why {run}"


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


class DefinitionMoved(MoveError):
    """Columns that a run brings, and a definition that takes none of them, exclude each other. The
    definition came first: the next attempt goes by it."""

    code = "LG-4008"
    retryable = True
    what = "{dataset} as it is defined does not take {columns}, brought by {run}: {problem}"


class ColumnsUnderWay(MoveError):
    """Columns that a run brings, and a definition that takes none of them, exclude each other. The
    run came first, and nothing was applied: its columns are part of what is defined soon."""

    code = "LG-4009"
    retryable = True
    what = "{run} is publishing {columns} of {dataset}, which would have no room: {problem}"
    next_command = "the same command again, when the run is over"
