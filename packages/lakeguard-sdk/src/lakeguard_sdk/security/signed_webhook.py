"""One signed POST: no redirect, and never longer than it may take."""

from __future__ import annotations

import hashlib
import hmac
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from lakeguard_sdk.http_logging import unlogged

if TYPE_CHECKING:
    import httpx

SIGNATURE = "X-LakeGuard-Signature"
TIMESTAMP = "X-LakeGuard-Timestamp"
DELIVERY = "X-LakeGuard-Delivery"
_LATER = (408, 425, 429)
_HEAD_TOO_LARGE = 431
_LATE = "it did not answer in time"


class NoAnswer(Exception):
    """Why nobody answered; the reason holds no secret and no address."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes | None = b""
    """Empty where nobody asked for it; None where it is longer than what was asked for."""

    @property
    def is_yes(self) -> bool:
        return 200 <= self.status < 300

    @property
    def may_pass(self) -> bool:
        """Of a no: whether the same may be taken later."""
        return self.status >= 500 or self.status in _LATER


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Of the time and the body together: neither can be exchanged for another."""
    signed = b".".join((timestamp.encode(), body))
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class SignedPost:
    """``delivery`` is the same for the same message, so that a receiver can drop a repeat."""

    url: str
    secret: str
    delivery: str
    body: bytes
    content_type: str = "application/json"
    clock: Callable[[], float] = time.time

    def send(self, seconds: float, *, most: int = 0) -> Answer:
        """What the receiver answered within that time, with a body of at most so many bytes;
        ``NoAnswer`` for whatever went wrong.

        httpx limits each step and not all of them together, and nothing limits the lookup of a
        name: a thread asks, and is left behind where that takes too long.
        """
        client = self._client(max(seconds, 0.001))
        answers: SimpleQueue[Answer | NoAnswer] = SimpleQueue()

        def ask() -> None:
            answers.put(self._asked(client, most))

        try:
            threading.Thread(target=ask, name="signed post", daemon=True).start()
        except RuntimeError:  # from Python 3.12 on, none can be started when the process ends
            ask()
        try:
            found = answers.get(timeout=max(seconds, 0.0))
        except Empty:
            raise NoAnswer(_LATE) from None
        finally:
            client.close()  # ends a thread that still listens
        if isinstance(found, NoAnswer):
            raise found
        return found

    def _client(self, seconds: float) -> httpx.Client:
        """No proxy and no other certificates than the system's, whatever the environment says."""
        import httpx  # slow to load, and most commands send nothing

        secure = self.url.lower().startswith("https:")
        trust = ssl.create_default_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return httpx.Client(verify=trust, timeout=seconds, trust_env=False, follow_redirects=False)

    def _asked(self, client: httpx.Client, most: int) -> Answer | NoAnswer:
        import httpx

        headers = self._headers()
        try:
            with (
                unlogged(),
                client.stream("POST", self.url, content=self.body, headers=headers) as response,
            ):
                return Answer(response.status_code, _body(response, most) if most else b"")
        except (TimeoutError, httpx.TimeoutException):
            return NoAnswer(_LATE)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody answered
            return NoAnswer(_reason(error))

    def _headers(self) -> dict[str, str]:
        timestamp = str(int(self.clock()))
        return {
            "Accept-Encoding": "identity",
            "Content-Type": self.content_type,
            "User-Agent": "lakeguard",
            "Connection": "close",
            DELIVERY: self.delivery,
            TIMESTAMP: timestamp,
            SIGNATURE: signature(self.secret, timestamp, self.body),
        }


def _body(response: httpx.Response, most: int) -> bytes | None:
    """All of it, however its end is told; None where it is longer."""
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        return None
    body = b""
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > most:
            return None
    return body


def _reason(error: BaseException) -> str:
    """Without an address: httpx wraps what the system said, and that names none."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return f"no trust in its certificate: {cause.reason}"
        if getattr(cause, "error_status_hint", None) == _HEAD_TOO_LARGE:
            return "its answer has no end"
    said = (cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror)
    return f"it cannot be reached: {next(said, type(error).__name__)}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
