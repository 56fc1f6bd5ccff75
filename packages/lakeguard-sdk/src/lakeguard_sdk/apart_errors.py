"""Errors of State and data that are not apart."""

from __future__ import annotations

from lakeguard_sdk.errors import Refused


class NotApart(Refused):
    """A target's database is the State's own. What readers work with is kept away from what is
    decided: give the target a database of its own, with a role of its own."""

    code = "LG-3381"
    what = "target {target}: its database is the one that holds the State"
    next_command = "give the target another database, then: lakeguard plan"
