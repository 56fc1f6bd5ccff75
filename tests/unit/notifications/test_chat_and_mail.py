"""Alerts for people: Slack, Teams and mail."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_string

import pytest

from lakeguard.notifications.messages import message_of
from lakeguard.notifications.transports import (
    DeliveryFailed,
    Mail,
    Webhook,
    slack_body,
    teams_body,
)
from lakeguard.settings import MailSettings, SmtpSecurity
from tests.support.fakes.webhook_receiver import receiver
from tests.unit.notifications.test_choosing import ALERT

MESSAGE = message_of(ALERT.model_copy(update={"message": "1 <b> & 2\nof 3 rows"}), "team")


def test_slack_gets_text_without_markup_of_others_and_no_signature() -> None:
    with receiver() as hook:
        hook.signed = False
        Webhook(hook.url, "", 5, slack_body).send(MESSAGE, 5)
        (headers,) = hook.came
    assert "x-lakeguard-signature" not in headers
    assert headers["content-type"] == "application/json"
    text = hook.bodies[0]["text"]
    assert text.startswith(f"*{ALERT.kind.upper()}: {ALERT.dataset}*\n1 &lt;b&gt; &amp; 2\n")
    assert f"owner: {ALERT.owner}" in text
    assert "lakeguard why " in text


def test_teams_gets_a_card() -> None:
    card = json.loads(teams_body(MESSAGE))
    (attachment,) = card["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    blocks = attachment["content"]["body"]
    assert blocks[0]["text"] == f"{ALERT.kind.upper()}: {ALERT.dataset}"
    assert "1 <b> & 2" in [block["text"] for block in blocks]


@dataclass
class Server:
    """A mail server of this machine, for one mail; ``refuse`` answers a command with 550."""

    port: int = 0
    refuse: str = ""
    said: list[str] = field(default_factory=list)
    mail: str = ""


@contextmanager
def mail_server(refuse: str = "") -> Iterator[Server]:
    made = Server(refuse=refuse)

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rw", newline="\r\n") as stream:

            def say(text: str) -> None:
                stream.write(f"{text}\r\n")
                stream.flush()

            say("220 here")
            while line := stream.readline():
                word = line.split()[0].upper()
                made.said.append(line.strip())
                if made.refuse and word == made.refuse:
                    say("550 no")
                elif word == "EHLO":
                    say("250 here")
                elif word == "DATA":
                    say("354 go on")
                    lines = iter(stream.readline, ".\r\n")
                    made.mail = "".join(line.replace("\r\n", "\n") for line in lines)
                    say("250 ok")
                elif word == "QUIT":
                    say("221 bye")
                    return
                else:
                    say("250 ok")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        made.port = int(listening.getsockname()[1])
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        yield made
        thread.join(5)


def mail_of(port: int) -> Mail:
    settings = MailSettings(
        host="127.0.0.1",
        port=port,
        security=SmtpSecurity.NONE,
        sender="lakeguard@example.com",
        recipients=("team@example.com", "ada@example.com"),
    )
    return Mail(settings, "", 5)


def test_a_mail_names_what_happened_and_its_delivery() -> None:
    with mail_server() as server:
        mail_of(server.port).send(MESSAGE, 5)
    mail = message_from_string(server.mail)
    assert mail["Subject"] == f"[LakeGuard] {MESSAGE.title}"
    assert mail["Message-ID"] == f"<{MESSAGE.delivery}@lakeguard>"
    assert mail["To"] == "team@example.com, ada@example.com"
    assert "1 <b> & 2" in str(mail.get_payload())
    assert len([line for line in server.said if line.upper().startswith("RCPT")]) == 2


def test_a_refused_mail_is_told_apart_from_a_server_that_is_away() -> None:
    with mail_server(refuse="RCPT") as server, pytest.raises(DeliveryFailed) as refused:
        mail_of(server.port).send(MESSAGE, 5)
    assert refused.value.refused
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    with pytest.raises(DeliveryFailed, match="cannot be reached") as away:
        mail_of(port).send(MESSAGE, 5)
    assert not away.value.refused


def test_a_mail_server_that_says_nothing_is_waited_for_no_longer_than_told() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(DeliveryFailed, match=r"in time|reached"),
    ):
        mail_of(int(silent.getsockname()[1])).send(MESSAGE, 0.2)
