"""Telling: how far a channel has got with what is to be told."""

from __future__ import annotations

from enum import StrEnum

from lakeguard_sdk.noun import Instant, Noun


class TellingOutcome(StrEnum):
    """What one attempt to tell something came to."""

    SENT = "sent"
    FAILED = "failed"
    """It is tried again later."""
    DEAD = "dead"
    """It was tried as often as the channel allows."""


class Telling(Noun):
    """How far one channel has got with a piece of news."""

    channel: str
    outcome: TellingOutcome
    attempts: int
    tried_at: Instant
    error: str | None = None


class ChannelTurn(Noun):
    """What a channel did when it was its turn."""

    channel: str
    sent: int = 0
    failed: int = 0
    waiting: int = 0
    """What it has still to tell; what it gave up is not counted."""
    problem: str | None = None
    """Why it did not, or not all."""
