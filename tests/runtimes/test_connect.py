"""Spark behind a server makes the same tables, and what cannot be done there is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runtimes.children import OWN, free_port, java_process, told_by, wait_for
from tests.runtimes.shops import BUILT, make_shop
from tests.runtimes.tables import tables

pytestmark = pytest.mark.runtimes
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of Spark Connect in a process of its own, which others could share."""
    log, port = tmp_path_factory.mktemp("server") / "log", free_port()
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    described = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    submit = ("org.apache.spark.deploy.SparkSubmit", "--master", "local[2]", *described)
    with java_process(log, *submit, "--class", SERVER, "spark-internal", memory="1g"):
        wait_for(log, "Spark Connect server started")
        yield f"sc://127.0.0.1:{port}"


def test_the_same_program_makes_the_same_tables(server: str, tmp_path: Path) -> None:
    seen, made = [], []
    for number, place in enumerate(("local[2]", server)):
        folder = tmp_path / f"lake {number}"
        make_shop(folder)
        document = json.loads(told_by(OWN, "-m", "tests.runtimes.program", place, str(folder)))
        seen.append(document)
        made.append(tables(folder, (*BUILT, "silver.marks")))
    ours, theirs = seen
    assert theirs.pop("refused") == "LG-1107"
    assert theirs == {key: ours[key] for key in theirs}
    assert made[0] == made[1]
