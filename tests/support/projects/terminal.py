"""Calling commands as the pages write them, in one process with one warm Spark."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeguard.cli.main import call


@dataclass(frozen=True)
class CommandResult:
    line: str
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)


@dataclass
class Terminal:
    """A shell that knows cd, cp, rm and lakeguard."""

    folder: Path
    results: list[CommandResult] = field(default_factory=list)

    def type(self, line: str) -> CommandResult:
        words = shlex.split(line, comments=True)
        result = CommandResult(line, *self._done(words))
        self.results.append(result)
        return result

    def _done(self, words: list[str]) -> tuple[int, str, str]:
        if words[0] == "cd":
            self.folder = self.folder / words[1]
            return 0, "", ""
        if words[0] != "lakeguard":
            done = subprocess.run(
                words, cwd=self.folder, capture_output=True, text=True, check=False
            )
            return done.returncode, done.stdout, done.stderr
        out, err = io.StringIO(), io.StringIO()
        with chdir(self.folder), redirect_stdout(out), redirect_stderr(err):
            code = call(words[1:])
        return code, out.getvalue(), err.getvalue()
