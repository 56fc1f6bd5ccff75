"""``lakeguard events`` on the terminal, and what a doctor says of their channels."""

from __future__ import annotations

from pathlib import Path

import pytest
from click import unstyle

from lakeguard.cli.rendering.notifications import notification_lines
from lakeguard_sdk.model.notifications import Topic
from tests.support.fakes.webhook_receiver import SECRET, receiver
from tests.support.projects.alert_channels import SECRET_VARIABLE, lines_of
from tests.support.projects.event_channels import (
    drained,
    file_listener,
    listened_world,
    publish,
    web_listener,
)
from tests.support.projects.shell import Shell


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


def test_a_lake_without_channels(shell: Shell, tmp_path: Path) -> None:
    listened_world(tmp_path)
    place = ("--project", tmp_path)
    assert shell("events", "list", *place).out.startswith("no events")
    assert shell("events", "send", *place).out == "lakeguard.toml defines no channel\n"


def test_events_are_listed_with_what_became_of_them(shell: Shell, tmp_path: Path) -> None:
    client = listened_world(tmp_path, file_listener())
    run = publish(client)
    drained(client)
    place = ("--project", tmp_path)
    listed = shell("events", "list", *place).out
    assert "dataset.published" in listed
    assert "file sent" in listed
    (row,) = shell("events", "list", "--json", "--kind", "run.ended", *place).data["events"]
    assert row["event"]["data"]["run_id"] == run
    none = shell("events", "list", "--json", "--since", "2199-01-01", *place)
    assert none.data["events"] == []


def test_a_channel_that_is_behind_is_shown_as_waiting(tmp_path: Path) -> None:
    with receiver(500) as hook:
        stuck = web_listener(hook.url, name="stuck", subjects=["dataset/*"])
        deaf = file_listener("deaf.jsonl", name="deaf", kinds=["graph.deployed"])
        strange = file_listener("strange.jsonl", name="strange", subjects=["job/*"])
        client = listened_world(tmp_path, stuck, deaf, strange, file_listener(name="file"))
        publish(client)
        drained(client)
        rows = client.notifications.rows(Topic.EVENT)
    assert [row.event.kind.value for row in rows] == ["run.ended", "dataset.published"]
    assert [row.waiting for row in rows] == [("stuck",), ()]
    _, later, first = map(unstyle, notification_lines(rows, Topic.EVENT))
    assert "file sent, stuck pending" in later
    assert "file sent, stuck failed" in first


def test_a_channel_does_not_wait_for_what_is_not_its_own(shell: Shell, tmp_path: Path) -> None:
    """What happened before it was opened."""
    client = listened_world(tmp_path, file_listener(name="first"))
    publish(client)
    drained(client)
    file = tmp_path / "lakeguard.toml"
    file.write_text(file.read_text() + file_listener("late.jsonl", name="late"))
    rows = shell("events", "list", "--json", "--project", tmp_path).data["events"]
    assert [row["waiting"] for row in rows] == [[], []]


def test_what_was_given_up_is_shown_and_sent_again(shell: Shell, tmp_path: Path) -> None:
    with receiver(500) as hook:
        hears = web_listener(hook.url, kinds=["dataset.published"], attempts=1)
        client = listened_world(tmp_path, hears)
        publish(client)
        drained(client)
        place = ("--project", tmp_path)
        assert "Next: lakeguard events send --again" in shell("events", "list", *place).out
        findings = shell("doctor", "--json", *place).data["findings"]
        (found,) = [each for each in findings if each["name"] == "Channel of events webhook"]
        assert (found["ok"], found["fix"]) == (False, "lakeguard events send --again")
        result = shell("events", "send", "--again", *place)
        assert (result.code, "1 event sent" in result.out) == (0, True)
        assert len(hook.bodies) == 2


def test_a_channel_is_tried(shell: Shell, tmp_path: Path) -> None:
    with receiver(200, 500) as hook:
        listened_world(tmp_path, web_listener(hook.url))
        place = ("--project", tmp_path)
        result = shell("events", "test", "webhook", *place)
        assert (result.code, hook.deliveries[0] in result.out) == (0, True)
        refused = shell("events", "test", "webhook", "--json", *place)
        assert (refused.code, refused.data["error"]["code"]) == (1, "LG-5202")
        unknown = shell("events", "test", "webhok", *place)
        assert (unknown.code, "did you mean webhook" in unknown.err) == (2, True)


def test_the_next_command_sends_what_one_left_behind(shell: Shell, tmp_path: Path) -> None:
    publish(listened_world(tmp_path, file_listener()))
    assert shell("status", "--project", tmp_path).code == 0
    assert len(lines_of(tmp_path / "events.jsonl")) == 2
