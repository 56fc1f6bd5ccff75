"""``lakeguard alerts`` on the terminal, and what a doctor says of channels."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import connect
from lakeguard_sdk.core.enums import Enforcement, PolicyType
from tests.support.fakes.webhook_receiver import SECRET, Receiver, receiver
from tests.support.lakes.policy_datasets import numbers, promise, world
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.alert_channels import (
    SECRET_VARIABLE,
    add_channels,
    block,
    blocking_world,
    entry,
    file_channel,
    lines_of,
    webhook,
)
from tests.support.projects.planes import Clock
from tests.support.projects.shell import CommandResult, Shell

FRESH = promise(PolicyType.SLA, "freshness <= 24h", enforcement=Enforcement.ALERT)


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def findings(given: CommandResult) -> dict[str, dict[str, Any]]:
    return {item["name"]: item for item in given.data["findings"]}


def test_a_lake_without_alerts(shell: Shell, tmp_path: Path) -> None:
    blocking_world(tmp_path)
    place = ("--project", tmp_path)
    assert shell("alerts", "list", *place).out == "no alerts\n"
    assert shell("alerts", "send", *place).out == "lakeguard.toml defines no channel\n"
    assert shell("alerts", "sweep", *place).out == "no new SLA breaches\n"
    assert not [name for name in findings(shell("doctor", "--json", *place)) if "Channel" in name]


def test_the_next_command_sends_what_one_left_behind(
    shell: Shell, tmp_path: Path, hook: Receiver
) -> None:
    """The process that raised it was gone before it could send it."""
    client = blocking_world(tmp_path, webhook(hook.url))
    run = block(client)
    assert shell("status", "--project", tmp_path).code == 0
    assert [body["run_id"] for body in hook.bodies] == [run]
    listed = shell("alerts", "list", "--project", tmp_path)
    assert "webhook sent" in listed.out
    (row,) = shell("alerts", "list", "--json", "--project", tmp_path).data["alerts"]
    assert row["alert"]["run_id"] == run
    assert row["deliveries"][0]["outcome"] == "sent"


def test_alerts_are_chosen_by_time_and_kind(shell: Shell, tmp_path: Path) -> None:
    block(blocking_world(tmp_path))
    now = datetime.now(UTC)

    def found(*options: str) -> int:
        result = shell("alerts", "list", "--json", "--project", tmp_path, *options)
        return len(result.data["alerts"])

    assert found("--since", str(now.date() - timedelta(days=1))) == 1
    assert found("--since", "90d") == 1
    assert found("--since", str(now.date() + timedelta(days=1))) == 0
    assert found("--since", (now + timedelta(hours=1)).isoformat()) == 0
    assert (found("--kind", "blocked"), found("--kind", "late")) == (1, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "--since", "soon"], "write a duration such as 90d"),
        (["list", "--since", "2026-01-01T10:00"], "a time with its zone"),
        (["list", "--kind", "loud"], "'loud' is not one of"),
        (["test", "fil"], "did you mean file?"),
        (["test", "nothing"], "unknown channel"),
    ],
)
def test_a_wrong_call(arguments: list[str], message: str, shell: Shell, tmp_path: Path) -> None:
    blocking_world(tmp_path, file_channel())
    result = shell("alerts", *arguments, "--project", tmp_path)
    assert result.code == 2
    assert message in result.err


def test_a_wrong_channel_stops_every_command_with_the_way_out(shell: Shell, tmp_path: Path) -> None:
    blocking_world(tmp_path)
    file = tmp_path / "lakeguard.toml"
    file.write_text(file.read_text() + entry(type="webhok"))
    result = shell("status", "--project", tmp_path)
    assert result.code == 2
    assert "alerts.channel.type: write one of log, file, webhook" in result.err
    assert "Next: " in result.err


def test_a_channel_is_tried(shell: Shell, tmp_path: Path) -> None:
    with receiver(200, 500) as hook:
        blocking_world(tmp_path, webhook(hook.url))
        result = shell("alerts", "test", "webhook", "--project", tmp_path)
        assert result.code == 0
        assert hook.deliveries[0] in result.out
        result = shell("alerts", "test", "webhook", "--json", "--project", tmp_path)
        assert result.code == 1
        assert result.data["error"]["code"] == "LG-5201"
        assert hook.url not in result.out


def test_what_was_given_up_is_shown_and_sent_again(shell: Shell, tmp_path: Path) -> None:
    with receiver(500) as hook:
        client = blocking_world(tmp_path, webhook(hook.url, attempts=1))
        block(client)
        client.close()
        place = ("--project", tmp_path)
        listed = shell("alerts", "list", *place).out
        assert "webhook dead" in listed
        assert "Next: lakeguard alerts send --again" in listed
        found = findings(shell("doctor", "--json", *place))["Channel webhook"]
        assert (found["ok"], found["fix"]) == (False, "lakeguard alerts send --again")
        assert "it answered 500" in found["detail"]
        result = shell("alerts", "send", "--again", *place)
        assert (result.code, "1 alert sent" in result.out) == (0, True)
        assert findings(shell("doctor", "--json", *place))["Channel webhook"]["ok"]


def test_sending_by_a_channel_that_fails_is_exit_1(shell: Shell, tmp_path: Path) -> None:
    with receiver(500, 500) as hook:
        client = blocking_world(tmp_path, webhook(hook.url))
        block(client)
        result = shell("alerts", "send", "--project", tmp_path)
        assert result.code == 1
        assert "it answered 500" in result.out
        assert len(hook.bodies) == 1, "at the end of the command it is left alone"


def test_a_doctor_misses_the_secret(
    shell: Shell, tmp_path: Path, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocking_world(tmp_path, webhook(hook.url))
    monkeypatch.delenv(SECRET_VARIABLE)
    found = findings(shell("doctor", "--json", "--project", tmp_path))["Channel webhook"]
    assert not found["ok"]
    assert SECRET_VARIABLE in found["detail"]
    assert hook.bodies == [], "a doctor sends nothing"


def test_a_broken_channel_changes_no_answer(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    client = blocking_world(tmp_path, file_channel("folder"))
    block(client)
    result = shell("status", "--project", tmp_path)
    assert (result.code, result.err) == (0, "")


def test_a_log_is_on_standard_error(
    shell: Shell, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    client = blocking_world(tmp_path, entry(type="log"))
    run = block(client)
    result = shell("status", "--json", "--project", tmp_path)
    assert result.data["datasets"], "the answer is as it was"
    (record,) = caplog.records
    assert json.loads(record.getMessage())["run_id"] == run


def test_whatever_writes_tells_what_is_late(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("lakeguard.plane._clock", lambda _: clock)
    world(tmp_path, numbers(), policies=(FRESH,))
    run_by_hand(add_channels(tmp_path, file_channel()), [1])
    clock.pass_time(90_000)
    call = ("waivers", "--revoke", "wvr_x", "--reason", "none", "--project", tmp_path)
    given = [shell(*call) for _ in range(2)]
    assert ["is late" in each.err for each in given] == [True, False]
    (line,) = lines_of(tmp_path / "alerts.jsonl")
    assert (line["kind"], line["check"]) == ("late", "promise")
    assert shell("alerts", "sweep", "--project", tmp_path).out == "no new SLA breaches\n"
    run_by_hand(connect(tmp_path), [2])
    clock.pass_time(90_000)
    assert "late" in shell("alerts", "sweep", "--project", tmp_path).out
    assert len(lines_of(tmp_path / "alerts.jsonl")) == 2


def test_a_pattern_that_is_about_nothing_is_named(shell: Shell, tmp_path: Path) -> None:
    good, odd = ["bronze.*"], ["glod.*"]
    blocking_world(
        tmp_path,
        entry(type="log", datasets=good, domains=["te?t"]),
        entry(type="log", name="odd", datasets=[*good, *odd], domains=["sails"]),
    )
    found = findings(shell("doctor", "--json", "--project", tmp_path))
    assert found["Channel log"]["ok"]
    assert not found["Channel odd"]["ok"]
    assert (
        "no dataset is like 'glod.*'; no domain is like 'sails'" in found["Channel odd"]["detail"]
    )


def test_an_address_that_is_kept_elsewhere_is_used_and_not_shown(
    shell: Shell, tmp_path: Path, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocking_world(tmp_path, webhook("env:HOOK_URL"))
    place = ("--project", tmp_path)
    monkeypatch.delenv("HOOK_URL", raising=False)
    result = shell("alerts", "test", "webhook", *place)
    assert (result.code != 0, "HOOK_URL is not set" in result.err) == (True, True)
    monkeypatch.setenv("HOOK_URL", hook.url)
    assert shell("alerts", "test", "webhook", *place).code == 0
    assert len(hook.bodies) == 1
    doctor = shell("doctor", "--json", *place)
    assert findings(doctor)["Channel webhook"]["ok"]
    assert hook.url not in doctor.out
