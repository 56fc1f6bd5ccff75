"""``lakeguard notifications``: the commands of alerts and events, over both topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import Client
from tests.support.projects.alert_channels import (
    add_channels,
    block,
    blocking_world,
    file_channel,
    lines_of,
)
from tests.support.projects.event_channels import file_listener
from tests.support.projects.shell import Shell


@pytest.fixture
def client(tmp_path: Path) -> Client:
    """One blocked run: an alert, and the event of its end, each with a channel named ``file``."""
    blocking_world(tmp_path)
    client = add_channels(tmp_path, file_channel(), file_listener())
    block(client)
    return client


@pytest.mark.usefixtures("client")
def test_both_topics_are_listed_and_one_can_be_chosen(shell: Shell, tmp_path: Path) -> None:
    place = ("--project", tmp_path)
    listed = shell("notifications", "list", *place).out
    assert ["TOPIC" in listed, "blocked" in listed, "run.ended" in listed] == [True] * 3

    def topics(*options: str) -> list[str]:
        result = shell("notifications", "list", "--json", *options, *place)
        return [next(iter(row)) for row in result.data["notifications"]]

    assert sorted(topics()) == ["alert", "event"]
    assert topics("--topic", "alert") == topics("--kind", "blocked") == ["alert"]
    assert topics("--topic", "event") == topics("--kind", "run.ended") == ["event"]
    assert len(topics("--limit", "1")) == 1


def test_one_topic_is_listed_as_by_its_own_command(
    client: Client, shell: Shell, tmp_path: Path
) -> None:
    client.close()
    for topic in ("alert", "event"):
        place = ("--project", tmp_path)
        own = shell(f"{topic}s", "list", *place).out
        assert shell("notifications", "list", "--topic", topic, *place).out == own
        rows = shell("notifications", "list", "--topic", topic, "--json", *place).data
        assert (
            rows["notifications"] == shell(f"{topic}s", "list", "--json", *place).data[f"{topic}s"]
        )


@pytest.mark.usefixtures("client")
def test_both_topics_are_sent(shell: Shell, tmp_path: Path) -> None:
    result = shell("notifications", "send", "--json", "--project", tmp_path)
    sent = [(each["topic"], each["channel"], each["sent"]) for each in result.data["channels"]]
    assert sent == [("alert", "file", 1), ("event", "file", 1)]
    assert [len(lines_of(tmp_path / f"{name}.jsonl")) for name in ("alerts", "events")] == [1, 1]


def test_one_topic_is_sent(shell: Shell, tmp_path: Path) -> None:
    blocking_world(tmp_path)
    add_channels(tmp_path, file_channel(), file_listener())
    result = shell("notifications", "send", "--topic", "event", "--project", tmp_path)
    assert "0 events sent" in result.out
    assert "alert" not in result.out


def test_a_lake_without_channels(shell: Shell, tmp_path: Path) -> None:
    blocking_world(tmp_path)
    place = ("--project", tmp_path)
    assert shell("notifications", "list", *place).out == "no notifications\n"
    assert shell("notifications", "send", *place).out == "lakeguard.toml defines no channel\n"
    assert shell("notifications", "sweep", *place).out == "no new SLA breaches\n"


@pytest.mark.parametrize("topic", ["alert", "event"])
def test_a_channel_is_tested_by_topic_and_name(topic: str, shell: Shell, tmp_path: Path) -> None:
    blocking_world(tmp_path)
    add_channels(tmp_path, file_channel(), file_listener())
    place = ("--project", tmp_path)
    result = shell("notifications", "test", "--topic", topic, "file", *place)
    (line,) = lines_of(tmp_path / f"{topic}s.jsonl")
    assert str(line["delivery" if topic == "alert" else "id"]) in result.out
    assert shell("notifications", "test", "file", *place).code == 2, "which of the two?"
    assert shell("notifications", "test", "--topic", topic, "fil", *place).code == 2
