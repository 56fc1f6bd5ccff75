"""Errors of rows that wait: there are none, they cannot be sent again, or nobody says why."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused, UsageError


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


class NotReplayable(Refused):
    """Nothing says whether the table has the rows already, or newer ones of their keys."""

    code = "LG-3201"
    what = "rows of {dataset} that wait are not sent again: {reason}"
    next_command = "lakeguard quarantine replay {dataset} --as-newest"


class ReadsAllAnew(NotReplayable):
    """Run the dataset: its load reads every row again, those that wait among them."""

    code = "LG-3202"
    next_command = "lakeguard run {dataset}"
