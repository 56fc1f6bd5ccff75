"""Prints the demo step by step, and stops it if a step does not have the expected result."""

from __future__ import annotations

from collections.abc import Sequence

from lakeguard.cli.terminal.layout import indented, padded, strong
from lakeguard.cli.terminal.output import write_lines

STEPS = 6


class DemoFailed(Exception):
    """A step did not have the expected result."""


class Narrator:
    """Prints numbered steps."""

    def __init__(self) -> None:
        self.step = 0

    def step_title(self, title: str, text: str = "") -> None:
        self.step += 1
        number = f"{self.step}/{STEPS}"
        write_lines([f"{strong(number)}  {padded(strong(title), 9)} {text}".rstrip()])

    def lines(self, lines: Sequence[str]) -> None:
        write_lines(indented(lines, 5))


def expect(condition: bool, expected: str) -> None:
    """Raises unless the condition holds."""
    if not condition:
        raise DemoFailed(f"unexpected result; expected: {expected}")
