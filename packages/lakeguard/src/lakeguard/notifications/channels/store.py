"""What a messenger tells from: news, and what became of it by each channel.

An implementer's checklist: ``untold`` is the oldest first, and only what is for the channel; it may
leave out what comes after the first ``most`` that no failure holds up; ``record`` refuses a second
attempt of one number, and a second success; ``message`` is the same bytes whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from lakeguard.notifications.channels.message import Message
from lakeguard.settings import ChannelSettings
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.notifications import Telling


class News(Protocol):
    """Something to tell."""

    @property
    def since(self) -> datetime:
        """When it came up."""

    @property
    def line(self) -> str:
        """News of one line is told in its order: what failed holds up what came after it."""


Told = TypeVar("Told", bound=News)
Channel = TypeVar("Channel", bound=ChannelSettings)
Found = TypeVar("Found", bound=News, covariant=True)
Asked = TypeVar("Asked", bound=ChannelSettings, contravariant=True)

Waiting = Sequence[tuple[Told, Telling | None]]
"""What a channel has not told, each with its last attempt."""


class Book(Protocol[Found, Asked]):
    @property
    def noun(self) -> str:
        """What one piece of its news is called."""

    def known(self, tx: Transaction) -> frozenset[str]:
        """Names of channels that are open."""

    def open(self, tx: Transaction, names: Sequence[str], at: datetime) -> None: ...
    def untold(
        self, tx: Transaction, channel: Asked, since: datetime, most: int | None = None
    ) -> Waiting[Found]: ...
    def record(self, tx: Transaction, news: Any, telling: Telling) -> None: ...
    def message(self, news: Any, channel: str) -> Message: ...
