"""Sends notifications through every matching channel, once each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.exc import IntegrityError

from lakeguard.ledger.notifications.store import (
    Undelivered,
    known_channels,
    open_channels,
    record_delivery,
    undelivered,
)
from lakeguard.notifications.filters import RETENTION, Channel, matches
from lakeguard.notifications.messages import message_of
from lakeguard.settings import AlertChannel, ChannelSettings, Settings
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.model.notifications import (
    ChannelDelivery,
    ChannelResult,
    DeliveryOutcome,
    Notification,
    Topic,
)
from lakeguard_sdk.storage.fault_points import reached

if TYPE_CHECKING:
    from lakeguard.notifications.transports import DeliveryFailed, Transport

DRAIN_SECONDS = 10.0
"""Time limit in seconds for all notifications of a command."""
SEND_SECONDS = 60.0
"""Time limit in seconds when a user waits for the delivery."""
MOST_AT_ONCE = 1_000
"""Notifications per unattended round; later ones wait for the next."""
_COMMIT_DELAY = timedelta(hours=1)
"""A notification may be committed this long after its timestamp, allowing for clock skew."""


@dataclass(eq=False)
class NotificationSender:
    """The sender of one organisation and topic.

    Thread- and process-safe: a channel has one user at a time. A failing channel pauses, and costs
    a command at most one attempt.
    """

    state: OrganisationState
    topic: Topic
    channels: tuple[Channel, ...]
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _delivered_until: dict[str, datetime] = field(default_factory=dict)
    """By channel: everything before this time was sent or is not for it."""

    def open(self) -> None:
        """Open new channels: they send notifications from now on."""
        names = {channel.name for channel in self.channels}
        if not names:
            return
        with self.state.read() as tx:
            new = names - known_channels(tx, self.topic)
        if new:
            with self.state.write() as tx:
                open_channels(tx, self.topic, sorted(new), tx.now())

    def is_idle(self) -> bool:
        """Whether no channel has anything to try now."""
        return not any(self._due(channel) for channel in self.channels)

    def drain(self, threads: int = 1, until: float | None = None) -> list[ChannelResult]:
        """Send what is due within a time limit; the rest waits for the next call."""
        seconds = DRAIN_SECONDS if until is None else min(DRAIN_SECONDS, until - time.monotonic())
        if seconds <= 0 or self.is_idle():
            return []
        return self.send(seconds=seconds, asked=False)

    def send_due(self) -> int:
        """Send what is due within a time limit; return how many were sent."""
        return sum(result.sent for result in self.drain())

    def send(
        self, *, again: bool = False, seconds: float = SEND_SECONDS, asked: bool = True
    ) -> list[ChannelResult]:
        """Send what waits. ``asked`` ignores pauses; ``again`` also retries what was given up."""
        deadline = time.monotonic() + seconds

        def chosen(channel: Channel) -> Undelivered:
            if not asked:
                return self._due(channel)
            return [item for item in self.waiting(channel) if again or not given_up(item[1])]

        if not self._lock.acquire(timeout=max(0.0, seconds)):  # another thread is sending
            return []
        try:
            results = [self._use(channel, chosen, deadline) for channel in self.channels]
            both = zip(self.channels, results, strict=True)
            return [self._counted(channel, result, asked) for channel, result in both]
        finally:
            self._lock.release()

    def waiting(self, channel: Channel, most: int | None = None) -> Undelivered:
        """Unsent notifications of the channel, oldest first, including those given up; all, or
        about the first ``most`` that can be sent."""
        now = self.state.clock()
        oldest = now - RETENTION
        since = max(oldest, self._delivered_until.get(channel.name, oldest))
        with self.state.read() as tx:
            waiting = undelivered(
                tx,
                self.topic,
                channel.name,
                since,
                kinds=channel.kinds,
                severities=channel.severities if isinstance(channel, AlertChannel) else (),
                matches=partial(matches, channel),
                most=most,
            )
        first = min((notification.raised_at for notification, _ in waiting), default=now)
        self._delivered_until[channel.name] = first - _COMMIT_DELAY
        return waiting

    def _due(self, channel: Channel) -> Undelivered:
        return due(channel, self.waiting(channel, MOST_AT_ONCE), self.state.clock())

    def _use(
        self, channel: Channel, chosen: Callable[[Channel], Undelivered], deadline: float
    ) -> ChannelResult:
        """One process at a time: a second one finds the first one's attempts recorded."""
        from lakeguard.notifications.transports import transport_of  # HTTP and mail

        result = ChannelResult(channel=channel.name)
        name = f"{self.topic}s-{self.state.org_id}-{channel.name}"
        patience = max(0.0, min(channel.timeout_seconds, deadline - time.monotonic()))
        try:
            transport = transport_of(channel)
            with self.state.database.sole(name, patience) as alone:
                if alone:
                    return self._send_all(channel, transport, chosen(channel), deadline)
                return _changed(result, problem="another process is using the channel")
        except SettingsError as error:  # not an attempt: another machine may have the secret
            return _changed(result, problem=str(error))

    def _counted(self, channel: Channel, result: ChannelResult, asked: bool) -> ChannelResult:
        waiting = self.waiting(channel, None if asked else MOST_AT_ONCE)
        return _changed(result, waiting=sum(not given_up(last) for _, last in waiting))

    def _send_all(
        self, channel: Channel, transport: Transport, waiting: Undelivered, deadline: float
    ) -> ChannelResult:
        """Send in order. A refusal holds up its own sequence; any other failure, the channel."""
        result, held = ChannelResult(channel=channel.name), set[str]()
        for notification, last in waiting:
            if notification.sequence in held:
                continue
            if time.monotonic() >= deadline:
                return _changed(
                    result, problem=result.problem or "there was no time for all of them"
                )
            failure = self._send_one(channel, transport, notification, last, deadline)
            if failure is None:
                result = _changed(result, sent=result.sent + 1)
                continue
            result = _changed(result, failed=result.failed + 1, problem=str(failure))
            if not failure.refused:
                return result
            held.add(notification.sequence)
        return result

    def _send_one(
        self,
        channel: Channel,
        transport: Transport,
        notification: Notification,
        last: ChannelDelivery | None,
        deadline: float,
    ) -> DeliveryFailed | None:
        from lakeguard.notifications.transports import DeliveryFailed

        attempt = 1 if last is None else last.attempts + 1
        message = message_of(notification, channel.name)
        if transport.recorded_first:
            if self._record(channel, notification, attempt, None):
                transport.send(message, deadline - time.monotonic())
            reached("notification.sent")
            return None
        failure = None
        try:
            transport.send(message, deadline - time.monotonic())
        except DeliveryFailed as error:
            failure = error
        reached("notification.sent")
        self._record(channel, notification, attempt, failure)
        return failure

    def _record(
        self,
        channel: Channel,
        notification: Notification,
        attempt: int,
        failure: DeliveryFailed | None,
    ) -> bool:
        """Record the attempt; False if another process, having taken the channel over, recorded it
        first."""
        outcome = DeliveryOutcome.SENT
        if failure is not None:
            spent = attempt >= channel.attempts
            outcome = DeliveryOutcome.DEAD if spent else DeliveryOutcome.FAILED
        delivery = ChannelDelivery(
            channel=channel.name,
            outcome=outcome,
            attempts=attempt,
            tried_at=self.state.clock(),
            error=None if failure is None else str(failure),
        )
        try:
            with self.state.write() as tx:
                record_delivery(tx, notification.notification_id, delivery)
        except IntegrityError:
            return False
        reached("notification.recorded")
        return True


