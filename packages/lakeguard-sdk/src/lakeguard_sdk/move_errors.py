"""Errors of a move that a definition stands in the way of."""

from __future__ import annotations

from lakeguard_sdk.errors import MoveError


class DefinitionMoved(MoveError):
    """Columns that a run brings and a definition that takes none of them exclude each other:
    whichever comes first holds, and the other begins again."""

    code = "LG-4008"
    retryable = True
    what = "{dataset} as it is defined does not take {columns}, brought by {run}: {problem}"
