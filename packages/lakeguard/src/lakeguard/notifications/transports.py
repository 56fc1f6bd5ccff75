"""Transports by channel type: file, log and webhook.

Implementer's checklist: ``send`` ends within the given seconds, and raises ``DeliveryFailed`` on
any failure, with a reason that contains no secret and no address.
"""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from lakeguard.notifications.messages import Message
from lakeguard.settings import ChannelSettings, ChannelType
from lakeguard.state.locks import sole_by_file
from lakeguard_sdk.security.signed_webhook import NoAnswer, SignedPost

# File transport: one line per message.

TAIL_BYTES = 1 << 20
_MODE = 0o644


@dataclass(frozen=True)
class LinesFile:
    """Append a line once: the file's tail is searched for it first."""

    path: Path
    recorded_first: ClassVar[bool] = False

    def send(self, message: Message, seconds: float) -> None:
        lock = self.path.with_name(f"{self.path.name}.lock")
        try:
            with sole_by_file(lock, seconds) as alone:
                if not alone:
                    raise DeliveryFailed("another process has been writing to the file")
                with _opened(self.path) as handle:
                    _append_once(handle, message)
        except OSError as error:
            raise DeliveryFailed(f"the file cannot be written: {error.strerror}") from None


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a regular file for appending; a pipe would block until read."""
    new = not path.exists()
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
    handle = os.open(path, flags, _MODE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise DeliveryFailed("it is no plain file")
        if new:
            _keep_name(path.parent)
        yield handle
    finally:
        os.close(handle)


def _append_once(handle: int, message: Message) -> None:
    size = os.fstat(handle).st_size
    tail = os.pread(handle, min(size, TAIL_BYTES), max(0, size - TAIL_BYTES))
    if message.delivery.encode() in tail:
        os.fsync(handle)  # the process that wrote it may have died before fsync
        return
    begun = b"\n" if tail and not tail.endswith(b"\n") else b""
    line = begun + message.body + b"\n"
    written = 0
    try:
        written = os.write(handle, line)
    finally:
        if written != len(line):
            os.ftruncate(handle, size)
    if written != len(line):
        raise DeliveryFailed("the disk is full")
    os.fsync(handle)


def _keep_name(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# Log transport: standard error, unless the program configured logging.


@dataclass(frozen=True)
class Log:
    """At most one line per message: a log cannot be searched for duplicates."""

    recorded_first: ClassVar[bool] = True

    def send(self, message: Message, seconds: float) -> None:
        level = logging.ERROR if message.serious else logging.WARNING  # lower levels are not shown
        logging.getLogger(message.logger).log(level, "%s", message.body.decode())


# Webhook transport: one signed POST.


@dataclass(frozen=True)
class Webhook:
    """2xx means delivered. If the process dies after the response, the receiver gets the same
    delivery id again."""

    url: str
    secret: str
    timeout_seconds: float
    recorded_first: ClassVar[bool] = False
    clock: Callable[[], float] = time.time

    def send(self, message: Message, seconds: float) -> None:
        try:
            answer = self._post(message).send(min(seconds, self.timeout_seconds))
        except NoAnswer as error:
            raise DeliveryFailed(str(error)) from None
        if not answer.is_yes:
            refused = answer.status >= 400 and not answer.may_pass
            raise DeliveryFailed(f"it answered {answer.status}", refused=refused)

    def _post(self, message: Message) -> SignedPost:
        return SignedPost(
            url=self.url,
            secret=self.secret,
            delivery=message.delivery,
            body=message.body,
            content_type=message.content_type,
            clock=self.clock,
        )


class DeliveryFailed(Exception):
    """``refused``: the receiver rejects this message; others may succeed."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        self.refused = refused
        super().__init__(reason)


class Transport(Protocol):
    recorded_first: ClassVar[bool]
    """Whether an attempt is recorded before sending: a log cannot be checked afterwards, so a
    killed process would otherwise send twice."""

    def send(self, message: Message, seconds: float) -> None: ...


def transport_of(channel: ChannelSettings) -> Transport:
    """Raises ``SettingsError`` if a required secret or address is missing."""
    if channel.type is ChannelType.WEBHOOK:
        secret = "" if channel.secret is None else channel.secret.resolve()
        return Webhook(channel.resolve_url(), secret, channel.timeout_seconds)
    if channel.type is ChannelType.FILE and channel.path is not None:
        return LinesFile(channel.path)
    return Log()
