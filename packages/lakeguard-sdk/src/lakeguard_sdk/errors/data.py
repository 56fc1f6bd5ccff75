"""Profiles, samples, waivers, quarantine, partitions and invalidations."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import Refused, UsageError


class UnknownCheck(UsageError):
    """Name a rule of the dataset or a policy over it, as ``show`` and ``why`` list them."""

    code = "LG-1301"
    what = "{dataset} has no rule or policy {check}{hint}"
    next_command = "lakeguard show {dataset}"


class WaiverInvalid(UsageError):
    """A waiver needs an approver, a reason and an end; nothing was written."""

    code = "LG-1302"
    what = "cannot waive {check} of {dataset}: {problem}"
    next_command = "lakeguard waive --help"


class UnknownWaiver(UsageError):
    """Name a waiver that is in force, as ``lakeguard waivers`` lists them."""

    code = "LG-1303"
    what = "no waiver {waiver} is in force"
    next_command = "lakeguard waivers"


class NothingQuarantined(UsageError):
    """Name a run and a rule with quarantined rows, or neither."""

    code = "LG-1501"
    what = "no quarantined rows of {dataset}{choice}"
    next_command = "lakeguard quarantine list {dataset} --all"


class DiscardInvalid(UsageError):
    """Give a reason for discarding the rows: the ledger records it."""

    code = "LG-1502"
    what = "cannot discard rows of {dataset}: {problem}"
    next_command = 'lakeguard quarantine discard {dataset} --reason "…"'


class UnknownRowRange(UsageError):
    """Name partitions of the dataset as ``versions --partitions`` lists them, or a window on one
    of its columns; nothing was written."""

    code = "LG-1661"
    what = "{dataset} has no such rows: {problem}"
    next_command = "lakeguard versions {dataset} --partitions"


class UnknownInvalidation(UsageError):
    """Name an invalidation as ``lakeguard invalidations list`` lists it."""

    code = "LG-1662"
    what = "invalidation {invalidation} does not exist"
    next_command = "lakeguard invalidations list --all"


class InvalidationOver(UsageError):
    """Every dependent has caught up, or it was already withdrawn."""

    code = "LG-1663"
    what = "invalidation {invalidation} is closed: {end} at {ended_at}"
    next_command = "lakeguard invalidations show {invalidation}"


class WithdrawalReasonNeeded(UsageError):
    """Give a reason: the ledger records it."""

    code = "LG-1664"
    what = "withdrawing invalidation {invalidation} needs a reason"
    next_command = 'lakeguard invalidations withdraw {invalidation} --why "…"'


class NotFullyRebuilt(UsageError):
    """Name the window to correct, or change the load to FULL."""

    code = "LG-1665"
    what = "no run rebuilds all of {dataset}: its load, {load}, reads only new rows"
    next_command = (
        "lakeguard invalidations add {dataset} --from A --to B --by COLUMN --reason correction"
    )


class NotWaivable(Refused):
    """A BLOCK policy has no exceptions: change the policy, which is recorded, or the data."""

    code = "LG-3007"
    what = "cannot waive policy {check}: BLOCK policies have no exceptions"
    next_command = "lakeguard plan"


class NotJudged(Refused):
    """A waiver accepts a known failure. A check that could not be judged has none: correct what
    kept it from being judged."""

    code = "LG-3011"
    what = "cannot waive {check} of {dataset}: run {run} could not judge it: {reason}"
    next_command = "lakeguard why {run}"


class SampleRefused(Refused):
    """The decision is unaffected: inspect the staged files of the run instead."""

    code = "LG-3008"
    what = "sample of {rule} for run {run} refused: {reason}"
    next_command = "lakeguard why {run}"


class SampleNotMasked(Refused):
    """A sample never shows values of tagged columns or of columns under a PII policy, nor text
    that may contain a pattern forbidden by a policy."""

    code = "LG-3009"
    what = "sample of {rule} for run {run} refused: it would show values of {column}"
    next_command = "lakeguard why {run}"


class ProfileRefused(Refused):
    """Profile again: this profile does not match the published version that it names."""

    code = "LG-3015"
    what = "profile of {dataset}@v{version} refused: {reason}"
    next_command = "lakeguard profile {dataset}@v{version} --again"


class ProfileNotMasked(Refused):
    """A profile never shows values of columns that carry or may inherit a tag, or of columns under
    a PII policy, nor text that may contain a pattern forbidden by a policy."""

    code = "LG-3016"
    what = "profile of {dataset}@v{version} refused: it would show values of {column}"
    next_command = "lakeguard profile {dataset}@v{version} --again"


class NotReplayable(Refused):
    """Nothing shows whether the table already has the rows, or newer rows with their keys."""

    code = "LG-3201"
    what = "cannot replay quarantined rows of {dataset}: {reason}"
    next_command = "lakeguard quarantine replay {dataset} --as-newest"


class ReadsWholeSource(NotReplayable):
    """Run the dataset: its load reads every row again, including the quarantined ones."""

    code = "LG-3202"
    next_command = "lakeguard run {dataset}"
