"""Errors of a program that calls the lake in a way that cannot be meant."""

from __future__ import annotations

from lakeguard_sdk.errors import UsageError


class WrongArgument(UsageError):
    """Call it as the next line shows."""

    code = "LG-1111"
    what = "{method} was given {given}"
    next_command = "{call}"


class DescribeFirst(UsageError):
    """A frame tells columns, and nothing of the parents that a gold dataset names."""

    code = "LG-1112"
    what = (
        "{dataset} is not registered, and a frame alone does not register gold: gold is built from"
        " silver, and its definition says from which"
    )
    next_command = (
        "write its definition with parents: [silver.…] and build: frame; then: lakeguard apply"
    )
