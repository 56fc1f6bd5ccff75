"""Errors of waivers: what cannot be answered for, and what an answer must say."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused, UsageError


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


class NotWaivable(Refused):
    """A BLOCK policy knows no exception: revise the policy, which is on record, or the data."""

    code = "LG-3007"
    what = "policy {check} is not waived: it blocks, and a BLOCK policy is absolute"
    next_command = "lakeguard plan"
