"""The messenger: what came up goes out by every channel that it is for, once each."""

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
from lakeguard_sdk.model.notifications import ChannelTurn, Telling, TellingOutcome
from lakeguard_sdk.storage.fault_points import reached

BESIDE_SECONDS = 10.0
"""How long a command's news may take in all, whatever the channels do."""
_UNSEEN = timedelta(hours=1)
"""So long after it came up news may be committed, by a clock that may be another's."""
MOST_AT_ONCE = 1_000
"""News that is looked at where nobody asked; what came up later waits for the next turn."""
ASKED_SECONDS = 60.0
"""And how long where somebody waits for just that."""


@dataclass(eq=False)
class Messenger(Generic[Told, Channel]):
    """Of one organisation and its channels. Safe to call from many threads and processes: a
    channel is used by one of them at a time.

    A channel that fails is left alone for a moment, and costs a command one attempt at most.
    """

    state: OrganisationState
    book: Book[Told, Channel]
    channels: tuple[Channel, ...]
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _looked: dict[str, datetime] = field(default_factory=dict)
    """By channel: what came up before is told, or is not for it."""

    def open(self) -> None:
        """Channels that are new tell what comes up from now on."""
        names = {channel.name for channel in self.channels}
        if not names:
            return
        with self.state.read() as tx:
            new = names - self.book.known(tx)
        if new:
            with self.state.write() as tx:
                self.book.open(tx, sorted(new), tx.now())

    def is_idle(self) -> bool:
        """Whether there is nothing that a channel would try now."""
        return not any(self._due(channel) for channel in self.channels)

    def drain(self, threads: int = 1, until: float | None = None) -> list[ChannelTurn]:
        """Tell what is due, within a limited time; what is left waits for the next call."""
        seconds = BESIDE_SECONDS if until is None else min(BESIDE_SECONDS, until - time.monotonic())
        if seconds <= 0 or self.is_idle():
            return []
        return self.send(seconds=seconds, asked=False)

    def send(
        self, *, again: bool = False, seconds: float = ASKED_SECONDS, asked: bool = True
    ) -> list[ChannelTurn]:
        """Tell what waits. Where somebody ``asked``, no pause is kept; ``again`` tries also what
        was given up."""
        deadline = time.monotonic() + seconds

        def chosen(channel: Channel) -> Waiting[Told]:
            if not asked:
                return self._due(channel)
            return [item for item in self.waiting(channel) if again or not given_up(item[1])]

        if not self._turn.acquire(timeout=max(0.0, seconds)):  # another thread is at it
            return []
        try:
            turns = [self._turn_of(channel, chosen, deadline) for channel in self.channels]
            return [self._counted(*each, asked) for each in zip(self.channels, turns, strict=True)]
        finally:
            self._turn.release()

    def waiting(self, channel: Channel, most: int | None = None) -> Waiting[Told]:
        """What the channel has not told, the oldest first; also what it gave up. All of it, or
        about the first ``most`` that could be told."""
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
    ) -> ChannelTurn:
        """One process at a time: who comes second finds told what the first one told."""
        turn = ChannelTurn(channel=channel.name)
        name = f"{self.book.noun}s-{self.state.org_id}-{channel.name}"
        patience = max(0.0, min(channel.timeout_seconds, deadline - time.monotonic()))
        try:
            carrier = carrier_of(channel)
            with self.state.database.sole(name, patience) as alone:
                if alone:
                    turn = self._tell(channel, carrier, chosen(channel), deadline)
                else:
                    turn = _but(turn, problem="another process is using the channel")
        except SettingsError as error:  # no attempt: where the secret is, it may go through
            turn = _but(turn, problem=str(error))
        return turn

    def _counted(self, channel: Channel, turn: ChannelTurn, asked: bool) -> ChannelTurn:
        waiting = self.waiting(channel, None if asked else MOST_AT_ONCE)
        return _but(turn, waiting=sum(not given_up(last) for _, last in waiting))

    def _tell(
        self, channel: Channel, carrier: Carrier, waiting: Waiting[Told], deadline: float
    ) -> ChannelTurn:
        """In order. What a receiver refuses holds up its own line; any other failure, all."""
        turn, held = ChannelTurn(channel=channel.name), set[str]()
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
        self, channel: Channel, carrier: Carrier, news: Told, last: Telling | None, deadline: float
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
        """Whether it is this attempt that counts: who lost the channel without knowing it finds
        his attempt recorded by another."""
        outcome = TellingOutcome.SENT
        if failure is not None:
            spent = attempt >= channel.attempts
            outcome = TellingOutcome.DEAD if spent else TellingOutcome.FAILED
        telling = Telling(
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


def _but(turn: ChannelTurn, **changed: object) -> ChannelTurn:
    return turn.model_copy(update=changed)
