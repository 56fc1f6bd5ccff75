"""Processes of other Sparks; each ends with the test that started it."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OWN = Path(sys.executable)
_STAMP = ROOT / ".venv-spark35" / "made-of"
_MISLEADING = ("PYTHONPATH", "SPARK_HOME", "SPARK_REMOTE", "PYSPARK_DRIVER_PYTHON")


def spark35() -> Path:
    """The Python that has Spark 3.5; without it there is nothing to show."""
    if not _STAMP.is_file():
        pytest.fail("Spark 3.5 is not here; type: make runtimes", pytrace=False)
    return _STAMP.with_name("bin") / "python"


def told_by(python: Path, *arguments: str, place: Path = ROOT, seconds: int = 400) -> str:
    """What the program printed; it must succeed."""
    done = subprocess.run(
        [str(python), *arguments],
        cwd=place,
        env=environment(PYSPARK_PYTHON=str(python)),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-6000:]}"
    return done.stdout


@contextmanager
def java_process(log: Path, *arguments: str, memory: str = "256m") -> Iterator[None]:
    """One of Spark's own classes, through the script that comes with it, until the block ends."""
    package = importlib.util.find_spec("pyspark")
    assert package
    home = Path(str(package.origin)).parent
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(home / "bin" / "spark-class"), *arguments],
            cwd=log.parent,
            env=environment(
                SPARK_HOME=str(home), SPARK_DAEMON_MEMORY=memory, PYSPARK_PYTHON=str(OWN)
            ),
            stdout=output,
            stderr=output,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=60)


def environment(**more: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key not in _MISLEADING}
    return {**kept, **more}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(log: Path, words: str, seconds: float = 90) -> None:
    """Until the process says so."""
    end = time.monotonic() + seconds
    while words not in log.read_text("utf-8", "replace"):
        assert time.monotonic() < end, log.read_text("utf-8", "replace")[-3000:]
        time.sleep(0.2)
