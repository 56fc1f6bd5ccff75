"""Processes of users' code, and those that keep it away: what they load, when they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lakeguard_sdk.model.definitions import Definitions
from tests.support.projects.projects import make_project

BUILDER = """
import os, time
from openlaketx.isolation.build_process import build_environment, build_process
process = build_process({})
link = process.connect(build_environment(os.environ))
print(process._process.pid, flush=True)
time.sleep(60)
"""
PROGRAM = """
import sys
import openlaketx
from openlaketx.notebook.gate_process import GATE
with openlaketx.connect(sys.argv[1]) as tx:
    GATE.prepare(tx._client)
    print(GATE._process._process.pid)
"""
TRACE = """
import pathlib, sys
with pathlib.Path({place!r}).open("a") as loaded:
    print(*sys.orig_argv, file=loaded)
"""


def test_a_build_process_ends_with_the_process_that_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", BUILDER], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_running(child)
        parent.send_signal(signal.SIGKILL)
    assert ends(child)


def test_the_gate_of_a_program_loads_nothing_of_it_and_ends_with_the_connection(
    tmp_path: Path,
) -> None:
    make_project(tmp_path / "lake", Definitions())
    loaded = tmp_path / "loaded"
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "sitecustomize.py").write_text(
        TRACE.replace("{place!r}", repr(str(loaded)))
    )
    (tmp_path / "duckdb.py").write_text("raise SystemExit('taken from the working directory')")
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, str(tmp_path / "lake")],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "theirs")},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    started = loaded.read_text()
    assert "-c" in started, "the program loads it"
    assert "gate_server" not in started
    assert ends(int(done.stdout))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(pid: int) -> bool:
    until = time.monotonic() + 30
    while is_running(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not is_running(pid)
