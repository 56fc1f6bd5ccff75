"""What carries a message out of the house, by the type of its channel.

An implementer's checklist: ``carry`` ends within the seconds it is given; it raises
``NotCarried`` for whatever goes wrong, with a reason that holds no secret and no address.
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

from lakeguard.notifications.channels.message import Message
from lakeguard.settings import ChannelSettings, ChannelType
from lakeguard.state.locks import sole_by_file
from lakeguard_sdk.security.signed_webhook import NoAnswer, SignedPost

# News in a file, one line each, whole lines only.

TAIL_BYTES = 1 << 20
_MODE = 0o644


@dataclass(frozen=True)
class LinesFile:
    """A line is in the file once: before it is written, it is looked for in the file's tail."""

    path: Path
    marked_first: ClassVar[bool] = False

    def carry(self, message: Message, seconds: float) -> None:
        lock = self.path.with_name(f"{self.path.name}.lock")
        try:
            with sole_by_file(lock, seconds) as alone:
                if not alone:
                    raise NotCarried("another process has been writing to the file")
                with _opened(self.path) as handle:
                    _append_once(handle, message)
        except OSError as error:
            raise NotCarried(f"the file cannot be written: {error.strerror}") from None


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """A plain file, at its end; a pipe would have us wait for whoever reads it."""
    new = not path.exists()
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
    handle = os.open(path, flags, _MODE)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise NotCarried("it is no plain file")
        if new:
            _keep_name(path.parent)
        yield handle
    finally:
        os.close(handle)


def _append_once(handle: int, message: Message) -> None:
    size = os.fstat(handle).st_size
    tail = os.pread(handle, min(size, TAIL_BYTES), max(0, size - TAIL_BYTES))
    if message.delivery.encode() in tail:
        os.fsync(handle)  # whoever wrote it may have died before he made sure of it
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
        raise NotCarried("the disk is full")
    os.fsync(handle)


def _keep_name(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


# News in the log of the process: standard error, unless the program set up logging itself.


@dataclass(frozen=True)
class Log:
    """One line for each message, never two: a log cannot be asked whether it has one."""

    marked_first: ClassVar[bool] = True

    def carry(self, message: Message, seconds: float) -> None:
        level = logging.ERROR if message.serious else logging.WARNING  # less is not shown
        logging.getLogger(f"lakeguard.{message.about}").log(level, "%s", message.body.decode())


# News by HTTP: one signed POST, and what its answer means.


@dataclass(frozen=True)
class Webhook:
    """What answers 2xx has the message. A receiver may get it twice, with the same delivery id,
    where a process died after the answer."""

    url: str
    secret: str
    timeout_seconds: float
    marked_first: ClassVar[bool] = False
    clock: Callable[[], float] = time.time

    def carry(self, message: Message, seconds: float) -> None:
        try:
            answer = self._post(message).send(min(seconds, self.timeout_seconds))
        except NoAnswer as error:
            raise NotCarried(str(error)) from None
        if not answer.is_yes:
            refused = answer.status >= 400 and not answer.may_pass
            raise NotCarried(f"it answered {answer.status}", refused=refused)

    def _post(self, message: Message) -> SignedPost:
        return SignedPost(
            url=self.url,
            secret=self.secret,
            delivery=message.delivery,
            body=message.body,
            content_type=message.content_type,
            clock=self.clock,
        )


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
        secret = "" if channel.secret is None else channel.secret.resolve()
        return Webhook(channel.resolve_url(), secret, channel.timeout_seconds)
    if channel.type is ChannelType.FILE and channel.path is not None:
        return LinesFile(channel.path)

    return Log()
