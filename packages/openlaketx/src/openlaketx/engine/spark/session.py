"""The Spark session: started once, kept warm, used through child sessions.

A run never changes settings of the given session: it works in a child with ``RUN_SETTINGS``.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from lakeguard_sdk.errors import JarsMissing, SparkNotStarted
from lakeguard_sdk.storage.storage import spark_options as store_options
from openlaketx.engine.locations import LOCAL_SPARK, is_local_master, note_spark
from openlaketx.engine.machine import cores, memory_bytes
from openlaketx.engine.spark.jars import find_java, jar_folder, jars_for, s3_jars
from openlaketx.engine.spark.jvm import STORE_OPTION, Jvm, as_arguments, starts_apart
from openlaketx.engine.spark.run_settings import RUN_SETTINGS, settle
from openlaketx.engine.spark.runtime import is_local, require_new_enough, runtime_of

# Class data sharing: an archive of Spark's parsed classes halves the startup time.

_PATIENCE_SECONDS = 600.0
_INCOMPLETE = b"\0\0\0\0"


class ClassArchive:
    """The archive for one Java and one class path."""

    def __init__(self, folder: Path, *fingerprint: str) -> None:
        key = hashlib.sha256("\n".join(fingerprint).encode()).hexdigest()[:16]
        self._folder = folder
        self._ready = folder / f"{key}.jsa"
        self._part = folder / f"{key}.part"
        self._claim = folder / f"{key}.claim"

    def java_option(self) -> str:
        """Use the archive, or create it at exit, or neither if another session creates it."""
        try:
            self._adopt()
            if self._ready.exists():
                return f"-XX:SharedArchiveFile={self._ready}"
            return f"-XX:ArchiveClassesAtExit={self._part}" if self._claimed() else ""
        except OSError:
            return ""

    def reject(self) -> None:
        """Java rejected the archive: the next session creates a new one."""
        self._ready.unlink(missing_ok=True)

    def _adopt(self) -> None:
        """Java writes the header last, so an archive with a header is complete."""
        if self._part.exists():
            with self._part.open("rb") as file:
                begun = file.read(len(_INCOMPLETE))
            if begun and begun != _INCOMPLETE:
                self._part.replace(self._ready)
                self._claim.unlink(missing_ok=True)

    def _claimed(self) -> bool:
        """Whether this session creates the archive: one at a time, and again after a failure."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._claim.exists() and time.time() - self._claim.stat().st_mtime > _PATIENCE_SECONDS:
            self._claim.unlink(missing_ok=True)
            self._part.unlink(missing_ok=True)
        try:
            os.close(os.open(self._claim, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


def _archive_folder() -> Path:
    """In the cache folder of the jars."""
    return jar_folder().parents[1] / "classes"


_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.ui.retainedExecutions": "50",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.databricks.delta.snapshotPartitions": "2",
}
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}
_SHARED = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.executorIdleTimeout": "5s",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "15s",
}
"""On a cluster: code of users and the gate have a Spark each, and one must not wait for executors
that the other holds idle."""
_SERVER = "spark.remote"
_WORKER_PYTHON = "PYSPARK_PYTHON"
_ERROR = re.compile(r"Exception|OutOfMemoryError|^Error")
_jvm_output: list[IO[bytes]] = []
_starting = threading.Lock()


def spark_session(options: dict[str, str], *, delta: bool = False) -> SparkSession:
    """The process's session, started ``with_stores`` unless there is one.

    Runs need no Delta jar; with ``delta`` the session supports delta-spark too. Thread-safe.
    """
    options = with_stores(options)
    with _starting:
        require_new_enough()
        if _SERVER in options:
            return _remote_session(options)
        if engine_ended() is not None:
            _forget_engine()
        if SparkContext._active_spark_context is not None:
            return SparkSession.builder.getOrCreate()
        engine = _take_prepared(options, delta=delta) or _Engine.of(options, delta=delta)
        return _start(engine)


def prepare_session(options: dict[str, str]) -> None:
    """Start the JVM for ``spark_session`` with these options, and return at once. A process that
    does not use it ends it."""
    options = with_stores(options)
    with _starting:
        require_new_enough()
        started = _prepared or SparkContext._active_spark_context is not None
        if started or _SERVER in options or not starts_apart():
            return
        engine = _Engine.of(options, delta=False)
        engine.launch()
        _prepared.append(engine)


def with_stores(options: dict[str, str]) -> dict[str, str]:
    """Options with those of the object stores that this process reaches. A server of Spark Connect
    has access of its own: it is sent no keys."""
    return options if _SERVER in options else {**store_options(), **options}


def _take_prepared(options: dict[str, str], *, delta: bool) -> _Engine | None:
    engine = _prepared.pop() if _prepared else None
    if engine is None or (engine.options == options and not delta):
        return engine
    engine.end()
    return None


