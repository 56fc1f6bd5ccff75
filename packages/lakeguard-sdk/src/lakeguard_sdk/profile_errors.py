"""Errors of profiles: figures that are not those of the version they are said to be of."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused


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
