"""Failures of the data plane: sources, builds, Spark, and programs that call it."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import EngineError, Refused, UsageError


class NoteRefused(UsageError):
    """Keep notes small and plain: JSON values, at most 64 KiB together, and no secret."""

    code = "LG-1101"
    what = "the note was not kept: {reason}"
    next_command = "correct what is given to run.note"


class NotInRun(UsageError):
    """A note belongs to the version that a run brings forth."""

    code = "LG-1102"
    what = "run.note was called outside of a run"
    next_command = "call run.note inside the function that builds a dataset"


class BuiltByRuns(UsageError):
    """Only a dataset that says ``build: frame`` takes the frame of a program."""

    code = "LG-1103"
    what = "{dataset} is built from {origin}, and not by a program that publishes a frame"
    next_command = "lakeguard run {dataset}, or set build: frame in its definition and apply it"


class NotPublishable(UsageError):
    """A frame has rows already, and columns that a dataset can declare."""

    code = "LG-1104"
    what = "{dataset} was not published: {reason}"
    next_command = "correct the frame, then call publish again"


class UnknownFrame(UsageError):
    """Ask about the frame that ``read`` gave: what is derived from it has no version."""

    code = "LG-1105"
    what = "this frame was not given by read, so that it has no version"
    next_command = 'tx.read(spark, "silver.orders")'


class NameTaken(UsageError):
    """Something else has the dataset's name in the session's catalogue; it is left alone."""

    code = "LG-1106"
    what = "{name} is another table or view of this session"
    next_command = 'tx.read(spark, "{name}")'


class SharedCatalogue(UsageError):
    """A pinned view in a metastore, or on a server of many, would outlive the session there."""

    code = "LG-1107"
    what = "the catalogue of this session is one that others share"
    next_command = 'tx.read(spark, "silver.orders").createOrReplaceTempView("orders")'


class PathsForbidden(UsageError):
    """Views of pinned versions name files, which this session does not allow in queries."""

    code = "LG-1108"
    what = "{setting} is off in this session, so that no view of a version can be read"
    next_command = 'tx.read(spark, "silver.orders").createOrReplaceTempView("orders")'


class SparkElsewhere(UsageError):
    """What was given is no session or frame, or one of Spark Connect before 4.0."""

    code = "LG-1109"
    what = "a {kind} was given: this needs a Spark in this process, or Spark Connect 4.0 or newer"
    next_command = "SparkSession.builder.master(...).getOrCreate(), without remote(...)"


class SparkTooOld(UsageError):
    """An older Spark would read or write some values otherwise than they are."""

    code = "LG-1110"
    what = "this is Spark {version}, and {thing} needs {oldest} or newer"
    next_command = "pip install 'openlaketx[local]', or install Spark {oldest} or newer"


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


class PublishBlocked(Refused):
    """The gate said no; what was published before is still what readers see."""

    code = "LG-3101"
    what = "{dataset} was blocked: {reason}"
    next_command = "lakeguard why {run}"


class JavaMissing(EngineError):
    """Install Java 17 or newer."""

    code = "LG-5001"
    what = "Java 17 or newer was not found{hint}"
    next_command = "apt-get install openjdk-17-jre-headless (Debian), then: lakeguard doctor"


class JarsMissing(EngineError):
    """Fetch the jars for Spark once; later runs use the cache."""

    code = "LG-5002"
    what = "the jars for Spark are not usable: {reason}"
    next_command = "python -m openlaketx.engine.spark.jars"


class SourceUnreadable(EngineError):
    """The source could not be read as its definition says."""

    code = "LG-5003"
    what = "source {source} could not be read: {reason}"
    next_command = "look at the file, or at the source's definition; then: lakeguard run {dataset}"


class BuildFailed(EngineError):
    """Spark could not compute the dataset."""

    code = "LG-5004"
    what = "{dataset} could not be built: {reason}"
    next_command = "correct the build, lakeguard apply, lakeguard run {dataset}"


class StagingFailed(EngineError):
    """What was written is not what was meant; nothing was published."""

    code = "LG-5005"
    what = "staging {dataset} failed: {reason}"
    next_command = "lakeguard run {dataset}"


class WorkerMissing(EngineError):
    """Install the data plane beside the control plane."""

    code = "LG-5006"
    what = "no worker is installed here"
    next_command = "pip install 'openlaketx[local]'"


class DeliveryFailed(EngineError):
    """The version is published; its files or its live table are not yet. Every next run tries
    again."""

    code = "LG-5007"
    what = "v{version} of {dataset} was not delivered: {reason}"
    next_command = "lakeguard run {dataset}"


class SecretMissing(EngineError):
    """Set the variable, or write the file, where the worker runs."""

    code = "LG-5008"
    what = "the secret {reference} could not be read: {reason}"
    next_command = "give the worker the secret; then run again"


class SourceUnavailable(SourceUnreadable):
    """The server was not there, or broke off; nothing of its answer was kept."""

    code = "LG-5009"
    retryable = True
    next_command = "lakeguard run {dataset}"


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


class VersionUnreadable(EngineError):
    """Ask for a version that is still whole: what maintenance removed is gone for good."""

    code = "LG-5020"
    what = "{dataset}@v{version} cannot be read any more: {reason}"
    next_command = "lakeguard versions {dataset}"


class NotRebuildable(EngineError):
    """What the run was made of is not there as it was: replay its recorded decision alone."""

    code = "LG-5021"
    what = "run {run} cannot be built again: {reason}"
    next_command = "lakeguard replay {run}"


class PublishFailed(EngineError):
    """The run ended before the gate could allow it; nothing became visible."""

    code = "LG-5101"
    what = "{reason}"
    next_command = "lakeguard runs {dataset}"
