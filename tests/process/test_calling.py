"""The border: every way a call can end has its exit code and its words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from lakeguard.cli import command_registry, errors, main
from lakeguard.cli.command_registry import COMMANDS
from lakeguard.cli.commands.operate.ledger import checked_head
from lakeguard_sdk.errors import NotRegistered, RollbackBlocked, TableBusy
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell


def test_help_lists_every_command_without_importing_any() -> None:
    script = (
        "import sys; from lakeguard.cli.main import call; call(['--help']);"
        "print([name for name in sys.modules if name.startswith(('lakeguard.cli.commands.',"
        " 'pydantic', 'sqlalchemy', 'sqlglot', 'httpx', 'deltalake', 'yaml'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    *lines, imported = done.stdout.splitlines()
    assert imported == "[]"
    for name, summary in COMMANDS.items():
        assert any(line.split()[:1] == [name] and summary in line for line in lines)


def test_no_command_asks_for_help(shell: Shell) -> None:
    assert shell().out == shell("--help").out
    assert shell().code == 0


def test_every_listed_command_exists_and_has_help(shell: Shell) -> None:
    for name in COMMANDS:
        result = shell(name, "--help")
        assert result.code == 0
        assert result.out.startswith(f"Usage: lakeguard {name}")


def test_version(shell: Shell) -> None:
    assert shell("--version").out == "lakeguard 0.1.0\n"


def test_an_unknown_command_is_refused_with_the_nearest(shell: Shell) -> None:
    result = shell("statsu")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        "LG-1000  unknown command 'statsu'; did you mean status?",
        "Next: lakeguard --help",
    ]


def test_a_missing_argument_and_an_unknown_option(shell: Shell) -> None:
    assert shell("run").code == 2
    result = shell("run", "silver.flights", "--forse")
    assert result.code == 2
    assert result.err.endswith("Next: lakeguard run --help\n")


def test_no_project(shell: Shell, tmp_path: Path) -> None:
    result = shell("status", "--project", tmp_path)
    assert result.code == 2
    assert result.err.startswith("LG-1007  no lakeguard.toml")
    assert result.err.endswith("Next: lakeguard init my-lake\n")


def test_options_may_stand_before_or_after(shell: Shell, tmp_path: Path) -> None:
    before = shell("--json", "--project", tmp_path, "status")
    after = shell("status", "--project", tmp_path, "--json")
    assert before == after
    assert before.data["error"]["code"] == "LG-1007"


def test_an_error_in_json_is_on_stdout_and_keeps_its_exit_code(shell: Shell) -> None:
    result = shell("run", "flights", "--json")
    assert (result.code, result.err) == (2, "")
    assert sorted(result.data["error"]) == ["code", "message", "next", "retryable"]
    assert shell("nonsense", "--json").data["error"]["code"] == "LG-1000"


class Breaking:
    """A command whose body is told what to raise."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.error: BaseException = ValueError()
        command = click.command("break")(self.body)
        known = {**command_registry.COMMANDS, "break": "Break."}
        monkeypatch.setattr(command_registry, "COMMANDS", known)
        monkeypatch.setattr(main.cli, "get_command", lambda _ctx, _name: command)

    def body(self) -> None:
        raise self.error


@pytest.fixture
def breaking(monkeypatch: pytest.MonkeyPatch) -> Breaking:
    return Breaking(monkeypatch)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotRegistered(dataset="silver.x"), 2),
        (RollbackBlocked(dataset="silver.x", version=1, reason="pii"), 3),
        (TableBusy(dataset="silver.x", holder="run_1"), 1),
        (click.UsageError("no"), 2),
        (ValueError("never foreseen"), 1),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes(shell: Shell, breaking: Breaking, error: BaseException, code: int) -> None:
    breaking.error = error
    assert shell("break").code == code


def test_an_error_says_code_what_and_next(shell: Shell, breaking: Breaking) -> None:
    breaking.error = NotRegistered(dataset="silver.x")
    result = shell("break")
    assert result.out == ""
    assert result.err.splitlines() == [
        "LG-1003  silver.x is not registered",
        "Next: lakeguard status, or write its definition and: lakeguard apply",
    ]


def test_what_an_error_quotes_is_inert(shell: Shell, breaking: Breaking) -> None:
    breaking.error = RollbackBlocked(dataset="silver.x", version=1, reason="\x1b[2Jgone\x07")
    assert "\x1b" not in shell("break").err
    assert "\\x1b[2Jgone\\x07" in shell("break").err


def test_a_defect_is_told_shortly_and_at_length_on_request(
    shell: Shell, breaking: Breaking
) -> None:
    breaking.error = ValueError("never foreseen")
    short = shell("break")
    assert short.err.startswith("LG-0000  ValueError: never foreseen\n")
    assert "Traceback" not in short.err
    assert "Traceback" in shell("--debug", "break").err


def test_a_closed_pipe_is_silent() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "lakeguard.cli.main", "--help"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.stderr == b""


def test_a_terminal_that_cannot_show_a_character_gets_another() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lakeguard.cli.main", "init", "/proc/no-such-place/\u2713"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert b"UnicodeEncodeError" not in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("command", "env", "expected"),
    [
        ("lakeguard rebuild", None, "lakeguard rebuild"),
        ("lakeguard rebuild", "prod", "lakeguard --env prod rebuild"),
        ("fix it, then: lakeguard apply", "b", "fix it, then: lakeguard --env b apply"),
    ],
)
def test_the_next_command_is_about_the_same_environment(
    command: str, env: str | None, expected: str
) -> None:
    assert errors.with_env(command, env) == expected


def test_a_head_that_is_none_is_a_wrong_call() -> None:
    with pytest.raises(click.BadParameter):
        checked_head("zzz")
    assert checked_head("sha256:" + "0" * 64) == "sha256:" + "0" * 64


def test_a_command_on_a_folder_loads_no_web_framework(tmp_path: Path) -> None:
    numbers_project(tmp_path)
    script = (
        "import sys; from lakeguard.cli.main import call;"
        "call(['status', '--project', sys.argv[1]]);"
        "print([name for name in sys.modules if name.startswith(('fastapi', 'starlette', 'uvicorn',"
        " 'prometheus_client', 'lakeguard.http', 'lakeguard_sdk.api'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "bronze.numbers" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
