"""Sends notifications through every matching channel, once each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic

from sqlalchemy.exc import IntegrityError

from lakeguard.notifications.channels.backoff import KEPT, due, given_up
from lakeguard.notifications.channels.store import (
    Book,
    Channel,
    Told,
    Waiting,
)
from lakeguard.notifications.channels.transports import Carrier, NotCarried, carrier_of
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.model.notifications import ChannelDelivery, ChannelResult, DeliveryOutcome
from lakeguard_sdk.storage.fault_points import reached

BESIDE_SECONDS = 10.0
"""Time limit in seconds for all notifications of a command."""
_UNSEEN = timedelta(hours=1)
"""A notification may be committed this long after its timestamp, allowing for clock skew."""
MOST_AT_ONCE = 1_000
"""Notifications per unattended round; later ones wait for the next."""
ASKED_SECONDS = 60.0
"""Time limit in seconds when a user waits for the delivery."""


@dataclass(eq=False)
class Messenger(Generic[Told, Channel]):
    """The sender of one organisation. Thread- and process-safe: a channel has one user at a time.

    A failing channel pauses, and costs a command at most one attempt.
    """

    state: OrganisationState
    book: Book[Told, Channel]
    channels: tuple[Channel, ...]
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _looked: dict[str, datetime] = field(default_factory=dict)
    """By channel: everything before this time was sent or is not for it."""

    def open(self) -> None:
        """Open new channels: they send notifications from now on."""
        names = {channel.name for channel in self.channels}
        if not names:
            return
        with self.state.read() as tx:
            new = names - self.book.known(tx)
        if new:
            with self.state.write() as tx:
                self.book.open(tx, sorted(new), tx.now())

    def is_idle(self) -> bool:
        """Whether no channel has anything to try now."""
        return not any(self._due(channel) for channel in self.channels)

    def drain(self, threads: int = 1, until: float | None = None) -> list[ChannelResult]:
        """Send what is due within a time limit; the rest waits for the next call."""
        seconds = BESIDE_SECONDS if until is None else min(BESIDE_SECONDS, until - time.monotonic())
        if seconds <= 0 or self.is_idle():
            return []
        return self.send(seconds=seconds, asked=False)

    def send(
        self, *, again: bool = False, seconds: float = ASKED_SECONDS, asked: bool = True
    ) -> list[ChannelResult]:
        """Send what waits. ``asked`` ignores pauses; ``again`` also retries what was given up."""
        deadline = time.monotonic() + seconds

        def chosen(channel: Channel) -> Waiting[Told]:
            if not asked:
                return self._due(channel)
            return [item for item in self.waiting(channel) if again or not given_up(item[1])]

        if not self._turn.acquire(timeout=max(0.0, seconds)):  # another thread is sending
            return []
        try:
            turns = [self._turn_of(channel, chosen, deadline) for channel in self.channels]
            return [self._counted(*each, asked) for each in zip(self.channels, turns, strict=True)]
        finally:
            self._turn.release()

    def waiting(self, channel: Channel, most: int | None = None) -> Waiting[Told]:
        """Unsent notifications of the channel, oldest first, including those given up; all, or
        about the first ``most`` that can be sent."""
        now = self.state.clock()
        since = max(now - KEPT, self._looked.get(channel.name, now - KEPT))
        with self.state.read() as tx:
            waiting = self.book.untold(tx, channel, since, most)
        oldest = min((news.since for news, _ in waiting), default=now)
        self._looked[channel.name] = oldest - _UNSEEN
        return waiting

    def _due(self, channel: Channel) -> Waiting[Told]:
        return due(channel, self.waiting(channel, MOST_AT_ONCE), self.state.clock())

    def _turn_of(
        self, channel: Channel, chosen: Callable[[Channel], Waiting[Told]], deadline: float
    ) -> ChannelResult:
        """One process at a time: a second one finds the first one's attempts recorded."""
        turn = ChannelResult(channel=channel.name)
        name = f"{self.book.noun}s-{self.state.org_id}-{channel.name}"
        patience = max(0.0, min(channel.timeout_seconds, deadline - time.monotonic()))
        try:
            carrier = carrier_of(channel)
            with self.state.database.sole(name, patience) as alone:
                if alone:
                    turn = self._tell(channel, carrier, chosen(channel), deadline)
                else:
                    turn = _but(turn, problem="another process is using the channel")
        except SettingsError as error:  # not an attempt: another machine may have the secret
            turn = _but(turn, problem=str(error))
        return turn

    def _counted(self, channel: Channel, turn: ChannelResult, asked: bool) -> ChannelResult:
        waiting = self.waiting(channel, None if asked else MOST_AT_ONCE)
        return _but(turn, waiting=sum(not given_up(last) for _, last in waiting))

    def _tell(
        self, channel: Channel, carrier: Carrier, waiting: Waiting[Told], deadline: float
    ) -> ChannelResult:
        """Send in order. A refusal holds up its own sequence; any other failure, the channel."""
        turn, held = ChannelResult(channel=channel.name), set[str]()
        for news, last in waiting:
            if news.line in held:
                continue
            if time.monotonic() >= deadline:
                return _but(turn, problem=turn.problem or "there was no time for all of them")
            failure = self._try(channel, carrier, news, last, deadline)
            if failure is None:
                turn = _but(turn, sent=turn.sent + 1)
                continue
            turn = _but(turn, failed=turn.failed + 1, problem=str(failure))
            if not failure.refused:
                return turn
            held.add(news.line)
        return turn

    def _try(
        self,
        channel: Channel,
        carrier: Carrier,
        news: Told,
        last: ChannelDelivery | None,
        deadline: float,
    ) -> NotCarried | None:
        attempt = 1 if last is None else last.attempts + 1
        message = self.book.message(news, channel.name)
        if carrier.marked_first:
            if self._mark(channel, news, attempt, None):
                carrier.carry(message, deadline - time.monotonic())
            reached(f"{self.book.noun}.carried")
            return None
        failure = None
        try:
            carrier.carry(message, deadline - time.monotonic())
        except NotCarried as error:
            failure = error
        reached(f"{self.book.noun}.carried")
        self._mark(channel, news, attempt, failure)
        return failure

    def _mark(self, channel: Channel, news: Told, attempt: int, failure: NotCarried | None) -> bool:
        """Record the attempt; False if another process, having taken the channel over, recorded it
        first."""
        outcome = DeliveryOutcome.SENT
        if failure is not None:
            spent = attempt >= channel.attempts
            outcome = DeliveryOutcome.DEAD if spent else DeliveryOutcome.FAILED
        telling = ChannelDelivery(
            channel=channel.name,
            outcome=outcome,
            attempts=attempt,
            tried_at=self.state.clock(),
            error=None if failure is None else str(failure),
        )
        try:
            with self.state.write() as tx:
                self.book.record(tx, news, telling)
        except IntegrityError:
            return False
        reached(f"{self.book.noun}.marked")
        return True


def _but(turn: ChannelResult, **changed: object) -> ChannelResult:
    return turn.model_copy(update=changed)
