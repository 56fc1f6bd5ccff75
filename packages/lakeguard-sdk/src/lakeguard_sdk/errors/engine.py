"""Data plane errors: sources, builds, Spark, and programs that call it."""

from __future__ import annotations

from lakeguard_sdk.errors.tree import EngineError, Refused, UsageError


class NoteRefused(UsageError):
    """Use small, plain notes: JSON values, at most 64 KiB in total, no secrets."""

    code = "LG-1101"
    what = "note refused: {reason}"
    next_command = "correct the argument of run.note"


class NotInRun(UsageError):
    """A note belongs to the version that a run produces."""

    code = "LG-1102"
    what = "run.note was called outside a run"
    next_command = "call run.note inside the function that builds a dataset"


class BuiltByRuns(UsageError):
    """Only a dataset with ``build: frame`` accepts a frame from a program."""

    code = "LG-1103"
    what = "{dataset} is built from {origin}, not from a published frame"
    next_command = "lakeguard run {dataset}, or set build: frame in its definition and apply it"


class NotPublishable(UsageError):
    """A frame must be a batch frame with columns that a dataset can declare."""

    code = "LG-1104"
    what = "{dataset} was not published: {reason}"
    next_command = "correct the frame, then call publish again"


class UnknownFrame(UsageError):
    """Pass the frame that ``read`` returned: frames derived from it have no version."""

    code = "LG-1105"
    what = "this frame was not returned by read, so it has no version"
    next_command = 'tx.read(spark, "silver.orders")'


class NameTaken(UsageError):
    """Another table or view in the session's catalogue has the dataset's name; it is unchanged."""

    code = "LG-1106"
    what = "{name} is already another table or view in this session"
    next_command = 'tx.read(spark, "{name}")'


class SharedCatalogue(UsageError):
    """A pinned view in a metastore or on a shared server would outlive the session."""

    code = "LG-1107"
    what = "the catalogue of this session is shared with others"
    next_command = 'tx.read(spark, "silver.orders").createOrReplaceTempView("orders")'


class PathsForbidden(UsageError):
    """Views of pinned versions query files by path, which this session forbids."""

    code = "LG-1108"
    what = "{setting} is off in this session, so views of versions cannot be read"
    next_command = 'tx.read(spark, "silver.orders").createOrReplaceTempView("orders")'


class UnsupportedSpark(UsageError):
    """The argument is not a session or frame, or comes from Spark Connect before 4.0."""

    code = "LG-1109"
    what = "got a {kind}: this needs Spark in this process, or Spark Connect 4.0 or newer"
    next_command = "SparkSession.builder.master(...).getOrCreate(), without remote(...)"


class SparkTooOld(UsageError):
    """An older Spark would read or write some values incorrectly."""

    code = "LG-1110"
    what = "this is Spark {version}; {thing} needs {oldest} or newer"
    next_command = "pip install 'openlaketx[local]', or install Spark {oldest} or newer"


class WrongArgument(UsageError):
    """Call it as shown."""

    code = "LG-1111"
    what = "{method} was given {given}"
    next_command = "{call}"


class DefinitionNeeded(UsageError):
    """A frame has columns, but not the parents that a gold dataset must name."""

    code = "LG-1112"
    what = (
        "{dataset} is not registered, and a frame alone cannot register a gold dataset: its"
        " definition must name silver parents"
    )
    next_command = (
        "write its definition with parents: [silver.…] and build: frame; then: lakeguard apply"
    )


class PublishBlocked(Refused):
    """The gate blocked the run; readers still see the previously published version."""

    code = "LG-3101"
    what = "{dataset} was blocked: {reason}"
    next_command = "lakeguard why {run}"


class JavaMissing(EngineError):
    """Install Java 17 or newer."""

    code = "LG-5001"
    what = "Java 17 or newer was not found{hint}"
    next_command = "apt-get install openjdk-17-jre-headless (Debian), then: lakeguard doctor"


class JarsMissing(EngineError):
    """Download the Spark jars once; later runs use the cache."""

    code = "LG-5002"
    what = "the Spark jars are not usable: {reason}"
    next_command = "python -m openlaketx.engine.spark.jars {jars}"


class SourceUnreadable(EngineError):
    """The source could not be read as defined."""

    code = "LG-5003"
    what = "source {source} could not be read: {reason}"
    next_command = "check the file and the source's definition; then: lakeguard run {dataset}"


class BuildFailed(EngineError):
    """Spark could not compute the dataset."""

    code = "LG-5004"
    what = "{dataset} could not be built: {reason}"
    next_command = "correct the build, lakeguard apply, lakeguard run {dataset}"


class StagingFailed(EngineError):
    """The staged files are not the expected ones; nothing was published."""

    code = "LG-5005"
    what = "staging {dataset} failed: {reason}"
    next_command = "lakeguard run {dataset}"


class WorkerMissing(EngineError):
    """Install the data plane beside the control plane."""

    code = "LG-5006"
    what = "no worker is installed"
    next_command = "pip install 'openlaketx[local]'"