def _changed(result: ChannelResult, **fields: object) -> ChannelResult:
    return result.model_copy(update=fields)


# When a channel retries a failed delivery. Pure.


def pause_after(channel: ChannelSettings, attempts: int) -> timedelta:
    """Delay after an attempt: threefold each time, up to the channel's maximum."""
    backoff = Backoff(channel.pause_seconds, channel.longest_pause_seconds, factor=3)
    return timedelta(seconds=backoff.after(attempts))


def due(channel: ChannelSettings, waiting: Undelivered, now: datetime) -> Undelivered:
    """What a channel tries now, each sequence in order.

    After a failure the channel pauses; notifications raised since then are tried anyway, because
    the next process may be long in coming.
    """
    failed_at = max((last.tried_at for _, last in waiting if last is not None), default=None)
    paused = failed_at is not None and _within(now, failed_at, pause_after(channel, 1))
    held, found = set[str](), list[tuple[Notification, ChannelDelivery | None]]()
    for notification, last in waiting:
        waits = paused and failed_at is not None and notification.raised_at <= failed_at
        if notification.sequence not in held and not waits and _is_due(channel, last, now):
            found.append((notification, last))
        elif not given_up(last):
            held.add(notification.sequence)
    return found


def given_up(last: ChannelDelivery | None) -> bool:
    return last is not None and last.outcome is DeliveryOutcome.DEAD


def _is_due(channel: ChannelSettings, last: ChannelDelivery | None, now: datetime) -> bool:
    """Whether it was never tried, or its delay has passed."""
    if last is None:
        return True
    paused = _within(now, last.tried_at, pause_after(channel, last.attempts))
    return last.outcome is DeliveryOutcome.FAILED and not paused


def _within(now: datetime, begin: datetime, pause: timedelta) -> bool:
    """Whether the pause still lasts; one that begins in the future is of a clock that was wrong."""
    return begin <= now < begin + pause


# Senders of a project.


def senders_of(state: OrganisationState, settings: Settings) -> dict[Topic, NotificationSender]:
    return {
        Topic.ALERT: NotificationSender(state, Topic.ALERT, settings.alert_channels),
        Topic.EVENT: NotificationSender(state, Topic.EVENT, settings.event_channels),
    }
