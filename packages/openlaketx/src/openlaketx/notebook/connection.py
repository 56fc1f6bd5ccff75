"""Reads, publishes and runs from a program, without changing its Spark session."""

from __future__ import annotations

import getpass
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakKeyDictionary

from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.client import Client
from lakeguard_sdk.client import connect as connect_client
from lakeguard_sdk.core.dataset_name import DatasetName, parse_address
from lakeguard_sdk.core.enums import Layer, LoadType
from lakeguard_sdk.errors import (
    BuiltByProgram,
    BuiltByRuns,
    DefinitionNeeded,
    FileDamaged,
    GateProcessEnded,
    InvalidDefinitions,
    LakeGuardError,
    NotPublishable,
    NotRegistered,
    TableUnreadable,
    UnknownFrame,
    WrongArgument,
)
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromFrame,
)
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.ports import Registry
from openlaketx.notebook.gate_process import GATE
from openlaketx.notebook.result import PublishResult
from openlaketx.run import collecting_notes, note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from openlaketx.extract.frame_lineage import Reads

_BACKOFF = Backoff(first=0.5)
_READS: dict[str, Reads] = {}
"""Versions that this process has read, by lake."""


def connect(url: str | Path, env: str | None = None) -> Connection:
    """Connect to the control plane at ``url``: a project folder, or the URL of a service."""
    client = connect_client(url, env=env)
    client.start()
    connection = Connection(client)
    weakref.finalize(connection, _close, client)  # also at interpreter exit
    threading.Thread(target=_prepare, args=(client,), name="gate", daemon=True).start()
    return connection


def _prepare(client: Client) -> None:
    """A failure is reported by the first run."""
    with suppress(Exception):
        GATE.prepare(client)


def _close(client: Client) -> None:
    """Errors are ignored at exit; the next client delivers what remains."""
    with suppress(Exception):
        client.close()


class Connection:
    """Every frame it reads is pinned to one version; every frame it publishes passes the gate."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._versions: WeakKeyDictionary[DataFrame, InputVersion] = WeakKeyDictionary()
        GATE.retain()
        self._gate = weakref.finalize(self, GATE.release)

    @cached_property
    def _reads(self) -> Reads:
        """All that this process has read of the lake: what is unknown in a frame may be made of it,
        whichever connection read it."""
        from openlaketx.extract.frame_lineage import Reads

        return _READS.setdefault(self._client.lake, Reads())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Deliver the records of the program's runs now instead of at exit."""
        self._gate()
        self._client.close()

    def read(self, spark: SparkSession, address: str) -> DataFrame:
        """The rows of ``silver.orders`` now, or of ``silver.orders@v7``; later publishes have no
        effect.

        Works without Delta on the session. ``version_of`` returns the version.
        """
        from openlaketx.engine.file_check import checking_files
        from openlaketx.notebook.pinned_frame import read_version

        check_session("tx.read", address, spark, name_first=False)
        _require_known(spark)
        resolved = self._client.reader.resolve(parse_address(address))
        with self._recording_damage(), checking_files(self._client.reader):
            frame, version = read_version(spark, resolved, self._reads)
        self._versions[frame] = version
        return frame

    def version_of(self, frame: DataFrame) -> InputVersion:
        """The dataset and version of a frame returned by ``read``."""
        version = self._versions.get(frame)
        if version is None:
            raise UnknownFrame()
        return version

    def publish(
        self,
        name: str,
        frame: DataFrame,
        *,
        reason: str = "",
        notes: Mapping[str, Any] | None = None,
    ) -> PublishResult:
        """Stage the frame, submit its evidence, and publish it if the decision allows it.

        An unknown dataset is registered with the columns of the frame, and the result says so.
        Reason and notes are stored with the version, and so is what its columns are made of:
        columns that the plan of the frame does not show, such as collected rows, carry the tags of
        everything that this process has read of the lake.
        """
        check_frame("tx.publish", name, frame)
        dataset = DatasetName(name)
        _require_known(frame)
        if frame.isStreaming:
            raise NotPublishable(dataset=dataset, reason="it is a streaming frame")
        registered = self._ensure(dataset, frame)
        with collecting_notes():
            note({**(notes or {}), **({"reason": reason} if reason else {})})
            result = self._run(dataset, frame.sparkSession, frame)
        return PublishResult(result, registered)

    def run(self, name: str, spark: SparkSession) -> PublishResult:
        """Build the dataset by its definition, on the given session's Spark."""
        check_session("tx.run", name, spark)
        dataset = DatasetName(name)
        _require_known(spark)
        if isinstance(self._client.reader.definition(dataset).build, FromFrame):
            raise BuiltByProgram(dataset=dataset)
        return PublishResult(self._run(dataset, spark))

    def register(self, spark: SparkSession) -> dict[str, int]:
        """Make ``spark.table("silver.orders")`` work for every published dataset, at its current
        version.

        Returns the version of each; call it again to see later publishes.
        """
        from openlaketx.engine.file_check import checking_files
        from openlaketx.notebook.views import show

        _require_known(spark)
        published = [item for item in self._client.reader.status() if item.published is not None]
        names = [item.dataset.dataset_name for item in published]
        found = [self._client.reader.resolve(parse_address(name)) for name in names]
        with self._recording_damage(), checking_files(self._client.reader):
            show(spark, found, self._reads)
        return {str(item.dataset): item.version for item in found}

    @contextmanager
    def _recording_damage(self) -> Iterator[None]:
        """Damage that stops a read is shown until it is undone."""
        try:
            yield
        except (FileDamaged, TableUnreadable) as error:
            with suppress(LakeGuardError):
                self._client.operations.record_damage(DatasetName(error.fields["dataset"]))
            raise

    def _ensure(self, dataset: DatasetName, frame: DataFrame) -> bool:
        """Whether the dataset was registered now; fails if its definition has a build."""

        try:
            build = self._client.reader.definition(dataset).build
        except NotRegistered:
            _register(self._client.registry, _definitions_of(dataset, frame), dataset)
            return True
        if not isinstance(build, FromFrame):
            origin = {"sql": "SQL", "python": "Python code"}.get(build.build, "a source")
            raise BuiltByRuns(dataset=dataset, origin=origin)
        return False

    def _run(
        self, dataset: DatasetName, spark: SparkSession, frame: DataFrame | None = None
    ) -> RunResult:
        """Run to the end, retrying retryable failures while attempts are left."""
        from openlaketx.extract import ProgramFrame

        given = None if frame is None else ProgramFrame(frame, self._reads)
        operations = self._client.operations
        operations.reap()
        task = operations.submit(dataset, _person())
        for pause in _BACKOFF.delays():
            try:
                result = GATE.run(self._client, task, dataset, spark, given)
            except GateProcessEnded:
                operations.reap()
                raise
            finally:
                self._client.wake()
            if result.error is None or not result.error.retryable or not operations.requeue(task):
                return result
            time.sleep(pause)
        raise AssertionError("delays never end")


