"""What carries a message out of the house, by the type of its channel.

An implementer's checklist: ``carry`` ends within the seconds it is given; it raises
``NotCarried`` for whatever goes wrong, with a reason that holds no secret and no address.
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from lakeguard.settings import ChannelSettings, ChannelType
from lakeguard.telling.message import Message


class NotCarried(Exception):
    """``refused``: this message is not taken; others may be."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        self.refused = refused
        super().__init__(reason)


class Carrier(Protocol):
    marked_first: ClassVar[bool]
    """Whether news counts as told before it is: what nobody can look up afterwards would
    otherwise be told twice by a process that was killed in between."""

    def carry(self, message: Message, seconds: float) -> None: ...


def carrier_of(channel: ChannelSettings) -> Carrier:
    """``SettingsError`` where a secret or an address that it needs is not there now."""
    if channel.type is ChannelType.WEBHOOK:
        from lakeguard.telling.webhook import Webhook

        secret = "" if channel.secret is None else channel.secret.resolve()
        return Webhook(channel.resolve_url(), secret, channel.timeout_seconds)
    if channel.type is ChannelType.FILE and channel.path is not None:
        from lakeguard.telling.lines import LinesFile

        return LinesFile(channel.path)
    from lakeguard.telling.log import Log

    return Log()
