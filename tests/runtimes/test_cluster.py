"""A cluster of Spark's own kind, with two workers: the demo comes out as on local cores."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from demo.story import BRONZE, GOLD, SILVER
from tests.runtimes.children import OWN, ROOT, free_port, java_process, told_by, wait_for
from tests.runtimes.tables import tables

pytestmark = pytest.mark.runtimes
WORKERS = ("one", "two")
CLUSTER = """
spark.master = "{master}"
spark.driver.host = "127.0.0.1"
spark.executor.memory = "600m"
spark.executor.cores = 1
"""


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[tuple[str, list[Path]]]:
    """The master's address, and the folder that each worker works in."""
    port, daemon = free_port(), "org.apache.spark.deploy"
    address, here = f"spark://127.0.0.1:{port}", ("--host", "127.0.0.1", "--webui-port", "0")
    folders = [tmp_path / name for name in WORKERS]
    with ExitStack() as running:
        log = tmp_path / "master.log"
        master = (f"{daemon}.master.Master", *here, "--port", str(port))
        running.enter_context(java_process(log, *master))
        wait_for(log, "I have been elected leader")
        for folder in folders:
            folder.mkdir()
            limits = ("--cores", "1", "--memory", "700m", "--work-dir", str(folder))
            worker = (f"{daemon}.worker.Worker", *here, *limits, address)
            running.enter_context(java_process(folder / "log", *worker))
            wait_for(folder / "log", "Successfully registered with master")
        yield address, folders


def test_the_demo_on_two_workers(workers: tuple[str, list[Path]], tmp_path: Path) -> None:
    address, folders = workers
    shutil.copytree(ROOT / "demo", tmp_path / "demo")
    with (tmp_path / "demo" / "lakeguard.toml").open("a", encoding="utf-8") as settings:
        settings.write(CLUSTER.format(master=address))
    there, here = tmp_path / "there", tmp_path / "here"
    assert "6/6  " in told_by(OWN, "-m", "demo", str(there), place=tmp_path)
    assert "6/6  " in told_by(OWN, "-m", "demo", str(here))
    names = (*BRONZE, *SILVER, GOLD)
    assert tables(there, names) == tables(here, names)
    for folder in folders:
        (executor,) = folder.glob("app-*/*/stderr")
        assert "Finished task" in executor.read_text("utf-8")
