"""How the story is told, and how a story that goes otherwise is stopped."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.terminal.layout import indented, padded, strong
from lakeguard.cli.terminal.output import write_lines

STEPS = 6


class StoryBroken(Exception):
    """Something did not come out as told; the demo has failed."""


class Teller:
    """Numbers the steps of the story."""

    def __init__(self) -> None:
        self.step = 0

    def chapter(self, title: str, text: str = "") -> None:
        self.step += 1
        number = f"{self.step}/{STEPS}"
        write_lines([f"{strong(number)}  {padded(strong(title), 9)} {text}".rstrip()])

    def say(self, lines: Sequence[str]) -> None:
        write_lines(indented(lines, 5))


def expect(true: bool, told: str) -> None:
    """The story goes on only if what it tells is so."""
    if not true:
        raise StoryBroken(f"the story did not come out as told: {told}")
