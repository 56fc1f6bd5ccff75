"""A cluster of Spark's own kind on this machine, with two workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.runtimes.children import free_port, java_process, wait_for

_WORKERS = ("one", "two")
_SETTINGS = """
spark.master = "{master}"
spark.driver.host = "127.0.0.1"
spark.executor.memory = "600m"
spark.executor.cores = 1
"""


@dataclass(frozen=True)
class Cluster:
    master: str
    folders: tuple[Path, ...]
    """Where each worker works."""

    @property
    def settings(self) -> str:
        """Keys of a table of Spark options."""
        return _SETTINGS.format(master=self.master)

    def assert_every_worker_worked(self) -> None:
        for folder in self.folders:
            logs = [log.read_text("utf-8") for log in folder.glob("app-*/*/stderr")]
            assert any("Finished task" in log for log in logs)


@contextmanager
def running_cluster(folder: Path) -> Iterator[Cluster]:
    port, daemon = free_port(), "org.apache.spark.deploy"
    address, here = f"spark://127.0.0.1:{port}", ("--host", "127.0.0.1", "--webui-port", "0")
    folders = tuple(folder / name for name in _WORKERS)
    with ExitStack() as running:
        log = folder / "master.log"
        master = (f"{daemon}.master.Master", *here, "--port", str(port))
        running.enter_context(java_process(log, *master))
        wait_for(log, "I have been elected leader")
        for place in folders:
            place.mkdir()
            limits = ("--cores", "1", "--memory", "700m", "--work-dir", str(place))
            worker = (f"{daemon}.worker.Worker", *here, *limits, address)
            running.enter_context(java_process(place / "log", *worker))
            wait_for(place / "log", "Successfully registered with master")
        yield Cluster(address, folders)
