"""Errors of looking back: at versions, runs and decisions of the past."""

from __future__ import annotations

from lakeguard_sdk.errors import EngineError, StateError, UsageError


class VersionUnreadable(EngineError):
    """Ask for a version that is still whole: what maintenance removed is gone for good."""

    code = "LG-5020"
    what = "{dataset}@v{version} cannot be read any more: {reason}"
    next_command = "lakeguard versions {dataset}"


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


class NotRebuildable(EngineError):
    """What the run was made of is not there as it was: replay its recorded decision alone."""

    code = "LG-5021"
    what = "run {run} cannot be built again: {reason}"
    next_command = "lakeguard replay {run}"


class SemanticsUnknown(StateError):
    """Replay with a version of LakeGuard that is at least as new as the one that decided."""

    code = "LG-6005"
    what = "it was decided with semantics {semantics}, and this version knows 1 to {known}"
    next_command = "lakeguard doctor"
