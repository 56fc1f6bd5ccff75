"""A server of Spark Connect in a process of its own, which others could share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.runtimes.children import free_port, java_process, wait_for

_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def running_connect_server(folder: Path, options: Mapping[str, str]) -> Iterator[str]:
    """Its address."""
    log, port = folder / "server.log", free_port()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        **options,
    }
    described = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    submit = ("org.apache.spark.deploy.SparkSubmit", "--master", "local[2]", *described)
    with java_process(log, *submit, "--class", _SERVER, "spark-internal", memory="1g"):
        wait_for(log, "Spark Connect server started")
        yield f"sc://127.0.0.1:{port}"
