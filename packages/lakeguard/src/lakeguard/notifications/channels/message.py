"""The message handed to a channel: the same bytes on every attempt."""

from __future__ import annotations

from dataclasses import dataclass

JSON = "application/json"


@dataclass(frozen=True)
class Message:
    """A notification for one channel.

    ``delivery`` is derived from the content, so a receiver can drop duplicates.
    """

    about: str
    """The source package; used as the logger's name."""
    delivery: str
    body: bytes
    """One JSON object on one line, without a newline."""
    serious: bool = False
    content_type: str = JSON
