"""Telling people that work is under way, on standard error only."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import click

from lakeguard.cli.terminal.layout import clipped
from lakeguard.cli.terminal.output import colour
from lakeguard.services.plain_text import escaped
from lakeguard_sdk.client import Progress

STAGES = {
    "extract": "reading",
    "schema": "comparing columns",
    "stage": "writing candidate files",
    "measure": "measuring {rows:,} rows",
    "decide": "asking the gate",
    "publish": "publishing",
    "compact": "merging small files",
    "profile": "taking its profile",
    "compare": "comparing rows",
    "deliver": "writing its {what}",
}
WARNINGS = {
    "undelivered": "{dataset}: published, but not delivered as its {what}: {reason}",
    "uncompacted": "{dataset}: published, but its small files were not merged: {reason}",
    "unprofiled": "{dataset}: no profile of it was taken: {reason}",
}
"""Stages that stay on the screen: what went wrong without stopping the run."""

_DOTS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS = 0.1
_CLEAR_LINE = "\r\x1b[K"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """A spinner that names the stage on a terminal, one plain line elsewhere."""
    if not _is_screen():
        click.echo(f"{what} …", err=True)
        yield warn
        return
    with _spinner(f"{what}: starting") as show:

        def tell(stage: str, facts: dict[str, Any]) -> None:
            warn(stage, facts)
            show(f"{what}: {STAGES.get(stage, stage).format(**facts)}")

        yield tell


class Board:
    """What each of many runs is at; a thread that says its run's name is heard under it."""

    def __init__(self, show: Callable[[str], None] | None) -> None:
        self._show = show
        self._own = threading.local()
        self._changing = threading.Lock()
        self._stages: dict[str, str] = {}

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """The run of this thread, from its beginning to its end."""
        self._own.name = name
        if self._show is None:
            note(f"running {name} …")
        self._put(name, "starting")
        try:
            yield
        finally:
            self._put(name, None)

    def tell(self, stage: str, facts: dict[str, Any]) -> None:
        warn(stage, facts)
        self._put(self._own.name, STAGES.get(stage, stage).format(**facts))

    def _put(self, name: str, said: str | None) -> None:
        with self._changing:
            self._stages.pop(name, None)
            if said is not None:
                self._stages[name] = said
            if self._show is not None:
                shown = " · ".join(f"{name}: {said}" for name, said in self._stages.items())
                self._show(shown or "waiting")


@contextmanager
def working_on_many() -> Iterator[Board]:
    """One spinner with the stage of every run on a terminal, a line for each run elsewhere."""
    if not _is_screen():
        yield Board(None)
        return
    with _spinner("starting") as show:
        yield Board(show)


@contextmanager
def _spinner(first: str) -> Iterator[Callable[[str], None]]:
    """What is shown beside it can be changed; a note meanwhile stands above it."""
    spinner = Spinner(first)
    _notes.append(spinner.print_above)
    try:
        with spinner.turning():
            yield spinner.show
    finally:
        _notes.pop()


class Spinner:
    """One line on standard error that is drawn again and again in place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._frames = cycle(_frames())
        self._drawing = threading.Lock()

    @contextmanager
    def turning(self) -> Iterator[None]:
        """Turns while the block runs, and leaves nothing on the screen."""
        stopped = threading.Event()

        def turn() -> None:
            while not stopped.wait(_FRAME_SECONDS):
                self._draw()

        thread = threading.Thread(target=turn, daemon=True)
        self._draw(_HIDE_CURSOR)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()
            with self._drawing:
                _write(_CLEAR_LINE + _SHOW_CURSOR)

    def show(self, text: str) -> None:
        self._text = text
        self._draw()

    def print_above(self, text: str) -> None:
        with self._drawing:
            _write(_CLEAR_LINE)
            click.echo(text, err=True, color=colour())
        self._draw()

    def _draw(self, before: str = "") -> None:
        room = shutil.get_terminal_size().columns - 3  # the frame, a space, the cursor
        with self._drawing:
            _write(
                f"{before}{_CLEAR_LINE}{next(self._frames)} {clipped(escaped(self._text), room)}"
            )


def _frames() -> str:
    try:
        _DOTS.encode(sys.stderr.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "|/-\\"
    return _DOTS


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _is_screen() -> bool:
    """Whether standard error is a terminal on which a line can be drawn again."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def warn(stage: str, facts: dict[str, Any]) -> None:
    """Tells a stage that went wrong, under the name of its dataset; of others, nothing."""
    if stage in WARNINGS:
        note(escaped(WARNINGS[stage].format(**facts)))


_notes: list[Callable[[str], None]] = []
"""Where notes go while a spinner turns."""


def note(text: str) -> None:
    """One line for the person who waits."""
    if _notes:
        _notes[-1](text)
    else:
        click.echo(text, err=True, color=colour())
