"""Transports by channel type: file, log, webhook, Slack, Teams and mail.

Implementer's checklist: ``send`` ends within the given seconds, and raises ``DeliveryFailed`` on
any failure, with a reason that contains no secret and no address.
"""

from __future__ import annotations

import json
import logging
import os
import smtplib
import ssl
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import ClassVar, Protocol

from lakeguard.notifications.messages import Message
from lakeguard.settings import ChannelSettings, ChannelType, MailSettings, SmtpSecurity
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
    delivery id again. A chat service is given text, and no signature without a secret."""

    url: str
    secret: str
    timeout_seconds: float
    body_of: Callable[[Message], bytes] = lambda message: message.body
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
            body=self.body_of(message),
            content_type=message.content_type,
            clock=self.clock,
        )


# Chat transports: one POST to a secret address, in the form that the service shows to people.

_SLACK_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LONGEST_TEXT = 3_000


def slack_body(message: Message) -> bytes:
    """Text in Slack's own markup: a bold title, and no markup in what follows."""
    title, text = (_slack_text(part) for part in (message.title, _short(message.text)))
    return json.dumps({"text": f"*{title}*\n{text}"}).encode()


def teams_body(message: Message) -> bytes:
    """An adaptive card, as Teams workflows take it."""
    blocks = [
        {"type": "TextBlock", "text": message.title, "weight": "Bolder", "wrap": True},
        *(
            {"type": "TextBlock", "text": line, "wrap": True, "spacing": "Small"}
            for line in _short(message.text).splitlines()
            if line
        ),
    ]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": blocks,
    }
    kind = "application/vnd.microsoft.card.adaptive"
    attachment = {"contentType": kind, "contentUrl": None, "content": card}
    return json.dumps({"type": "message", "attachments": [attachment]}).encode()


def _slack_text(text: str) -> str:
    return "".join(_SLACK_ESCAPES.get(character, character) for character in text)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


# Mail transport.


@dataclass(frozen=True)
class Mail:
    """One mail per message; its id is the delivery's, so that servers can drop a duplicate."""

    settings: MailSettings
    password: str
    timeout_seconds: float
    recorded_first: ClassVar[bool] = False

    def send(self, message: Message, seconds: float) -> None:
        """The library limits single steps: a thread sends, and is left alone after the limit."""
        limit = max(0.001, min(seconds, self.timeout_seconds))
        answers: SimpleQueue[DeliveryFailed | None] = SimpleQueue()
        mail = self._mail(message)
        threading.Thread(
            target=lambda: answers.put(self._sent(mail, limit)), name="mail", daemon=True
        ).start()
        try:
            failure = answers.get(timeout=limit)
        except Empty:
            raise DeliveryFailed("it did not answer in time") from None
        if failure is not None:
            raise failure

    def _mail(self, message: Message) -> EmailMessage:
        mail = EmailMessage()
        mail["From"] = self.settings.sender
        mail["To"] = ", ".join(self.settings.recipients)
        mail["Subject"] = " ".join(f"[LakeGuard] {message.title}".split())
        mail["Message-ID"] = f"<{message.delivery}@lakeguard>"
        mail.set_content(message.text)
        return mail

    def _sent(self, mail: EmailMessage, seconds: float) -> DeliveryFailed | None:
        try:
            with self._server(seconds) as server:
                if self.settings.user:
                    server.login(self.settings.user, self.password)
                server.send_message(mail)
        except smtplib.SMTPAuthenticationError:
            return DeliveryFailed("it refused the login")
        except smtplib.SMTPRecipientsRefused:
            return DeliveryFailed("it refused every recipient", refused=True)
        except smtplib.SMTPResponseException as error:
            refused = error.smtp_code >= 500
            return DeliveryFailed(f"it answered {error.smtp_code}", refused=refused)
        except smtplib.SMTPException as error:
            return DeliveryFailed(f"it does not take mail: {type(error).__name__}")
        except ssl.SSLError as error:
            return DeliveryFailed(f"no trust in its certificate: {error.reason}")
        except OSError as error:
            return DeliveryFailed(f"it cannot be reached: {error.strerror or 'no answer'}")
        return None

    def _server(self, seconds: float) -> smtplib.SMTP:
        place = (self.settings.host, self.settings.port)
        trust = ssl.create_default_context()
        if self.settings.security is SmtpSecurity.TLS:
            return smtplib.SMTP_SSL(*place, timeout=seconds, context=trust)
        server = smtplib.SMTP(*place, timeout=seconds)
        if self.settings.security is SmtpSecurity.STARTTLS:
            server.starttls(context=trust)
        return server


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


_CHATS = {ChannelType.SLACK: slack_body, ChannelType.TEAMS: teams_body}


def transport_of(channel: ChannelSettings) -> Transport:
    """Raises ``SettingsError`` if a required secret or address is missing."""
    if channel.type is ChannelType.WEBHOOK:
        secret = "" if channel.secret is None else channel.secret.resolve()
        return Webhook(channel.resolve_url(), secret, channel.timeout_seconds)
    if channel.type in _CHATS:
        body_of = _CHATS[channel.type]
        return Webhook(channel.resolve_url(), "", channel.timeout_seconds, body_of)
    if channel.type is ChannelType.SMTP and channel.mail is not None:
        password = "" if channel.mail.password is None else channel.mail.password.resolve()
        return Mail(channel.mail, password, channel.timeout_seconds)
    if channel.type is ChannelType.FILE and channel.path is not None:
        return LinesFile(channel.path)
    return Log()
