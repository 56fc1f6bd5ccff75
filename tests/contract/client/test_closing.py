"""What a program wrote is delivered by the time it ends, and nothing is lost where it is not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lakeguard.services.ports.ledger import EmbeddedLedger
from lakeguard_sdk import Client, connect
from tests.support.projects.projects import numbers_project

WRITES = "client.operations.submit(DatasetName('bronze.numbers'), 'tests')"
PROGRAM = """\
import sys
from lakeguard_sdk import DatasetName, connect
client = connect(sys.argv[1])
{writes}
"""
NOTEBOOK = """\
import sys
import openlaketx
from lakeguard_sdk import DatasetName
tx = openlaketx.connect(sys.argv[1])
client = tx._client
{writes}
"""


def run_program(folder: Path, program: str) -> None:
    command = [sys.executable, "-c", program.format(writes=WRITES), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def is_delivered(folder: Path) -> bool:
    ledger = connect(folder).ledger
    assert isinstance(ledger, EmbeddedLedger)
    return ledger.relay.is_idle()


def delivered_project(folder: Path) -> Client:
    client = numbers_project(folder)
    client.close()
    assert is_delivered(folder)
    return client


def test_a_program_with_a_notebook_connection_delivers_at_its_end(tmp_path: Path) -> None:
    delivered_project(tmp_path)
    run_program(tmp_path, NOTEBOOK)
    assert is_delivered(tmp_path)


def test_a_client_that_nobody_closed_loses_nothing(tmp_path: Path) -> None:
    delivered_project(tmp_path)
    run_program(tmp_path, PROGRAM)
    assert not is_delivered(tmp_path)
    connect(tmp_path).close()
    assert is_delivered(tmp_path)
