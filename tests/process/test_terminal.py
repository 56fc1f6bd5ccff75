"""On a terminal: colour unless NO_COLOR is set; the words are the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click

from tests.support.projects.shell import Shell


def on_a_terminal(*arguments: str, **variables: str) -> str:
    """What a person would see, colours and all."""
    ours, theirs = os.openpty()
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    try:
        subprocess.run(
            [sys.executable, "-m", "lakeguard.cli.main", *arguments],
            stdout=theirs,
            stderr=theirs,
            env={**environment, **variables},
            check=True,
        )
        return os.read(ours, 65536).decode().replace("\r\n", "\n")
    finally:
        os.close(ours)
        os.close(theirs)


def test_colour_repeats_what_the_words_say(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "lake"
    shell("init", folder, "--example")
    arguments = ("--project", str(folder), "validate")
    coloured = on_a_terminal(*arguments)
    assert "\x1b[32m" in coloured
    plain = on_a_terminal(*arguments, NO_COLOR="1")
    assert "\x1b" not in plain
    assert click.unstyle(coloured) == plain == shell(*arguments).out


def test_a_spinner_leaves_one_short_line_at_a_time_and_nothing_at_the_end() -> None:
    shown = drawn("with working('running ' + 'x' * 500) as tell: tell('publish', {})", COLUMNS="40")
    lines = [line.replace("\x1b[?25l", "") for line in shown.split("\r\x1b[K")]
    assert max(map(len, lines)) <= 40
    assert lines[-1] == "\x1b[?25h", "the cursor is back"


def test_a_name_cannot_steer_the_terminal() -> None:
    shown = drawn("with working('running \\x1b[2J') as tell: pass")
    assert "\x1b[2J" not in shown


def test_a_terminal_that_cannot_go_back_gets_a_plain_line() -> None:
    assert drawn("with working('running a') as tell: pass", TERM="dumb") == "running a …\r\n"


def test_a_note_does_not_run_into_the_spinner() -> None:
    """In one line with it a note could not be read."""
    later = "time.sleep(0.5); note('a went well')"
    for script in (
        f"with working('running a') as tell: {later}",
        f"with working_on_many() as board, board.running('running a'): {later}",
    ):
        shown = drawn(script)
        assert "running a: " in shown
        assert "a went well" in shown
        assert not re.search(r"running a: [^\r\n\x1b]*a went well", shown)


def drawn(script: str, **variables: str) -> str:
    """What a program that shows its progress writes to a terminal."""
    ours, theirs = os.openpty()
    text = "import time; from lakeguard.cli.terminal.progress import *\n" + script
    environment = {**os.environ, "TERM": "xterm", **variables}
    try:
        subprocess.run(
            [sys.executable, "-c", text], stdout=theirs, stderr=theirs, env=environment, check=True
        )
        return os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
