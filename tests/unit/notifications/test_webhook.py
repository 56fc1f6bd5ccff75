"""One POST to a real server: what arrives, and how long it may take."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lakeguard.notifications.messages import message_of
from lakeguard.notifications.transports import DeliveryFailed, Webhook
from tests.support.fakes.webhook_receiver import SECRET, receiver
from tests.unit.notifications.test_choosing import ALERT

MESSAGE = message_of(ALERT, "hook")


@contextmanager
def talker(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Answers a connection with these bytes again and again, until nobody listens."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def talk() -> None:
            connection, _ = server.accept()
            with connection:
                heard.append(connection.recv(65536))
                try:
                    while answer:
                        connection.sendall(answer)
                except OSError:
                    return

        thread = threading.Thread(target=talk)
        thread.start()
        yield int(server.getsockname()[1]), heard
        thread.join()


def test_what_arrives() -> None:
    with receiver() as hook:
        Webhook(f"{hook.url}?team=data", SECRET, 5, clock=lambda: 1767225600.9).send(MESSAGE, 5)
        (headers,) = hook.came
    assert headers["x-lakeguard-timestamp"] == "1767225600"
    assert headers["x-lakeguard-delivery"] == MESSAGE.delivery
    assert headers["content-type"] == "application/json"
    assert hook.bodies == [{**ALERT.to_data(), "delivery": MESSAGE.delivery}]


@pytest.mark.parametrize("status", [200, 201, 204, 299])
def test_what_is_success(status: int) -> None:
    with receiver(status) as hook:
        Webhook(hook.url, SECRET, 5).send(MESSAGE, 5)


@pytest.mark.parametrize(
    ("status", "refused"),
    [
        (301, False),
        (307, False),
        (400, True),
        (404, True),
        (408, False),
        (429, False),
        (503, False),
    ],
)
def test_what_is_not(status: int, refused: bool) -> None:
    with (
        receiver(status) as hook,
        pytest.raises(DeliveryFailed, match=f"answered {status}") as caught,
    ):
        Webhook(hook.url, SECRET, 5).send(MESSAGE, 5)
    assert caught.value.refused is refused
    assert len(hook.came) == 1, "no redirect is followed"


@pytest.mark.parametrize("silence", [-1, 0])
def test_the_time_is_for_all_of_it(silence: int) -> None:
    begun = time.monotonic()
    with receiver(silence) as hook, pytest.raises(DeliveryFailed, match="in time"):
        Webhook(hook.url, SECRET, 30).send(MESSAGE, 0.5)
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 100 Continue\r\n\r\n", b"x", b"\r\n", b""]
)
def test_an_answer_without_end_is_left(answer: bytes) -> None:
    """And one that is none is a failure, whatever it is."""
    begun = time.monotonic()
    with talker(answer) as (port, _), pytest.raises(DeliveryFailed):
        Webhook(f"http://127.0.0.1:{port}/", SECRET, 2).send(MESSAGE, 2)
    assert time.monotonic() - begun < 20


def test_its_address_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """An address may be a secret by itself."""
    with caplog.at_level(logging.DEBUG), receiver() as hook:
        Webhook(f"{hook.url}?key=hidden", SECRET, 5).send(MESSAGE, 5)
    assert len(hook.came) == 1
    assert "hidden" not in caplog.text


def test_no_proxy_of_the_environment_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    with receiver() as hook:
        Webhook(hook.url, SECRET, 5).send(MESSAGE, 5)
    assert len(hook.came) == 1


def test_no_word_is_said_to_who_does_not_prove_who_he_is() -> None:
    with talker(b"220 hello\r\n") as (port, heard), pytest.raises(DeliveryFailed):
        Webhook(f"https://127.0.0.1:{port}/alerts", SECRET, 2).send(MESSAGE, 2)
    assert b"blocked" not in b"".join(heard)


def test_a_name_that_nobody_has() -> None:
    with pytest.raises(DeliveryFailed, match="cannot be reached") as caught:
        Webhook("https://nobody.invalid/hidden", SECRET, 2).send(MESSAGE, 2)
    assert "hidden" not in str(caught.value)


def test_a_name_that_nobody_answers_for_takes_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lookup goes on, and the call does not wait for it."""
    asked, answered = threading.Event(), threading.Event()

    def never(*_: object, **__: object) -> list[object]:
        asked.set()
        answered.wait(60)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", never)
    try:
        with pytest.raises(DeliveryFailed, match="in time"):
            Webhook("https://slow.example/", SECRET, 1).send(MESSAGE, 0.1)
        assert asked.is_set()
        assert not answered.is_set()
    finally:
        answered.set()


def test_a_name_that_does_not_exist_is_told() -> None:
    with pytest.raises(DeliveryFailed, match="cannot be reached"):
        Webhook("https://nobody.invalid/", SECRET, 20).send(MESSAGE, 20)
