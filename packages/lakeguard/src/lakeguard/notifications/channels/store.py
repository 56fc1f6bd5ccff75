"""The store port of a sender: notifications and their deliveries per channel.

Implementer's checklist: ``untold`` returns the oldest first, only what matches the channel, and may
stop after the first ``most`` that no failure holds up; ``record`` refuses a second attempt with the
same number and a second success; ``message`` always returns the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol, TypeVar

from lakeguard.notifications.channels.message import Message
from lakeguard.settings import ChannelSettings
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.model.notifications import ChannelDelivery


class News(Protocol):
    """A notification."""

    @property
    def since(self) -> datetime:
        """When it was raised."""

    @property
    def line(self) -> str:
        """Notifications of one sequence are sent in order: a failure holds up those after it."""


Told = TypeVar("Told", bound=News)
Channel = TypeVar("Channel", bound=ChannelSettings)
Found = TypeVar("Found", bound=News, covariant=True)
Asked = TypeVar("Asked", bound=ChannelSettings, contravariant=True)

Waiting = Sequence[tuple[Told, ChannelDelivery | None]]
"""Unsent notifications of a channel, each with its last attempt."""


class Book(Protocol[Found, Asked]):
    @property
    def noun(self) -> str:
        """What a notification is called in messages."""

    def known(self, tx: Transaction) -> frozenset[str]:
        """Names of open channels."""

    def open(self, tx: Transaction, names: Sequence[str], at: datetime) -> None: ...
    def untold(
        self, tx: Transaction, channel: Asked, since: datetime, most: int | None = None
    ) -> Waiting[Found]: ...
    def record(self, tx: Transaction, news: Any, telling: ChannelDelivery) -> None: ...
    def message(self, news: Any, channel: str) -> Message: ...
