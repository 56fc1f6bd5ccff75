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


class SparkEnded(EngineError):
    """The JVM below the run is gone; most often its memory was too small for the rows."""

    code = "LG-5013"
    what = "Spark ended while {dataset} was running: {reason}"
    next_command = (
        "give it more memory in lakeguard.toml, [env.NAME.spark] spark.driver.memory;"
        " then: lakeguard run {dataset}"
    )


class DeliveryFailed(EngineError):
    """The version is published; its files or its live table are not yet. Every next run tries
    again."""

    code = "LG-5007"
    what = "v{version} of {dataset} was not delivered: {reason}"
    next_command = "lakeguard run {dataset}"
