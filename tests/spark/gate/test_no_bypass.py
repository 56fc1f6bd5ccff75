"""Every option, parameter, setting and variable in turn: a violating batch is still blocked."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import lakeguard
import lakeguard_sdk
import openlaketx
from lakeguard.cli.main import cli
from lakeguard.settings import ENV_KEYS, TOP_KEYS
from lakeguard_sdk import DatasetName, connect
from lakeguard_sdk.client import local_worker
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunTicket, Window
from lakeguard_sdk.ports import Operations
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.engine.spark.run_settings import FILE_SETTINGS, QUERY_SETTINGS
from openlaketx.engine.spark.session import spark_session
from tests.support.projects.terminal import Terminal

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

NAME = DatasetName("bronze.orders")
FILES = {
    "lakeguard.toml": "[env.dev]\n",
    "in/orders.csv": "id,amount\n1,10\n2,-5\n",
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
    "definitions/bronze/orders.yaml": """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: FULL}
columns:
  id: {type: long}
  amount: {type: double, rules: ["range(min=0)"]}
""",
}
OPTIONS: dict[str, list[str]] = {
    "--project": ["--project", "."],
    "--env": ["--env", "dev"],
    "--json": ["--json"],
    "--debug": ["--debug"],
    "--jobs": ["--jobs", "2"],
    "--with-parents": ["--with-parents"],
    "--all": ["--all"],
    "--changed": ["--changed"],
    "--apply": ["--apply"],
    "--version": [],
    "--help": [],
}
"""Values for each option of ``lakeguard run``; the two empty ones run nothing."""
SETTINGS: dict[str, str] = {
    "default_env": 'default_env = "other"\n[env.other]\n',
    "env": "[env.dev]\n[env.other]\n",
    "lake": '[env.dev]\nlake = "."\n',
    "database": '[env.dev]\ndatabase = "sqlite:elsewhere.db"\n',
    "schema": '[env.dev]\nschema = "other"\n',
    "organisation": '[env.dev]\norganisation = "other"\n',
    "spark": '[env.dev.spark]\n"spark.sql.ansi.enabled" = "false"\n',
    "alerts": '[env.dev]\n[[env.dev.alerts.channel]]\ntype = "log"\n',
    "events": '[env.dev]\n[[env.dev.events.channel]]\ntype = "log"\n',
    "dispatch": "[env.dev.dispatch]\nattempts = 1\nlease_seconds = 30\nheartbeat_seconds = 5\n",
    "inbox": '[env.dev.inbox]\nsecret = "env:NOBODY"\n',
    "check_files": '[env.dev]\ncheck_files = "hashes"\n',
    "secrets": '[env.dev.secrets]\ncommand = ["true"]\n',
    "outbound": "[env.dev.outbound]\nprivate = false\n",
    "audit": '[env.dev.audit]\nkey = "env:NOBODY"\n',
    "identity": '[env.dev.identity]\nkey = "env:NOBODY"\n',
    "records": '[env.dev.records]\nstore = "files"\n',
    "service": "[env.dev.service]\nrequests_per_minute = 1\n",
    "storage": """\
[env.dev]
[env.other]
lake = "s3://bucket/lake"
storage.region = "eu-central-1"
""",
    "maintenance": "[env.dev.maintenance]\nretention_days = 0\ncompact_after = 1\n",
}
VARIABLES: dict[str, str] = {
    "LAKEGUARD_ENV": "dev",
    "LAKEGUARD_CACHE": "",
    "LAKEGUARD_URL": "",
    "LAKEGUARD_TOKEN": "lgs1_root",
    "OTEL_EXPORTER_OTLP_ENDPOINT": "",
    "XDG_CACHE_HOME": "",
    "JAVA_HOME": "",
    "SPARK_HOME": "",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONOPTIMIZE": "2",
    "PYTHONHASHSEED": "7",
    "TZ": "Pacific/Kiritimati",
    "LC_ALL": "tr_TR.UTF-8",
}
"""Variables that the code reads, and those that change any Python program."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def assert_blocked(folder: Path, *words: str) -> None:
    terminal = Terminal(folder)
    applied = terminal.type("lakeguard apply")
    assert applied.code == 0, applied.err
    named = [] if "--all" in words else [str(NAME)]
    run = terminal.type(" ".join(["lakeguard", "run", *named, *words]))
    assert run.code == 3, (words, run.out, run.err)
    assert not (folder / "bronze" / "orders" / "_delta_log").exists(), "nothing was published"


def test_every_option_is_set_below() -> None:
    found = {"--help"}
    for command in (cli, cli.commands["run"] if "run" in cli.commands else _run_command()):
        found |= {max(option.opts, key=len) for option in command.params if _is_option(option)}
    assert found == set(OPTIONS)


def _is_option(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option)


def _run_command() -> click.Command:
    command = cli.get_command(click.Context(cli), "run")
    assert command is not None
    return command


