"""What a dispatcher says: one line for each turn that did something."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import click

from lakeguard.cli.inert import inert
from lakeguard.cli.layout import Tone, moment, plural, toned
from lakeguard_sdk.job import Ticked

_WORDS = {
    "scheduled": "scheduled",
    "triggered": "triggered",
    "refused": "refused",
    "retried": "queued again",
    "reaped": "left behind and ended",
    "dead": "dead",
    "invalidated": "launched to catch up",
    "told": "told",
    "delivered": "delivered",
}


@dataclass
class TurnTeller:
    """Lines for people go through ``note``; those for programs are JSON, one object each."""

    as_json: bool
    note: Callable[[str], None]
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def __call__(self, done: Ticked) -> None:
        if is_idle(done):
            return
        if self.as_json:
            said = {"at": self.clock().isoformat(), **done.to_data()}
            click.echo(json.dumps(said))
            return
        for line in turn_lines(done):
            self.note(f"{moment(self.clock())}  {line}")


def is_idle(done: Ticked) -> bool:
    """Whether the turn found nothing to do and nothing to say; a file that comes is no news yet."""
    return done == Ticked(settling=done.settling)


def turn_lines(done: Ticked) -> list[str]:
    counts = [
        f"{getattr(done, name):,} {word}" for name, word in _WORDS.items() if getattr(done, name)
    ]
    lines = [", ".join(counts)] if counts else []
    if done.settling:
        lines.append(f"{plural(done.settling, 'new file')}, perhaps still being written")
    return lines + [f"{toned('!', Tone.BAD)} {inert(said)}" for said in done.problems]