def _register(registry: Registry, found: Definitions, dataset: DatasetName) -> None:
    """Definition errors refer to the frame instead of a file: all are in the message."""
    try:
        registry.apply(registry.plan(found))
    except InvalidDefinitions as invalid:
        reason = "; ".join(str(error) for error in invalid.errors)
        raise NotPublishable(dataset=dataset, reason=reason) from None


def _require_known(thing: Any) -> None:
    from openlaketx.engine.spark.runtime import runtime_of

    runtime_of(thing)


# Wrong arguments: the error shows the correct call.

FRAME, SESSION = "DataFrame", "SparkSession"
_EXAMPLE = "silver.orders"


def check_frame(method: str, name: object, frame: object) -> None:
    """A dataset name, then a Spark DataFrame."""
    call = f'{method}("{_shown(name, frame)}", {_as_frame(frame)})'
    _check(method, name, frame, FRAME, call)


def check_session(method: str, name: object, spark: object, *, name_first: bool = True) -> None:
    """A dataset name and a Spark session, in the order of the method."""
    shown = f'"{_shown(name, spark)}"'
    call = f"{method}({shown}, spark)" if name_first else f"{method}(spark, {shown})"
    _check(method, name, spark, SESSION, call)


def _check(method: str, name: object, thing: object, wanted: str, call: str) -> None:
    if isinstance(thing, str) and not isinstance(name, str):
        given = "its arguments in the wrong order"
    elif not isinstance(name, str):
        given = f"{_kind(name)} instead of a name"
    elif not _is_sparks(thing, wanted):
        given = f"{_kind(thing)} instead of a Spark {wanted}"
    else:
        return
    raise WrongArgument(method=method, given=given, call=call)


def _is_sparks(thing: object, wanted: str) -> bool:
    """By class name, because each kind of Spark has its own class and some cannot be imported."""
    return any(
        kind.__name__ == wanted and kind.__module__.startswith("pyspark.sql.")
        for kind in type(thing).__mro__
    )


def _shown(name: object, other: object) -> str:
    return next((each for each in (name, other) if isinstance(each, str)), _EXAMPLE)[:200]


def _as_frame(frame: object) -> str:
    module = type(frame).__module__
    if module.startswith("pyspark.pandas"):
        return "frame.to_spark()"
    own = module.partition(".")[0] in ("pandas", "pyarrow", "numpy")
    return "spark.createDataFrame(frame)" if own or isinstance(frame, list) else "frame"


def _kind(thing: object) -> str:
    if thing is None:
        return "None"
    home = type(thing).__module__.partition(".")[0]
    name = type(thing).__qualname__
    return f"a {name}" if home == "builtins" else f"a {name} of {home}"


# Definition of a dataset whose first version is published by a program.

DOMAIN = "unassigned"


def _definitions_of(dataset: DatasetName, frame: DataFrame) -> Definitions:
    """The columns of the frame, load type FULL; owned by the current user.

    Not for gold datasets, which declare their parents.
    """
    from openlaketx.engine.spark.types import UnsupportedType, live_schema
    from openlaketx.extract.batch import name_problem

    if dataset.layer is Layer.GOLD:
        raise DefinitionNeeded(dataset=dataset)
    try:
        live = live_schema(frame.schema)
    except UnsupportedType as error:
        raise NotPublishable(dataset=dataset, reason=str(error)) from None
    if problem := name_problem(live.names):
        raise NotPublishable(dataset=dataset, reason=problem)
    definition = DatasetDefinition(
        dataset=dataset,
        domain=DOMAIN,
        owner=_person(),
        build=FromFrame(),
        load=Load(type=LoadType.FULL),
        columns=tuple(ColumnDefinition(name=c.name, type=c.type) for c in live.columns),
    )
    return Definitions(datasets=(definition,))


def _person() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
