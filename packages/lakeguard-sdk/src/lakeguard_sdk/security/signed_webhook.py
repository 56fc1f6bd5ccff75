"""A signed webhook POST with a total timeout and without redirects."""

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
from lakeguard_sdk.security.outbound import outbound_client

if TYPE_CHECKING:
    import httpx

SIGNATURE = "X-LakeGuard-Signature"
TIMESTAMP = "X-LakeGuard-Timestamp"
DELIVERY = "X-LakeGuard-Delivery"
_LATER = (408, 425, 429)
_HEAD_TOO_LARGE = 431
_LATE = "it did not answer in time"


class NoAnswer(Exception):
    """No response; the reason contains no secret and no URL."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: bytes | None = b""
    """Empty if not requested; None if it is longer than requested."""

    @property
    def is_yes(self) -> bool:
        return 200 <= self.status < 300

    @property
    def may_pass(self) -> bool:
        """Whether a refused request may be retried."""
        return self.status >= 500 or self.status in _LATER


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """HMAC of timestamp and body, so that neither can be replaced."""
    signed = b".".join((timestamp.encode(), body))
    return "sha256=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class SignedPost:
    """``delivery`` identifies the message, so that a receiver can drop duplicates. An empty secret
    signs nothing."""

    url: str
    secret: str
    delivery: str
    body: bytes
    content_type: str = "application/json"
    clock: Callable[[], float] = time.time

    def send(self, seconds: float, *, most: int = 0) -> Answer:
        """The response within the timeout, with a body of at most ``most`` bytes; raises
        ``NoAnswer`` for any failure.

        httpx limits single steps, not their total, and nothing limits DNS lookups: a thread sends
        the request and is abandoned after the timeout.
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
        """No proxy and only the system's certificates, regardless of the environment."""
        secure = self.url.lower().startswith("https:")
        trust = ssl.create_default_context() if secure else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        return outbound_client(timeout=seconds, verify=trust)

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
        except Exception as error:  # noqa: BLE001 - any error means no response
            return NoAnswer(_reason(error))

    def _headers(self) -> dict[str, str]:
        headers = {
            "Accept-Encoding": "identity",
            "Content-Type": self.content_type,
            "User-Agent": "lakeguard",
            "Connection": "close",
            DELIVERY: self.delivery,
        }
        if not self.secret:
            return headers
        timestamp = str(int(self.clock()))
        signed = signature(self.secret, timestamp, self.body)
        return {**headers, TIMESTAMP: timestamp, SIGNATURE: signed}


def _body(response: httpx.Response, most: int) -> bytes | None:
    """The whole body; None if it is longer than ``most``."""
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
    """Without a URL: uses the operating system's message that httpx wraps."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return f"no trust in its certificate: {cause.reason}"
        if getattr(cause, "error_status_hint", None) == _HEAD_TOO_LARGE:
            return "response too large"
    texts = (cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror)
    return f"it cannot be reached: {next(texts, type(error).__name__)}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