class DeliveryFailed(EngineError):
    """The version is published, but not yet delivered to its files or live table. Every later run
    retries."""

    code = "LG-5007"
    what = "v{version} of {dataset} was not delivered: {reason}"
    next_command = "lakeguard run {dataset}"


class SecretMissing(EngineError):
    """Set the variable or create the file where the worker runs."""

    code = "LG-5008"
    what = "the secret {reference} could not be read: {reason}"
    next_command = "provide the secret to the worker, then run again"


class SourceUnavailable(SourceUnreadable):
    """The server was unreachable or closed the connection; the partial response was discarded."""

    code = "LG-5009"
    retryable = True
    next_command = "lakeguard run {dataset}"


class LoadFailed(EngineError):
    """The batch cannot be loaded into the table with its load type."""

    code = "LG-5010"
    what = "{dataset} could not be loaded: {reason}"
    next_command = "correct the rows, or the load in its definition; then: lakeguard run {dataset}"


class Interrupted(EngineError):
    """The run was stopped; nothing became visible."""

    code = "LG-5011"
    what = "the run of {dataset} was interrupted"
    next_command = "lakeguard run {dataset}"


class SparkNotStarted(EngineError):
    """Spark did not start; its last output says why."""

    code = "LG-5012"
    what = "Spark could not be started: {reason}"
    next_command = "lakeguard doctor"


class SparkExited(EngineError):
    """The JVM of the run exited, most often because it ran out of memory."""

    code = "LG-5013"
    what = "Spark exited while {dataset} was running: {reason}"
    next_command = (
        "increase spark.driver.memory in lakeguard.toml, [env.NAME.spark];"
        " then: lakeguard run {dataset}"
    )


class DiskFull(EngineError):
    """No space is left where the lake or Spark's temporary files are; nothing became visible."""

    code = "LG-5014"
    retryable = True
    what = (
        "{dataset} could not be written: no space is left for the lake or Spark's temporary files"
    )
    next_command = "free space, then: lakeguard run {dataset}"


class BuildProcessEnded(EngineError):
    """The process that runs the code of a build ended, or sent no valid answer. Nothing was
    published."""

    code = "LG-5015"
    retryable = True
    what = "the process that builds {dataset} {reason}"
    next_command = "check the code of the build and the memory; then: lakeguard run {dataset}"


class GateProcessEnded(EngineError):
    """The process that measures and publishes for a program ended. The next call starts another
    one, and ends the run if it is still open."""

    code = "LG-5016"
    what = "the process that publishes {dataset} {reason}"
    next_command = "lakeguard runs {dataset}, then publish again"


class NewRowsUnknown(EngineError):
    """The load adds the new rows of its first parent, and the parent has replaced rows since."""

    code = "LG-5017"
    what = "{dataset} could not be built: {reason}, so it is unknown which rows are new: {way}"
    next_command = "change the load of {dataset}, lakeguard apply, lakeguard run {dataset}"


class StoreUnavailable(EngineError):
    """The object store did not respond in time, or asked to come back later. Nothing is lost: what
    was written is read back by the next attempt."""

    code = "LG-5018"
    retryable = True
    what = "the object store is unavailable: {location}: {reason}"
    next_command = "lakeguard doctor, then repeat the command"


class CredentialsExpired(StoreUnavailable):
    """The object store refused temporary credentials that have expired; the next attempt uses those
    of its time."""

    code = "LG-5019"
    what = "the credentials for the object store have expired: {location}: {reason}"
    next_command = "renew the credentials, check them with: lakeguard doctor"


class StoreAccessRefused(StoreUnavailable):
    """The object store refused the credentials, or they do not allow this: retrying does not
    help."""

    code = "LG-5023"
    retryable = False
    what = "the object store refused access: {location}: {reason}"
    next_command = "check the credentials with: lakeguard doctor, then repeat the command"


class VersionUnreadable(EngineError):
    """Choose a version whose files all exist: files removed by maintenance cannot be restored."""

    code = "LG-5020"
    what = "{dataset}@v{version} can no longer be read: {reason}"
    next_command = "lakeguard versions {dataset}"


class NotRebuildable(EngineError):
    """The inputs of the run have changed or are gone: replay only its recorded decision."""

    code = "LG-5021"
    what = "run {run} cannot be rebuilt: {reason}"
    next_command = "lakeguard replay {run}"


class FileDamaged(EngineError):
    """The file differs from the record of its version: roll the dataset back to a whole version,
    bring the file back from a backup, or build the table again by a run with load type FULL."""

    code = "LG-5022"
    what = "{dataset} was not read: its file {path} is damaged: {problem}"
    next_command = (
        'lakeguard verify, then: lakeguard rollback {dataset} --to VERSION --reason "…", or without'
        " a whole version, with load type FULL: lakeguard run {dataset}"
    )


class PublishFailed(EngineError):
    """The run ended before the gate could allow it; nothing became visible."""

    code = "LG-5101"
    what = "{reason}"
    next_command = "lakeguard runs {dataset}"
