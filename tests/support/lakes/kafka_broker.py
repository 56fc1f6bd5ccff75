"""A Kafka broker for tests: one process in KRaft mode, on free ports of this machine."""

from __future__ import annotations

import base64
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from openlaketx.engine.spark.jars import find_java
from setup.kafka_broker import broker_class_path
from tests.support.lakes.s3_server import free_port, wait_for

_START_SECONDS = 120


@contextmanager
def running_broker(folder: Path) -> Iterator[str]:
    """The address of a broker that creates topics of two partitions on first use."""
    port, settings = free_port(), folder / "server.properties"
    settings.write_text(_settings(folder / "data", port, free_port()), encoding="utf-8")
    java = [str(find_java()), "-Xmx256m", "-cp", broker_class_path()]
    with (folder / "broker.log").open("ab") as log:
        subprocess.run(
            [*java, "kafka.tools.StorageTool", "format", "-t", _new_id(), "-c", str(settings)],
            stdout=log,
            stderr=log,
            timeout=_START_SECONDS,
            check=True,
        )
        process = subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    try:
        wait_for(port, process, _START_SECONDS)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait(10)


def _new_id() -> str:
    """It never begins with a dash, which the tool would take for an option."""
    return base64.urlsafe_b64encode(b"\0" + uuid.uuid4().bytes[1:]).decode().rstrip("=")


def _settings(data: Path, port: int, controller: int) -> str:
    here = "127.0.0.1"
    settings = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@{here}:{controller}",
        "listeners": f"PLAINTEXT://{here}:{port},CONTROLLER://{here}:{controller}",
        "advertised.listeners": f"PLAINTEXT://{here}:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "log.dirs": data,
        "num.partitions": 2,
        "offsets.topic.replication.factor": 1,
        "group.initial.rebalance.delay.ms": 0,
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())
