"""What each command loads: a command that reads loads no writer, engine or parser."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell

HEAVY = (
    *("pydantic", "sqlalchemy", "sqlglot", "yaml", "alembic", "httpx"),
    *("deltalake", "pyarrow", "numpy", "pandas", "duckdb", "pyspark"),
    *("jwt", "cryptography", "lakeguard.access.principal"),
    *("sqlalchemy.dialects.postgresql", "lakeguard.gate.decide", "lakeguard.gate.rules.parse"),
    *("lakeguard.insight.reader.reader", "lakeguard.promotion.run_port"),
    *("lakeguard.registry.apply_plan", "lakeguard.scheduler", "openlaketx"),
)
STATE = ["pydantic", "sqlalchemy"]
READS = ["lakeguard.insight.reader.reader", *STATE]
CHECKS = ["lakeguard.gate.rules.parse", *STATE]
READING = {"run --help": list[str](), "runs": READS, "status": READS, f"why {NUMBERS}": READS}
CHECKING = {"validate": CHECKS, "plan": CHECKS}
"""By command, one after the other in one process: what is loaded by then. Files that an apply has
parsed are not parsed again."""

SCRIPT = """
import json, os, sys
from lakeguard.cli.main import call
folder, heavy, commands = json.loads(sys.argv[1])
answers, sys.stdout = sys.stdout, open(os.devnull, "w")
for command in commands:
    code = call([*command.split(), "--project", folder])
    loaded = sorted(name for name in heavy if name in sys.modules)
    print(json.dumps([command, code, loaded]), file=answers)
"""


def loaded_by(folder: Path, commands: Iterable[str]) -> dict[str, list[str]]:
    given = json.dumps([str(folder), HEAVY, list(commands)])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, given], capture_output=True, text=True, check=True
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [code for _, code, _ in found] == [0] * len(found), done.stderr
    return {command: loaded for command, _, loaded in found}


def test_what_reads_loads_no_writer_and_no_engine(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    client.deliver()  # else the first command does
    assert loaded_by(tmp_path, ["status", "runs"]) == {"status": READS, "runs": READS}
    run_by_hand(client, [1, 2])
    client.close()
    assert loaded_by(tmp_path, READING) == READING


def test_what_checks_definitions_loads_no_reader_and_no_engine(
    tmp_path: Path, shell: Shell
) -> None:
    assert shell("init", "--example", tmp_path / "example").code == 0
    assert shell("apply", "--project", tmp_path / "example").code == 0
    assert loaded_by(tmp_path / "example", CHECKING) == CHECKING


def test_an_engine_reports_no_leaks_at_the_end() -> None:
    script = (
        "import sys, duckdb; from lakeguard.cli.main import main;"
        "sys.argv = ['lakeguard', '--version']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
