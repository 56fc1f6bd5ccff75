"""The example of ``lakeguard init``, with its lake in a store."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lakeguard_sdk.storage.storage import join, storage_for
from tests.support.lakes.s3_server import S3Server, StorePath
from tests.support.projects.terminal import Terminal

LARGE_ORDERS = """\
dataset: silver.large_orders
owner: tests
domain: sales
parents: [silver.orders]
target: reports
build: {python: jobs/large.py:build}
load: {type: FULL}
columns:
  order_id: {type: long, rules: ["not_null"]}
  amount: {type: "decimal(12,2)", rules: ["ge(value=50)"]}
"""
REPORTS = "target: reports\nlocation: zones/reports\nzone: serving\nformat: csv\n"
LARGE = """\
def build(spark, inputs):
    return inputs['silver.orders'].where('amount >= 50').select('order_id', 'amount')
"""
_PROGRAM = str(Path(sys.executable).with_name("lakeguard"))
Typed = Callable[[str], tuple[int, str, str]]


class Shop:
    def __init__(
        self, folder: Path, server: S3Server, lake: StorePath, settings: str = "", tables: str = ""
    ) -> None:
        """``settings`` and ``tables`` are added to those of the environment."""
        terminal = Terminal(folder)
        self.folder, self.lake, self._typed = folder / "shop", str(lake), _in_process(terminal)
        self.type("lakeguard init shop --example")
        self.type("cd shop")
        written = f"[env.dev]\n{settings}{server.settings_of(lake)}{tables}"
        (self.folder / "lakeguard.toml").write_text(written)
        for file in sorted((self.folder / "data").iterdir()):
            self.land(file)

    def in_processes(self) -> Shop:
        """Commands that follow are processes, each with a Spark of its own."""
        self._typed = _in_new_process(self.folder)
        return self

    def type(self, line: str, code: int = 0) -> str:
        found, out, err = self._typed(line)
        assert found == code, f"{line}\n{out}\n{err}"
        return out

    def refused(self, line: str) -> str:
        """What a command says that fails."""
        code, out, err = self._typed(line)
        assert code != 0, f"{line}\n{out}\n{err}"
        return out + err

    def add_python_build(self) -> None:
        (self.folder / "definitions" / "silver" / "large_orders.yaml").write_text(LARGE_ORDERS)
        targets = self.folder / "definitions" / "targets"
        targets.mkdir()
        (targets / "reports.yaml").write_text(REPORTS)
        (self.folder / "jobs").mkdir()
        (self.folder / "jobs" / "large.py").write_text(LARGE)
        self.type("lakeguard apply")

    def land(self, file: Path) -> None:
        storage_for(self.lake).upload(file, join(self.lake, "data", file.name))


def _environment() -> dict[str, str]:
    return {**os.environ, "PYSPARK_PYTHON": sys.executable}


def _in_process(terminal: Terminal) -> Typed:
    def typed(line: str) -> tuple[int, str, str]:
        done = terminal.type(line)
        return done.code, done.out, done.err

    return typed


def _in_new_process(folder: Path) -> Typed:
    def typed(line: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [_PROGRAM, *line.split()[1:]],
            cwd=folder,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return typed
