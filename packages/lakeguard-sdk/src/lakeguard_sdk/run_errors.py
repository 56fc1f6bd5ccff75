"""Errors of a run that are no mistake of a build: what came, Spark itself, or a person's stop."""

from __future__ import annotations

from lakeguard_sdk.errors import EngineError


class LoadFailed(EngineError):
    """The rows that came cannot become part of the table in the way that its load says."""

    code = "LG-5010"
    what = "{dataset} could not be loaded: {reason}"
    next_command = "correct the rows, or the load in its definition; then: lakeguard run {dataset}"


class Interrupted(EngineError):
    """Somebody stopped the run; nothing became visible."""

    code = "LG-5011"
    what = "the run of {dataset} was interrupted"
    next_command = "lakeguard run {dataset}"


class SparkNotStarted(EngineError):
    """Spark did not start; its last words say why."""

    code = "LG-5012"
    what = "Spark could not be started: {reason}"
    next_command = "lakeguard doctor"
