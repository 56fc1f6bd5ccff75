"""Profiles, samples, waivers, quarantine, partitions and invalidations."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import Refused, UsageError


class UnknownCheck(UsageError):
    """Name a rule of the dataset or a policy over it, as ``show`` and ``why`` list them."""

    code = "LG-1301"
    what = "{dataset} has no rule or policy {check}{hint}"
    next_command = "lakeguard show {dataset}"


class WaiverInvalid(UsageError):
    """A waiver says who answers for the check, why, and until when; nothing was written."""

    code = "LG-1302"
    what = "no waiver for {check} of {dataset}: {problem}"
    next_command = "lakeguard waive --help"


class UnknownWaiver(UsageError):
    """Name a waiver that is in force, as ``lakeguard waivers`` lists them."""

    code = "LG-1303"
    what = "there is no waiver {waiver} in force"
    next_command = "lakeguard waivers"


class NothingWaits(UsageError):
    """Name a run and a rule whose rows wait, or neither."""

    code = "LG-1501"
    what = "no rows of {dataset} wait{choice}"
    next_command = "lakeguard quarantine list {dataset} --all"


class WriteOffInvalid(UsageError):
    """Say why the rows are given up: it stays in the ledger beside them."""

    code = "LG-1502"
    what = "no rows of {dataset} are written off: {problem}"
    next_command = 'lakeguard quarantine discard {dataset} --reason "…"'


class NoSuchReach(UsageError):
    """Name partitions of the dataset as ``versions --partitions`` lists them, or a window of one
    of its columns; nothing was written."""

    code = "LG-1661"
    what = "{dataset} has no such part: {problem}"
    next_command = "lakeguard versions {dataset} --partitions"


class UnknownInvalidation(UsageError):
    """Name an invalidation as ``lakeguard invalidations list`` lists it."""

    code = "LG-1662"
    what = "there is no invalidation {invalidation}"
    next_command = "lakeguard invalidations list --all"


class InvalidationOver(UsageError):
    """All have caught up with it, or somebody withdrew it before."""

    code = "LG-1663"
    what = "invalidation {invalidation} is over: it was {end} at {ended_at}"
    next_command = "lakeguard invalidations show {invalidation}"


class WhyNeeded(UsageError):
    """Say why; it stays in the ledger."""

    code = "LG-1664"
    what = "withdrawing invalidation {invalidation} needs a reason"
    next_command = 'lakeguard invalidations withdraw {invalidation} --why "…"'


class NeverBuiltAgain(UsageError):
    """Name the window that is wrong, or make the load FULL: only then is it put right."""

    code = "LG-1665"
    what = "no run of {dataset} builds all of it again: its load, {load}, reads new rows only"
    next_command = (
        "lakeguard invalidations add {dataset} --from A --to B --by COLUMN --reason correction"
    )


class NotWaivable(Refused):
    """A BLOCK policy knows no exception: revise the policy, which is on record, or the data."""

    code = "LG-3007"
    what = "policy {check} is not waived: it blocks, and a BLOCK policy is absolute"
    next_command = "lakeguard plan"


class SampleRefused(Refused):
    """The decision stands without it: look at the staged files of the run themselves."""

    code = "LG-3008"
    what = "no sample of {rule} was kept for run {run}: {reason}"
    next_command = "lakeguard why {run}"


class SampleNotMasked(Refused):
    """A sample never tells values of a column that carries a tag, or that a PII policy is about;
    nor a text, where one may hold a pattern that a policy forbids."""

    code = "LG-3009"
    what = "no sample of {rule} was kept for run {run}: it would show values of {column}"
    next_command = "lakeguard why {run}"


class ProfileRefused(Refused):
    """Take it again: it is not of the version that it names, as that was published."""

    code = "LG-3015"
    what = "no profile of {dataset}@v{version} was kept: {reason}"
    next_command = "lakeguard profile {dataset}@v{version} --again"


class ProfileNotMasked(Refused):
    """A profile never tells values of a column that carries a tag, or may have it from what it is
    made of, or that a PII policy is about; nor a text, where one may hold a pattern that a policy
    forbids."""

    code = "LG-3016"
    what = "no profile of {dataset}@v{version} was kept: it would show values of {column}"
    next_command = "lakeguard profile {dataset}@v{version} --again"


class NotReplayable(Refused):
    """Nothing says whether the table has the rows already, or newer ones of their keys."""

    code = "LG-3201"
    what = "rows of {dataset} that wait are not sent again: {reason}"
    next_command = "lakeguard quarantine replay {dataset} --as-newest"


class ReadsAllAnew(NotReplayable):
    """Run the dataset: its load reads every row again, those that wait among them."""

    code = "LG-3202"
    next_command = "lakeguard run {dataset}"
