"""Errors of samples: rows that are not what a run was asked to show of its failing rules."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused


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
