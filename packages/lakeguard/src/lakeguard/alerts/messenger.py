"""The messenger: what was raised goes out by every channel that it is for, once each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy.exc import IntegrityError

from lakeguard.alerts.carrying import Carrier, NotCarried, carrier_of
from lakeguard.alerts.choosing import KEPT, Waiting, due, is_for
from lakeguard.alerts.message import message_of
from lakeguard.ledger.alerts import known_channels, open_channels, record_telling, untold
from lakeguard.settings import ChannelSettings
from lakeguard.state.database import Database
from lakeguard_sdk.alerting import Alert, ChannelTurn, Telling, TellingOutcome
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.faultpoints import reached

BESIDE_SECONDS = 10.0
"""How long a command's alerts may take in all, whatever the channels do."""
_UNSEEN = timedelta(hours=1)
"""So long after it was raised an alert may be committed, by a clock that may be another's."""
ASKED_SECONDS = 60.0
"""And how long where somebody waits for just that."""


@dataclass(eq=False)
class Messenger:
    """Of one organisation and its channels. Safe to call from many threads and processes: a
    channel is used by one of them at a time.

    A channel that fails is left alone for a moment, and costs a command one attempt at most.
    """

    database: Database
    org_id: str
    clock: Callable[[], datetime]
    channels: tuple[ChannelSettings, ...]
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _looked: dict[str, datetime] = field(default_factory=dict)
    """By channel: what was raised before is told, or is not for it."""

    def open(self) -> None:
        """Channels that are new tell what is raised from now on."""
        names = {channel.name for channel in self.channels}
        if not names:
            return
        with self.database.read() as connection:
            new = names - known_channels(connection, self.org_id)
        if new:
            with self.database.write() as connection:
                open_channels(connection, self.org_id, sorted(new), self.clock())

    def is_idle(self) -> bool:
        """Whether there is nothing that a channel would try now."""
        return not any(due(self.waiting(channel), self.clock()) for channel in self.channels)

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

        def chosen(channel: ChannelSettings) -> Waiting:
            waiting = self.waiting(channel)
            if not asked:
                return due(waiting, self.clock())
            return waiting if again else [item for item in waiting if not _given_up(item[1])]

        if not self._turn.acquire(timeout=max(0.0, seconds)):  # another thread is at it
            return []
        try:
            return [self._turn_of(channel, chosen, deadline) for channel in self.channels]
        finally:
            self._turn.release()

    def waiting(self, channel: ChannelSettings) -> Waiting:
        """What the channel has not told, the oldest first; also what it gave up."""
        now = self.clock()
        since = max(now - KEPT, self._looked.get(channel.name, now - KEPT))
        with self.database.read() as connection:
            found = untold(
                connection,
                self.org_id,
                channel.name,
                since,
                kinds=channel.kinds,
                severities=channel.severities,
            )
        waiting = [(alert, last) for alert, last in found if is_for(channel, alert)]
        oldest = min((alert.raised_at for alert, _ in waiting), default=now)
        self._looked[channel.name] = oldest - _UNSEEN
        return waiting

    def _turn_of(
        self,
        channel: ChannelSettings,
        chosen: Callable[[ChannelSettings], Waiting],
        deadline: float,
    ) -> ChannelTurn:
        """One process at a time: who comes second finds told what the first one told."""
        sent = failed = 0
        problem: str | None = None
        name = f"alerts-{self.org_id}-{channel.name}"
        patience = max(0.0, min(channel.timeout_seconds, deadline - time.monotonic()))
        try:
            carrier = carrier_of(channel)
            with self.database.sole(name, patience) as alone:
                problem = None if alone else "another process is using the channel"
                for alert, last in chosen(channel) if alone else ():
                    if time.monotonic() >= deadline:
                        problem = problem or "there was no time for all of them"
                        break
                    failure = self._try(channel, carrier, alert, last, deadline)
                    sent, failed = sent + (failure is None), failed + (failure is not None)
                    problem = str(failure) if failure else problem
                    if failure and not failure.refused:
                        break
        except SettingsError as error:  # no attempt: where the secret is, it may go through
            problem = str(error)
        left = sum(not _given_up(last) for _, last in self.waiting(channel))
        return ChannelTurn(
            channel=channel.name, sent=sent, failed=failed, waiting=left, problem=problem
        )

    def _try(
        self,
        channel: ChannelSettings,
        carrier: Carrier,
        alert: Alert,
        last: Telling | None,
        deadline: float,
    ) -> NotCarried | None:
        attempt = 1 if last is None else last.attempts + 1
        message = message_of(alert, channel.name)
        if carrier.marked_first:
            if self._mark(channel, alert, attempt, None):
                carrier.carry(message, deadline - time.monotonic())
            reached("alert.carried")
            return None
        failure = None
        try:
            carrier.carry(message, deadline - time.monotonic())
        except NotCarried as error:
            failure = error
        reached("alert.carried")
        self._mark(channel, alert, attempt, failure)
        return failure

    def _mark(
        self, channel: ChannelSettings, alert: Alert, attempt: int, failure: NotCarried | None
    ) -> bool:
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
            tried_at=self.clock(),
            error=None if failure is None else str(failure),
        )
        try:
            with self.database.write() as connection:
                record_telling(connection, self.org_id, alert.alert_id, telling)
        except IntegrityError:
            return False
        reached("alert.marked")
        return True


def _given_up(last: Telling | None) -> bool:
    return last is not None and last.outcome is TellingOutcome.DEAD
