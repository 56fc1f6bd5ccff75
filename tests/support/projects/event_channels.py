"""Projects whose events go somewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lakeguard.notifications.sender import NotificationSender
from lakeguard_sdk import Client, connect
from lakeguard_sdk.model.notifications import ChannelResult, Topic
from tests.support.lakes.policy_datasets import numbers, world
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.alert_channels import SECRET_VARIABLE, entry, sender_of


def listener(**keys: Any) -> str:
    return entry(**keys).replace("alerts", "events")


def file_listener(path: str = "events.jsonl", **more: Any) -> str:
    return listener(type="file", path=path, **more)


def web_listener(url: str, **more: Any) -> str:
    return listener(type="webhook", url=url, secret=f"env:{SECRET_VARIABLE}", **more)


def listened_world(folder: Path, *entries: str) -> Client:
    """One dataset of numbers; what happens to it is told."""
    world(folder, numbers())
    file = folder / "lakeguard.toml"
    file.write_text("".join([file.read_text(), *entries]))
    return connect(folder)


def publish(client: Client, *rows: int) -> str:
    """The id of a run that published."""
    return run_by_hand(client, list(rows or (1, 2))).run_id


def event_sender(client: Client) -> NotificationSender:
    return sender_of(client, Topic.EVENT)


def drained(client: Client) -> list[ChannelResult]:
    """As a command does at its end."""
    return event_sender(client).drain()
