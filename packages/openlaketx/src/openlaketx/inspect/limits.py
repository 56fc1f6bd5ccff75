"""How much is looked at: enough to propose, little enough to wait for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    files: int = 20
    rows: int = 200_000
    """Of each file, from its beginning."""


LIMITS = Limits()
