"""What a channel is handed: the same bytes however often something is tried."""

from __future__ import annotations

from dataclasses import dataclass

JSON = "application/json"


@dataclass(frozen=True)
class Message:
    """A piece of news on its way by one channel.

    ``delivery`` is made of what is told, so that a receiver who has seen it can drop a repeat; no
    other news has it.
    """

    about: str
    """The room that it comes from; its log is named so."""
    delivery: str
    body: bytes
    """One JSON object in one line, without the line end."""
    serious: bool = False
    content_type: str = JSON
