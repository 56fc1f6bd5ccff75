"""Telling people that work is under way, on standard error only."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from lakeguard.cli.inert import inert
from lakeguard.cli.output import colour
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


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """A spinner that names the stage on a terminal, one plain line elsewhere."""
    if not sys.stderr.isatty():
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
    if not sys.stderr.isatty():
        yield Board(None)
        return
    with _spinner("starting") as show:
        yield Board(show)


@contextmanager
def _spinner(first: str) -> Iterator[Callable[[str], None]]:
    """What is shown beside it can be changed; a note meanwhile stands above it."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, no_color=colour() is False, highlight=False)
    with console.status(_plain(first), spinner="dots") as status:
        _notes.append(lambda text: console.print(Text.from_ansi(text)))
        try:
            yield lambda text: status.update(_plain(text))
        finally:
            _notes.pop()


def warn(stage: str, facts: dict[str, Any]) -> None:
    """Tells a stage that went wrong, under the name of its dataset; of others, nothing."""
    if stage in WARNINGS:
        note(inert(WARNINGS[stage].format(**facts)))


def _plain(text: str) -> str:
    return text.replace("[", "\\[")


_notes: list[Callable[[str], None]] = []
"""Where notes go while a spinner turns."""


def note(text: str) -> None:
    """One line for the person who waits."""
    if _notes:
        _notes[-1](text)
    else:
        click.echo(text, err=True, color=colour())
