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
)
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromFrame,
)
from lakeguard_sdk.model.evidence import InputVersion, checked_notes
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunResult
from lakeguard_sdk.ports import Registry
from openlaketx.notebook.arguments import check_frame, check_session
from openlaketx.notebook.gate_process import GATE
from openlaketx.notebook.result import PublishResult
from openlaketx.run import collecting_notes, note

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from openlaketx.extract import ProgramFrame
    from openlaketx.extract.frame_lineage import Reads
    from openlaketx.notebook.stream import GovernedQuery

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
            raise NotPublishable(dataset=dataset, reason="it is a streaming frame: use tx.stream")
        registered = self._ensure(dataset, frame)
        with collecting_notes():
            note({**(notes or {}), **({"reason": reason} if reason else {})})
            result = self._run(dataset, frame.sparkSession, frame)
        return PublishResult(result, registered)

    def stream(
        self,
        name: str,
        frame: DataFrame,
        *,
        checkpoint: str | Path,
        trigger: Mapping[str, Any] | None = None,
        output_mode: str = "append",
        notes: Mapping[str, Any] | None = None,
    ) -> GovernedQuery:
        """Start a query that publishes each micro-batch of the streaming frame, exactly once.

        A micro-batch that is blocked or fails ends the query, and nothing of it is visible; a query
        that is started again with the same checkpoint repeats it. An unknown dataset is registered
        with load APPEND. ``trigger`` has the arguments of Spark's ``trigger``.
        """
        from openlaketx.extract.frame_lineage import frame_lineage
        from openlaketx.notebook.stream import BatchPublisher, check_stream, start_query

        check_frame("tx.stream", name, frame)
        dataset = DatasetName(name)
        _require_known(frame)
        held = self._held(dataset)
        load = LoadType.APPEND if held is None else held.load.type
        check_stream(dataset, frame, load, output_mode, str(checkpoint))
        self._ensure(dataset, frame, load)
        publisher = BatchPublisher(
            client=self._client,
            dataset=dataset,
            actor=_person(),
            run_task=lambda task, spark, given: self._run_task(task, dataset, spark, given),
            reads=self._reads,
            lineage=frame_lineage(frame, self._reads),
            notes=checked_notes(notes or {}),
        )
        return start_query(
            frame,
            publisher,
            checkpoint=str(checkpoint),
            trigger=trigger or {},
            output_mode=output_mode,
        )

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

    def _held(self, dataset: DatasetName) -> DatasetDefinition | None:
        """The definition, if there is one; fails if it has a build."""
        try:
            held = self._client.reader.definition(dataset)
        except NotRegistered:
            return None
        if not isinstance(held.build, FromFrame):
            origin = {"sql": "SQL", "python": "Python code"}.get(held.build.build, "a source")
            raise BuiltByRuns(dataset=dataset, origin=origin)
        return held

    def _ensure(
        self, dataset: DatasetName, frame: DataFrame, load: LoadType = LoadType.FULL
    ) -> bool:
        """Whether the dataset was registered now, with ``load``; fails if its definition has a
        build."""
        if self._held(dataset) is not None:
            return False
        _register(self._client.registry, _definitions_of(dataset, frame, load), dataset)
        return True

    def _run(
        self, dataset: DatasetName, spark: SparkSession, frame: DataFrame | None = None
    ) -> RunResult:
        from openlaketx.extract import ProgramFrame

        given = None if frame is None else ProgramFrame(frame, self._reads)
        operations = self._client.operations
        operations.reap()
        return self._run_task(operations.submit(dataset, _person()), dataset, spark, given)

    def _run_task(
        self, task: str, dataset: DatasetName, spark: SparkSession, given: ProgramFrame | None
    ) -> RunResult:
        """Run to the end, retrying retryable failures while attempts are left."""
        operations = self._client.operations
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


# Definition of a dataset whose first version is published by a program.

DOMAIN = "unassigned"


def _definitions_of(dataset: DatasetName, frame: DataFrame, load: LoadType) -> Definitions:
    """The columns of the frame, owned by the current user.

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
        load=Load(type=load),
        columns=tuple(ColumnDefinition(name=c.name, type=c.type) for c in live.columns),
    )
    return Definitions(datasets=(definition,))


def _person() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "unknown"
