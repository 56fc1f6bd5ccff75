"""Errors of a move that a definition stands in the way of."""

from __future__ import annotations

from lakeguard_sdk.errors import MoveError


class DefinitionMoved(MoveError):
    """Columns that a run brings, and a definition that takes none of them, exclude each other. The
    definition came first: the next attempt goes by it."""

    code = "LG-4008"
    retryable = True
    what = "{dataset} as it is defined does not take {columns}, brought by {run}: {problem}"


class ColumnsUnderWay(MoveError):
    """Columns that a run brings, and a definition that takes none of them, exclude each other. The
    run came first, and nothing was applied: its columns are part of what is defined soon."""

    code = "LG-4009"
    retryable = True
    what = "{run} is publishing {columns} of {dataset}, which would have no room: {problem}"
    next_command = "the same command again, when the run is over"
