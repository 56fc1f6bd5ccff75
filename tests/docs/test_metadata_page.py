"""The page of metadata records: its program runs, its commands parse."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from lakeguard.cli.command_registry import COMMANDS
from lakeguard.cli.main import cli
from lakeguard_sdk.records.payloads import PAYLOADS
from tools.docs.record_kinds import example_records

PAGE = (Path(__file__).parents[2] / "docs" / "metadata-sdk.md").read_text("utf-8")


def test_the_program_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my-lake").mkdir()
    (tmp_path / "my-lake" / "lakeguard.toml").write_text("[env.dev]\n")
    monkeypatch.chdir(tmp_path)
    program = "\n".join(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL))
    exec(compile(program, "metadata-sdk.md", "exec"), {"__name__": "page"})  # noqa: S102 - the page


def test_the_commands_parse() -> None:
    group = cli.get_command(click.Context(cli), "records")
    assert isinstance(group, click.Group)
    assert "records" in COMMANDS
    (shown,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    for line in shown.splitlines():
        _, _, name, *arguments = shlex.split(line)
        command = group.get_command(click.Context(group), name)
        assert command is not None
        arguments = [__file__ if each.endswith(".jsonl") else each for each in arguments]
        command.make_context(name, arguments)


def test_every_kind_has_an_example() -> None:
    assert list(example_records()) == [payload.KIND for payload in PAYLOADS]
