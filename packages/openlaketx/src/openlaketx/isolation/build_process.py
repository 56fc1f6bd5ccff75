"""The build process of a worker: runs Python builds on a Spark of its own.

It has neither a client of the control plane nor the credentials of the State. Builds of one worker
share it, and it stays warm for the next one.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping

from openlaketx.isolation.messages import Link
from openlaketx.isolation.warm_process import WarmProcess, serve_connections, spark_places

MODULE = "openlaketx.isolation.build_process"
FLAGS = ("-E", "-P")
"""Environment and working directory do not change what it imports."""
PASSED = (
    "HOME", "JAVA_HOME", "LAKEGUARD_CACHE", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SSL_CERT_DIR",
    "SSL_CERT_FILE", "TMPDIR", "TZ", "USER", "XDG_CACHE_HOME",
)  # fmt: skip
PASSED_PREFIXES = ("HADOOP_", "LC_", "PYSPARK_", "SPARK_", "YARN_")
_processes: dict[str, WarmProcess] = {}
_choosing = threading.Lock()


def build_process(spark_options: Mapping[str, str]) -> WarmProcess:
    """The build process of this process for these options, the same for every worker."""
    options = json.dumps(dict(spark_options), sort_keys=True)
    with _choosing:
        if options not in _processes:
            _processes[options] = WarmProcess(MODULE, FLAGS, (options, *spark_places()))
        return _processes[options]


def build_environment(surroundings: Mapping[str, str]) -> dict[str, str]:
    """An allowlist of variables; no secrets."""
    return {
        name: value
        for name, value in surroundings.items()
        if name in PASSED or name.startswith(PASSED_PREFIXES)
    }


def main(options: str, *places: str) -> None:
    sys.path += [place for place in places if place not in sys.path]
    spark_options: dict[str, str] = json.loads(options)

    def handle(link: Link) -> None:
        from openlaketx.engine.spark.session import spark_session
        from openlaketx.isolation.build_server import BuildServer

        BuildServer(link, lambda: spark_session(spark_options)).serve()

    serve_connections(handle)


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    main(*sys.argv[1:])
