"""Projects whose alerts go somewhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from lakeguard.notifications.sender import NotificationSender
from lakeguard.services.ports.notifications import EmbeddedNotifications
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import Enforcement, PolicyType
from lakeguard_sdk.model.notifications import ChannelResult, Topic
from tests.support.lakes.policy_datasets import (
    decided,
    numbers,
    promise,
    world,
)

BLOCK = promise(PolicyType.OWNERSHIP, "owner in [others]")
ALERT = promise(PolicyType.OWNERSHIP, "owner in [others]", enforcement=Enforcement.ALERT)
SECRET_VARIABLE = "LAKEGUARD_TEST_HOOK"


def file_channel(path: str = "alerts.jsonl", **more: Any) -> str:
    return entry(type="file", path=path, **more)


def webhook(url: str, **more: Any) -> str:
    return entry(type="webhook", url=url, secret=f"env:{SECRET_VARIABLE}", **more)


def entry(**keys: Any) -> str:
    lines = (f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return "\n[[alerts.channel]]\n" + "".join(lines)


def add_channels(folder: Path, *entries: str) -> Client:
    """The project with these channels from now on."""
    file = folder / "lakeguard.toml"
    file.write_text("".join([file.read_text().partition("\n[[alerts")[0], *entries]))
    return connect(folder)


def blocking_world(folder: Path, *entries: str) -> Client:
    """Every run of its one dataset is blocked."""
    world(folder, numbers(), policies=(BLOCK,))
    return add_channels(folder, *entries)


def block(client: Client) -> str:
    """The id of a run that was blocked."""
    result, _, run_id = decided(client)
    assert result is not None
    return run_id


def alert_sender(client: Client) -> NotificationSender:
    return sender_of(client, Topic.ALERT)


def sender_of(client: Client, topic: Topic) -> NotificationSender:
    assert isinstance(client.notifications, EmbeddedNotifications)
    return client.notifications.senders[topic]


def drained(client: Client) -> list[ChannelResult]:
    """As a command does at its end."""
    return alert_sender(client).drain()


def lose_state(client: Client, folder: Path) -> None:
    """The project has an empty State from now on."""
    lost = alert_sender(client).state.database
    if lost.engine.dialect.name == "sqlite":
        lost.close()
        shutil.rmtree(folder / ".lakeguard")
    else:
        settings = folder / "lakeguard.toml"
        settings.write_text(settings.read_text().replace("lakeguard state", "rebuilt state"))


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Every line is whole."""
    if not file.exists():
        return []
    text = file.read_text()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]
