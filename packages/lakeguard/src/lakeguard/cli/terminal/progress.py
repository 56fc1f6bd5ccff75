"""Progress output, on standard error only."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import click

from lakeguard.cli.terminal.layout import clipped
from lakeguard.cli.terminal.output import colour
from lakeguard.services.plain_text import escaped, plural
from lakeguard_sdk.client import Progress

STAGES = {
    "unavailable": "waiting for the control plane",
    "extract": "reading",
    "schema": "comparing schemas",
    "stage": "writing candidate files",
    "measure": "measuring {rows}",
    "decide": "deciding",
    "publish": "publishing",
    "compact": "compacting small files",
    "profile": "profiling",
    "compare": "comparing rows",
    "deliver": "delivering its {what}",
}
WARNINGS = {
    "unavailable": "Control plane unavailable; retrying.",
    "undelivered": "{dataset}: published, but not delivered as its {what}: {reason}",
    "uncompacted": "{dataset}: published, but its small files were not compacted: {reason}",
    "unprofiled": "{dataset}: not profiled: {reason}",
}
"""Stages that are printed permanently: problems that do not stop the run."""


def _stage_words(stage: str, facts: Mapping[str, Any]) -> str:
    counted = {"rows": plural(facts["rows"], "row")} if "rows" in facts else {}
    return STAGES.get(stage, stage).format(**{**facts, **counted})


_DOTS = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME_SECONDS = 0.1
_CLEAR_LINE = "\r\x1b[K"
_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """A spinner with the current stage on a terminal, one plain line elsewhere."""
    if not _is_screen():
        click.echo(f"{what} …", err=True)
        yield warn
        return
    with _spinner(f"{what}: starting") as show:

        def show_stage(stage: str, facts: dict[str, Any]) -> None:
            warn(stage, facts)
            show(f"{what}: {_stage_words(stage, facts)}")

        yield show_stage


class Board:
    """Current stage of several concurrent runs, one per thread."""

    def __init__(self, show: Callable[[str], None] | None) -> None:
        self._show = show
        self._own = threading.local()
        self._changing = threading.Lock()
        self._stages: dict[str, str] = {}

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Registers the run of this thread while the block runs."""
        self._own.name = name
        if self._show is None:
            note(f"running {name} …")
        self._put(name, "starting")
        try:
            yield
        finally:
            self._put(name, None)

    def show_stage(self, stage: str, facts: dict[str, Any]) -> None:
        warn(stage, facts)
        self._put(self._own.name, _stage_words(stage, facts))

    def _put(self, name: str, stage: str | None) -> None:
        with self._changing:
            self._stages.pop(name, None)
            if stage is not None:
                self._stages[name] = stage
            if self._show is not None:
                text = " · ".join(f"{name}: {stage}" for name, stage in self._stages.items())
                self._show(text or "waiting")


@contextmanager
def working_on_many() -> Iterator[Board]:
    """One spinner with the stage of every run on a terminal, one line per run elsewhere."""
    if not _is_screen():
        yield Board(None)
        return
    with _spinner("starting") as show:
        yield Board(show)


@contextmanager
def _spinner(first: str) -> Iterator[Callable[[str], None]]:
    """Yields a function that changes its text; notes are printed above it."""
    spinner = Spinner(first)
    _notes.append(spinner.print_above)
    try:
        with spinner.turning():
            yield spinner.show
    finally:
        _notes.pop()


class Spinner:
    """One line on standard error, redrawn in place."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._frames = cycle(_frames())
        self._drawing = threading.Lock()

    @contextmanager
    def turning(self) -> Iterator[None]:
        """Spins while the block runs, then clears its line."""
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
    """Whether standard error is a terminal that can redraw a line."""
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def warn(stage: str, facts: dict[str, Any]) -> None:
    """Prints a stage of ``WARNINGS``; ignores other stages."""
    if stage in WARNINGS:
        note(escaped(WARNINGS[stage].format(**facts)))


_notes: list[Callable[[str], None]] = []
"""Note printers of active spinners, innermost last."""


def note(text: str) -> None:
    """Prints one line to standard error."""
    if _notes:
        _notes[-1](text)
    else:
        click.echo(text, err=True, color=colour())