@pytest.mark.parametrize("option", [option for option, words in OPTIONS.items() if words])
def test_no_option_lets_it_through(folder: Path, option: str) -> None:
    words = OPTIONS[option]
    if option == "--debug":
        terminal = Terminal(folder)
        terminal.type("lakeguard apply")
        assert terminal.type(f"lakeguard --debug run {NAME}").code == 3
    else:
        assert_blocked(folder, *words)


def test_every_setting_is_set_below() -> None:
    of_a_server = {"password", "owner", "owner_password"}
    assert set(SETTINGS) == {*TOP_KEYS, *ENV_KEYS} - of_a_server


@pytest.mark.parametrize("setting", sorted(SETTINGS))
def test_no_setting_lets_it_through(folder: Path, setting: str) -> None:
    (folder / "lakeguard.toml").write_text(SETTINGS[setting])
    assert_blocked(folder)


def test_every_variable_that_is_read_is_set_below() -> None:
    read: set[str] = set()
    for package in (lakeguard, lakeguard_sdk, openlaketx):
        for file in Path(str(package.__file__)).parent.rglob("*.py"):
            text = file.read_text()
            read |= set(re.findall(r"environ(?:\.get\(|\[)[\"']([A-Z_]+)[\"']", text))
            if "environ" in text:
                read |= set(re.findall(r"VARIABLE\w* = [\"']([A-Z_]+)[\"']", text))
    assert read
    assert read <= set(VARIABLES)


@pytest.mark.parametrize("variable", sorted(VARIABLES))
def test_no_variable_lets_it_through(
    folder: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if VARIABLES[variable]:
        monkeypatch.setenv(variable, VARIABLES[variable])
    else:
        monkeypatch.delenv(variable, raising=False)
    assert_blocked(folder)


WEAK: dict[str, str] = {
    **{
        key: "false" if value == "true" else "true"
        for key, value in (FILE_SETTINGS | QUERY_SETTINGS).items()
    },
    "spark.sql.session.timeZone": "Asia/Kolkata",
    "spark.sql.parquet.outputTimestampType": "INT96",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInRead": "LEGACY",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.legacy.ctePrecedencePolicy": "LEGACY",
    "spark.sql.cteRecursionLevelLimit": "-1",
    "spark.sql.cteRecursionRowLimit": "-1",
}


@pytest.mark.parametrize("key", sorted(WEAK))
def test_no_setting_of_the_session_lets_it_through(folder: Path, key: str) -> None:
    spark = spark_session({})
    before = spark.conf.get(key)
    spark.conf.set(key, WEAK[key])
    try:
        assert_blocked(folder)
        assert spark.conf.get(key) == WEAK[key], "the user's session is not touched"
    finally:
        spark.conf.set(key, before)


def test_no_parameter_lets_it_through(folder: Path) -> None:
    Terminal(folder).type("lakeguard apply")
    submissions: dict[str, Any] = {
        "name": NAME,
        "triggered_by": "root; force=true",
        "key": "published-already",
        "window": None,
    }
    assert set(submissions) == set(inspect.signature(Operations.submit).parameters) - {"self"}
    assert set(inspect.signature(connect).parameters) == {"url", "env", "ticket", "token"}
    wanted = {"client", "spark_options", "progress"}
    assert set(inspect.signature(local_worker).parameters) == wanted
    client = connect(folder, env="dev", token="lgs1_root")
    options = {"spark.sql.ansi.enabled": "false", "lakeguard.force": "true"}
    worker = local_worker(client.for_worker(), spark_options=options, progress=lambda *_: None)
    window = Window(column="id", start="0", end="9")
    unkeyed = {**submissions, "key": None}
    for parameters in (submissions, unkeyed, {**unkeyed, "window": window}):
        result = worker.run_task(client.operations.submit(**parameters))
        assert result.status is RunStatus.BLOCKED
    forged = RunTicket(run_id="run_x", task_id="task_x", attempt=1, lease_token="x")
    held = connect(folder, ticket=forged)
    with pytest.raises(lakeguard_sdk.LakeGuardError):
        held.runs.begin_move(forged)
    assert this_process("x").pid


def test_a_blocked_task_is_not_run_again(folder: Path) -> None:
    Terminal(folder).type("lakeguard apply")
    client = connect(folder)
    worker = local_worker(client.for_worker(), spark_options={})
    task_id = client.operations.submit(NAME, "test")
    assert worker.run_task(task_id).status is RunStatus.BLOCKED
    assert not client.operations.requeue(task_id)


def test_no_variable_of_a_new_process_lets_it_through(folder: Path) -> None:
    """Variables of Python, Java and Spark are set before the process starts."""
    (folder / "lakeguard.toml").write_text(SETTINGS["spark"])
    Terminal(folder).type("lakeguard apply")
    started = {name: value for name, value in VARIABLES.items() if value}
    done = subprocess.run(
        [sys.executable, "-m", "lakeguard.cli.main", "run", str(NAME), "--json"],
        cwd=folder,
        env={**os.environ, **started, "SPARK_CONF_DIR": str(folder), "PYTHONDEVMODE": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 3, (done.stdout, done.stderr)
    assert '"status":"BLOCKED"' in done.stdout.replace(" ", "")
