"""The process that runs what a program publishes: opens the run, measures, submits, commits.

The program only describes and stages its rows. The process starts with the first connection of a
program, serves all of them, and ends with the last one. It never imports code of the program:
isolated mode ignores the working directory, ``PYTHONPATH`` and the user's packages.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import GateProcessEnded, PublishFailed
from lakeguard_sdk.model.run import RunResult
from openlaketx.isolation.messages import Link, RunOrder, raised
from openlaketx.isolation.warm_process import WarmProcess, spark_places

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from openlaketx.extract import ProgramFrame

MODULE = "openlaketx.notebook.gate_server"
FLAGS = ("-I",)
WITHHELD = (
    "BASH_ENV",
    "CLASSPATH",
    "ENV",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "_JAVA_OPTIONS",
)
WITHHELD_PREFIXES = ("DYLD_", "HADOOP_", "LD_", "PYSPARK_", "PYTHON", "SPARK_")
"""Variables that load code into a Python or Java process."""


class GateProcess:
    """The process of this program. Thread-safe."""

    def __init__(self) -> None:
        self._changing = threading.RLock()  # the garbage collector may close a connection meanwhile
        self._process: WarmProcess | None = None
        self._holders = 0

    def retain(self) -> None:
        with self._changing:
            self._holders += 1

    def release(self) -> None:
        """The process ends with its last holder."""
        with self._changing:
            self._holders -= 1
            ended = self._process if not self._holders else None
        if ended is not None:
            ended.end()

    def prepare(self, client: Client) -> None:
        """Start and connect in the background, so that the first publish need not wait."""
        with self._connected(client, "") as (link, _):
            link.receive()

    def run(
        self,
        client: Client,
        task_id: str,
        dataset: DatasetName,
        spark: SparkSession,
        frame: ProgramFrame | None,
    ) -> RunResult:
        """Run the task; this process describes and stages its batch on ``spark``."""
        from openlaketx.isolation.build_server import BuildServer
        from openlaketx.pipeline.stop_signal import StopSignal, detect_interrupts

        with (
            self._connected(client, task_id) as (link, process),
            detect_interrupts(StopSignal()) as interrupted,
        ):
            ended = BuildServer(link, lambda: spark, frame, interrupted).serve()
            if ended is None and interrupted():
                raise KeyboardInterrupt
            if ended is None:
                raise GateProcessEnded(dataset=dataset, reason=process.ending())
        if ended.error is not None:
            error = raised(ended.error)
            raise error or PublishFailed(dataset=dataset, reason=ended.error.message)
        if ended.result is None:
            raise KeyboardInterrupt
        return ended.result

    @contextmanager
    def _connected(self, client: Client, task_id: str) -> Iterator[tuple[Link, WarmProcess]]:
        with self._changing:
            if self._process is None:
                self._process = WarmProcess(MODULE, FLAGS, spark_places())
            process = self._process
        link = process.connect(gate_environment(os.environ))
        try:
            link.send(RunOrder(url=client.url, env=client.env, task_id=task_id))
            yield link, process
        finally:
            link.close()


GATE = GateProcess()


def gate_environment(surroundings: Mapping[str, str]) -> dict[str, str]:
    """All variables but those that load code: settings and secrets are the environment's."""
    return {
        name: value
        for name, value in surroundings.items()
        if name not in WITHHELD and not name.startswith(WITHHELD_PREFIXES)
    }
