"""Programs that raise an alert and end, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fakes.webhook_receiver import SECRET, receiver
from tests.support.projects.alert_channels import (
    SECRET_VARIABLE,
    blocking_world,
    entry,
    webhook,
)

ROOT = Path(__file__).parents[2]
PROGRAM = """
import sys
from lakeguard_sdk import connect
from tests.support.projects.alert_channels import block
with connect(sys.argv[1]) as client:
    print(block(client))
"""


def ended(folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, SECRET_VARIABLE: SECRET}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


def test_it_is_sent_before_the_process_is_gone(tmp_path: Path) -> None:
    with receiver() as hook:
        blocking_world(tmp_path, webhook(hook.url))
        run = ended(tmp_path).stdout.strip()
        assert [body["run_id"] for body in hook.bodies] == [run]


def test_a_log_is_standard_error(tmp_path: Path) -> None:
    blocking_world(tmp_path, entry(type="log"))
    given = ended(tmp_path)
    (line,) = given.stderr.splitlines()
    assert json.loads(line)["run_id"] == given.stdout.strip()


def test_who_says_nothing_holds_up_no_end(tmp_path: Path) -> None:
    with receiver(-1) as hook:
        blocking_world(tmp_path, webhook(hook.url, timeout_seconds=1))
        assert ended(tmp_path).stderr == ""
        assert len(hook.bodies) == 1
