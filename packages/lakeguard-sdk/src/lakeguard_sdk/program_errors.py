"""Errors told to a program: a build that runs, or a notebook that publishes a frame."""

from __future__ import annotations

from lakeguard_sdk.errors import EngineError, Refused, UsageError


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


class PublishBlocked(Refused):
    """The gate said no; what was published before is still what readers see."""

    code = "LG-3101"
    what = "{dataset} was blocked: {reason}"
    next_command = "lakeguard why {run}"


class PublishFailed(EngineError):
    """The run ended before the gate could allow it; nothing became visible."""

    code = "LG-5101"
    what = "{reason}"
    next_command = "lakeguard runs {dataset}"