@dataclass
class _Engine:
    """A JVM with its configuration and output."""

    options: dict[str, str]
    conf: SparkConf
    archive: ClassArchive
    output: IO[bytes]
    jvm: Jvm | None = None

    @classmethod
    def of(cls, options: dict[str, str], *, delta: bool) -> _Engine:
        to_store = any(name.startswith(STORE_OPTION) for name in options)
        local = is_local_master(options.get("spark.master", LOCAL_SPARK))
        delta = delta or (to_store and not local)  # a cluster writes to a store as Delta does
        class_path = _class_path(required=delta, s3=to_store)
        archive = _class_archive(find_java(), class_path)
        conf = _configuration(options, class_path, archive.java_option(), delta=delta)
        if is_local_master(str(conf.get("spark.master"))):
            os.environ.setdefault(_WORKER_PYTHON, sys.executable)  # else the first Python in PATH
        output = tempfile.TemporaryFile(prefix="spark-")  # noqa: SIM115 - open while the JVM runs
        return cls(dict(options), conf, archive, output)

    def launch(self) -> Jvm:
        self.jvm = self.jvm or Jvm(self.conf, self.output)
        return self.jvm

    def gateway(self) -> Any:
        if starts_apart():
            return self.launch().connect()
        kwargs = {"stdout": self.output, "stderr": self.output}
        arguments = as_arguments(self.conf)
        return launch_gateway(arguments, popen_kwargs=kwargs)  # type: ignore[no-untyped-call]

    def end(self) -> None:
        if self.jvm is not None:
            self.jvm.end()


_prepared: list[_Engine] = []


def engine_ended() -> str | None:
    """Final JVM output after it exited, else None."""
    process = getattr(SparkContext._gateway, "proc", None)
    if process is None or process.poll() is None:
        return None
    reason = _error_line(_jvm_output[-1]) if _jvm_output else ""
    return reason or f"its process exited with code {process.returncode}"


def _forget_engine() -> None:
    """pyspark caches references to a JVM that exited; clear them."""
    SparkContext._active_spark_context = None
    SparkContext._gateway = SparkContext._jvm = None
    SparkSession._instantiatedSession = None


Sessions = Callable[[], SparkSession]
"""The session of a run, started by the first call."""


def run_session(spark: SparkSession) -> SparkSession:
    """A child of ``spark`` with the settings of a run and no views."""
    note_spark(is_here=is_local(spark))
    child = runtime_of(spark).child(spark)
    settle(child)
    return child


@contextmanager
def scoped_run_session(spark: SparkSession) -> Iterator[SparkSession]:
    """A ``run_session`` that is closed after the block."""
    child = run_session(spark)
    try:
        yield child
    finally:
        runtime_of(child).close(child)


def _remote_session(options: dict[str, str]) -> SparkSession:
    builder = SparkSession.builder.remote(options[_SERVER])
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _class_archive(java: Path, class_path: str) -> ClassArchive:
    home = str(Path(pyspark.__file__).parent)
    return ClassArchive(
        _archive_folder(), str(java.resolve()), home, pyspark.__version__, class_path
    )


def _configuration(
    options: dict[str, str], class_path: str, archive: str, *, delta: bool
) -> SparkConf:
    log4j = Path(__file__).with_name("log4j2.properties").as_uri()
    local = is_local_master(options.get("spark.master", LOCAL_SPARK))
    settings = {
        "spark.master": LOCAL_SPARK,
        "spark.app.name": "openlaketx",
        "spark.driver.extraClassPath": class_path,
        **({} if local else {**_SHARED, "spark.jars": class_path.replace(os.pathsep, ",")}),
        **_QUIET,
        **RUN_SETTINGS,
        **(_DELTA if delta else {}),
        **options,
    }
    given = settings.get("spark.driver.extraJavaOptions", "")
    ours = [f'"{option}"' for option in (f"-Dlog4j2.configurationFile={log4j}", archive) if option]
    settings["spark.driver.extraJavaOptions"] = " ".join([*ours, given]).strip()
    if local:
        settings.setdefault("spark.sql.shuffle.partitions", str(cores()))
        settings.setdefault("spark.driver.memory", f"{_heap_mb()}m")
        settings.setdefault("spark.driver.host", "127.0.0.1")
        settings.setdefault("spark.driver.bindAddress", "127.0.0.1")
    conf = SparkConf(loadDefaults=False)
    for key, value in settings.items():
        if value:
            conf.set(key, value)
    return conf


def _heap_mb() -> int:
    """A quarter of the memory: Spark's default of 1 GB fails on tables of 20 million rows."""
    return min(max(memory_bytes() // 4, 1 << 30), 16 << 30) >> 20


def _class_path(*, required: bool, s3: bool) -> str:
    jars: list[Path] = s3_jars() if s3 else []
    try:
        jars += jars_for(pyspark.__version__, delta=required)
    except JarsMissing:
        if required:
            raise
    return os.pathsep.join(str(jar) for jar in jars)


def _start(engine: _Engine) -> SparkSession:
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).disabled = True  # they write stack traces to stderr
    logging.getLogger("py4j").setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_not_of_py4j)
    _jvm_output.append(engine.output)
    try:
        gateway = engine.gateway()
        with _own_interrupt():
            session = SparkSession(SparkContext(conf=engine.conf, gateway=gateway))
    except PySparkException as error:
        raise SparkNotStarted(reason=_error_line(engine.output) or str(error)) from None
    if any("[cds" in line for line in _lines(engine.output)):
        engine.archive.reject()
    return session


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """py4j logs every interrupted call to the root logger."""
    return "py4j" not in Path(record.pathname).parts


@contextmanager
def _own_interrupt() -> Iterator[None]:
    """Keep the process's SIGINT handler: Spark's calls the JVM inside the handler."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _error_line(output: IO[bytes]) -> str:
    """The line in which a JVM reports why it did not start, or exited."""
    lines = _lines(output)
    errors = [line for line in lines if _ERROR.search(line)]
    return next(iter(errors or lines[-1:]), "")


def _lines(output: IO[bytes]) -> list[str]:
    """Read with a separate offset, because the JVM appends to the file."""
    content = os.pread(output.fileno(), os.fstat(output.fileno()).st_size, 0)
    return [line.strip() for line in content.decode(errors="replace").splitlines()]
