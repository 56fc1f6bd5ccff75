"""The process of Spark's JVM: started at once, connected when it is needed.

PySpark starts it and waits in one call. In between there are imports to do, which take a second.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import pyspark
from pyspark import SparkConf
from pyspark.errors import PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway

_PORT, _SECRET = "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"
_CONNECTION = "_PYSPARK_DRIVER_CONN_INFO_PATH"
_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_LOADED_LATER = "pyspark.testing.utils"
"""PySpark 4 imports it, and with it pandas, for the first call to the JVM."""
_POLL_SECONDS = 0.01
STORE_OPTION = "spark.hadoop.fs.s3a.bucket."


def starts_apart() -> bool:
    """Whether the process can be started by itself; else PySpark has to start it. That is so on
    Windows, inside spark-submit, and for arguments from the environment."""
    return os.name == "posix" and not {_PORT, _ARGUMENTS, "SPARK_TESTING"} & os.environ.keys()


def as_arguments(conf: SparkConf) -> SparkConf:
    """The options that spark-submit gets as arguments, which every user of the machine can read.
    Those of object stores have keys: they reach the JVM with the context, over its socket."""
    found = SparkConf(loadDefaults=False)
    return found.setAll(
        [(name, value) for name, value in conf.getAll() if not name.startswith(STORE_OPTION)]
    )


class Jvm:
    """A JVM that starts; it ends with this process, or when nobody has connected to it by then."""

    def __init__(self, conf: SparkConf, output: IO[bytes]) -> None:
        self._owner = os.getpid()
        self._folder = Path(tempfile.mkdtemp(prefix="spark-"))
        home = _find_spark_home()
        command = [str(Path(home, "bin", "spark-submit"))]
        for key, value in as_arguments(conf).getAll():
            command += ["--conf", f"{key}={value}"]
        environment = {
            **os.environ,
            "SPARK_HOME": home,  # else a script starts Python to find it
            "SPARK_CONNECT_MODE": "0",
            _CONNECTION: str(self._connection),
        }
        self._process = subprocess.Popen(  # noqa: S603 - Spark's own script
            [*command, "pyspark-shell"],
            stdin=subprocess.PIPE,  # the JVM ends when it is closed
            stdout=output,
            stderr=output,
            env=environment,
            preexec_fn=_ignore_interrupts,
        )
        atexit.register(self.end)

    def connect(self) -> Any:
        """The gateway, once the JVM is up; ``PySparkRuntimeError`` if it exited."""
        if not pyspark.__version__.startswith("3."):
            with suppress(Exception):  # it only saves time
                import_module(_LOADED_LATER)
        try:
            port, secret = self._wait_for_connection()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        atexit.unregister(self.end)
        os.environ[_PORT], os.environ[_SECRET] = str(port), secret
        try:
            gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
        finally:
            del os.environ[_PORT], os.environ[_SECRET]
        gateway.proc = self._process
        return gateway

    def end(self) -> None:
        """Kill it: at a regular end it would archive the few classes that it has loaded."""
        if os.getpid() != self._owner:
            return
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _connection(self) -> Path:
        return self._folder / "connection"

    def _wait_for_connection(self) -> tuple[int, str]:
        while not self._connection.is_file():
            if self._process.poll() is not None:
                raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})
            time.sleep(_POLL_SECONDS)
        content = self._connection.read_bytes()
        port, length = struct.unpack_from("!ii", content)
        return port, content[8 : 8 + length].decode()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
