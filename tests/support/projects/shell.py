"""Calling the command line as a person does, and looking at both streams."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from lakeguard.cli.main import call


@dataclass(frozen=True)
class CommandResult:
    """How a call ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


Shell = Callable[..., CommandResult]


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    def called(*arguments: object) -> CommandResult:
        capsys.readouterr()
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return CommandResult(code, captured.out, captured.err)

    return called
