"""Projects whose alerts go somewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lakeguard.notifications.alerts.store import AlertMessenger
from lakeguard.services.ports.alerts import EmbeddedAlerts
from lakeguard_sdk import Client, connect
from lakeguard_sdk.core.enums import Enforcement, PolicyType
from lakeguard_sdk.model.notifications import ChannelResult
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


def messenger(client: Client) -> AlertMessenger:
    assert isinstance(client.alerts, EmbeddedAlerts)
    return client.alerts.messenger


def drained(client: Client) -> list[ChannelResult]:
    """As a command does at its end."""
    return messenger(client).drain()


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Every line is whole."""
    if not file.exists():
        return []
    text = file.read_text()
    assert text == "" or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]
