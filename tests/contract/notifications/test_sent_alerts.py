"""Alerts on their way out, on each kind of State: by every channel once, whatever it does."""

from __future__ import annotations

import json
import logging
import multiprocessing
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Row

from lakeguard.ledger.notifications import store
from lakeguard.notifications.transports import transport_of
from lakeguard.plane import rebuild_embedded
from lakeguard.relay.delivery_loop import DeliveryLoop
from lakeguard_sdk import Client, connect
from lakeguard_sdk.errors import AlertNotSent, SettingsError, UnknownChannel
from lakeguard_sdk.model.notifications import ChannelDelivery, DeliveryOutcome, Notification, Topic
from tests.faults import killed_sender
from tests.support.fakes.webhook_receiver import SECRET, Receiver, receiver
from tests.support.projects.alert_channels import (
    SECRET_VARIABLE,
    add_channels,
    alert_sender,
    block,
    blocking_world,
    drained,
    entry,
    file_channel,
    lines_of,
    lose_state,
    webhook,
)
from tests.support.projects.planes import Clock

pytestmark = pytest.mark.usefixtures("each_state")

NEWBORN = multiprocessing.get_context("forkserver")
NEWBORN.set_forkserver_preload(["tests.faults.killed_sender"])


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def deliveries(client: Client) -> list[ChannelDelivery]:
    return [each for row in client.notifications.rows(Topic.ALERT) for each in row.deliveries]


def outcomes(client: Client) -> list[str]:
    return [each.outcome.value for each in deliveries(client)]


def test_every_channel_tells_an_alert_once(
    tmp_path: Path, hook: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    client = blocking_world(tmp_path, entry(type="log"), file_channel(), webhook(hook.url))
    run = block(client)
    for _ in range(3):
        drained(client)
        client.notifications.send(Topic.ALERT, again=True)
    (line,) = lines_of(tmp_path / "alerts.jsonl")
    (body,) = hook.bodies
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("lakeguard.alerts", logging.ERROR)
    document = (line, body, json.loads(record.getMessage()))
    assert {(each["kind"], each["run_id"]) for each in document} == {("blocked", run)}
    assert len({each["delivery"] for each in document}) == 3, "each channel has ids of its own"
    assert hook.deliveries == [body["delivery"]]
    assert outcomes(client) == ["sent"] * 3


def test_filters_choose(tmp_path: Path) -> None:
    channels = {
        "all": {},
        "blocks": {"kinds": ["blocked"]},
        "failures": {"kinds": ["failed"]},
        "warnings": {"severities": ["WARN"]},
        "gold": {"layers": ["gold"]},
        "tests": {"domains": ["te*"]},
        "sales": {"domains": ["sales"]},
        "bronze_n": {"datasets": ["silver.*", "bronze.n*"]},
    }
    entries = (file_channel(name, name=name, **keys) for name, keys in channels.items())
    client = blocking_world(tmp_path, *entries)
    block(client)
    drained(client)
    output = {name for name in channels if lines_of(tmp_path / name)}
    assert output == {"all", "blocks", "tests", "bronze_n"}


def test_a_new_channel_tells_nothing_of_before(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel("old", name="old"))
    block(client)
    drained(client)
    client = add_channels(
        tmp_path, file_channel("old", name="old"), file_channel("new", name="new")
    )
    run = block(client)
    drained(client)
    assert len(lines_of(tmp_path / "old")) == 2
    assert [line["run_id"] for line in lines_of(tmp_path / "new")] == [run]


@pytest.mark.parametrize("answer", [500, 302, 429])
def test_a_failure_is_tried_again_later(answer: int, tmp_path: Path, turned_clock: Clock) -> None:
    with receiver(answer) as hook:
        client = blocking_world(tmp_path, webhook(hook.url))
        block(client)
        drained(client)
        drained(client)
        assert outcomes(client) == ["failed"], "it is left alone for a moment"
        assert f"answered {answer}" in str(deliveries(client)[0].error)
        turned_clock.pass_time(31)
        drained(client)
        assert outcomes(client) == ["sent"]
        assert len(hook.bodies) == 2, "no redirect is followed"
        assert len(set(hook.deliveries)) == 1
        assert hook.bodies[0] == hook.bodies[1]


def test_what_is_refused_holds_up_no_other(tmp_path: Path) -> None:
    with receiver(400) as hook:
        client = blocking_world(tmp_path, webhook(hook.url))
        runs = [block(client), block(client)]
        (turn,) = drained(client)
        assert (turn.sent, turn.failed) == (1, 1)
        assert [body["run_id"] for body in hook.bodies] == runs


def test_what_is_new_is_tried_though_the_channel_just_failed(tmp_path: Path) -> None:
    """Nobody may come again soon: a job at night has one chance."""
    with receiver(500) as hook:
        client = blocking_world(tmp_path, webhook(hook.url))
        block(client)
        drained(client)
        run = block(client)
        drained(client)
        drained(client)
        assert [body["run_id"] for body in hook.bodies][1:] == [run]


def test_after_so_many_attempts_it_is_given_up(tmp_path: Path, turned_clock: Clock) -> None:
    with receiver(500, 500, 500) as hook:
        client = blocking_world(tmp_path, webhook(hook.url, attempts=3))
        block(client)
        for _ in range(6):
            drained(client)
            turned_clock.pass_time(30_000)
        assert len(hook.bodies) == 3
        assert outcomes(client) == [DeliveryOutcome.DEAD]
        assert [result.sent for result in client.notifications.send(Topic.ALERT)] == [0]
        assert [result.sent for result in client.notifications.send(Topic.ALERT, again=True)] == [1]
        assert outcomes(client) == ["sent"]
        assert len(set(hook.deliveries)) == 1


@pytest.mark.parametrize("silence", [-1, 0])
def test_who_says_nothing_costs_one_wait(silence: int, tmp_path: Path) -> None:
    """Whether nothing comes, or a byte now and then."""
    with receiver(*[silence] * 20) as hook:
        client = blocking_world(tmp_path, webhook(hook.url, timeout_seconds=1), file_channel())
        for _ in range(5):
            block(client)
        for _ in range(4):
            drained(client)
        assert len(hook.bodies) == 1
        assert len(lines_of(tmp_path / "alerts.jsonl")) == 5, "another channel does not wait"
        assert "in time" in str(next(t for t in deliveries(client) if t.channel == "webhook").error)


def test_nobody_there(tmp_path: Path) -> None:
    with receiver() as gone:
        url = gone.url
    client = blocking_world(tmp_path, webhook(url))
    block(client)
    (turn,) = drained(client)
    assert (turn.failed, turn.waiting) == (1, 1)
    assert "cannot be reached" in str(turn.problem)


def test_a_wrong_secret_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiver() as hook:
        client = blocking_world(tmp_path, webhook(hook.url))
        monkeypatch.setenv(SECRET_VARIABLE, "another")
        block(client)
        (turn,) = drained(client)
        assert turn.problem == "it answered 401"


def test_a_missing_secret_is_no_attempt(
    tmp_path: Path, hook: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = blocking_world(tmp_path, webhook(hook.url), file_channel())
    monkeypatch.delenv(SECRET_VARIABLE)
    block(client)
    turn, other = drained(client)
    assert SECRET_VARIABLE in str(turn.problem)
    assert other.sent == 1
    with pytest.raises(SettingsError, match=SECRET_VARIABLE):
        client.notifications.test(Topic.ALERT, "webhook")
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)
    drained(client)
    assert hook.kinds == ["blocked"]


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    client = blocking_world(tmp_path, file_channel("folder"))
    block(client)
    (turn,) = drained(client)
    assert turn.failed == 1


def test_a_torn_line_spoils_no_other(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    (tmp_path / "alerts.jsonl").write_text('{"torn":')
    block(client)
    drained(client)
    torn, whole = (tmp_path / "alerts.jsonl").read_text().splitlines()
    assert torn == '{"torn":'
    assert json.loads(whole)["kind"] == "blocked"


def test_a_channel_is_tried_without_an_alert(tmp_path: Path, hook: Receiver) -> None:
    client = blocking_world(tmp_path, webhook(hook.url, kinds=["failed"]))
    delivery = client.notifications.test(Topic.ALERT, "webhook")
    assert (hook.kinds, hook.deliveries) == (["test"], [delivery])
    assert client.notifications.rows(Topic.ALERT) == []
    with pytest.raises(UnknownChannel, match="did you mean webhook"):
        client.notifications.test(Topic.ALERT, "webhok")
    hook.answers = [503]
    with pytest.raises(AlertNotSent, match="answered 503"):
        client.notifications.test(Topic.ALERT, "webhook")


def test_two_processes_tell_an_alert_once(tmp_path: Path, hook: Receiver) -> None:
    client = blocking_world(tmp_path, webhook(hook.url), file_channel())
    runs = [block(client) for _ in range(5)]
    both = [
        NEWBORN.Process(target=killed_sender.main, args=(str(tmp_path), SECRET, "", 3))
        for _ in range(3)
    ]
    for process in both:
        process.start()
    for process in both:
        process.join(timeout=60)
        assert process.exitcode == 0
    assert [body["run_id"] for body in hook.bodies] == runs
    assert [line["run_id"] for line in lines_of(tmp_path / "alerts.jsonl")] == runs
    assert outcomes(connect(tmp_path)) == ["sent"] * 10


def test_what_was_told_is_in_the_ledger(tmp_path: Path) -> None:
    """At the end of a command: the alert goes out, and that it did goes to the lake."""
    client = blocking_world(tmp_path, file_channel())
    block(client)
    client.close()
    assert len(lines_of(tmp_path / "alerts.jsonl")) == 1
    assert client.ledger.sync().rows == 0
    assert client.ledger.verify().findings == ()


def test_what_another_marked_is_not_logged_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A process lost its session, and with it the channel, while it went on."""
    client = blocking_world(tmp_path, entry(type="log"))
    block(client)
    sender, (channel,) = alert_sender(client), alert_sender(client).channels
    ((alert, last),) = sender.waiting(channel)
    drained(client)
    sender._send_one(channel, transport_of(channel), alert, last, time.monotonic() + 5)
    assert len(caplog.records) == 1
    assert outcomes(client) == ["sent"]


def test_one_deliverer_that_fails_stops_no_other(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    block(client)
    sender, relay = alert_sender(client), client.ledger.relay

    class Broken:
        def is_idle(self) -> bool:
            return False

        def drain(self, threads: int = 1, until: float | None = None) -> None:
            raise RuntimeError("broken")

    loop = DeliveryLoop(sender.state.database, [Broken(), sender, relay])
    with pytest.raises(RuntimeError, match="broken"):
        loop.deliver()
    assert len(lines_of(tmp_path / "alerts.jsonl")) == 1
    assert client.ledger.sync().rows <= 1, "all but that it was sent, which the next one tells"


def test_a_rebuilt_state_tells_nothing_again(tmp_path: Path) -> None:
    client = blocking_world(tmp_path, file_channel())
    block(client)
    client.ledger.sync()
    drained(client)  # and the ledger never hears of it
    lose_state(client, tmp_path)
    rebuild_embedded(tmp_path, env=None, replace=False, progress=lambda _: None)
    client = connect(tmp_path)
    assert len(client.notifications.rows(Topic.ALERT)) == 1
    drained(client)
    client.notifications.send(Topic.ALERT, again=True)
    assert len(lines_of(tmp_path / "alerts.jsonl")) == 1
    block(client)
    drained(client)
    assert len(lines_of(tmp_path / "alerts.jsonl")) == 2, "what comes later is told"


def test_what_is_not_for_a_channel_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what it has told long ago is not looked for again."""
    late = file_channel(kinds=["late"])
    client = blocking_world(tmp_path, late, file_channel("b.jsonl", name="blocked"))
    sender, read = alert_sender(client), list[Notification]()
    made = store._notification

    def counted(row: Row[Any]) -> Notification:
        read.append(made(row))
        return read[-1]

    monkeypatch.setattr(store, "_notification", counted)
    block(client)
    lates, blocks = sender.channels
    assert list(sender.waiting(lates)) == []
    assert read == []
    assert len(sender.waiting(blocks)) == 1
    drained(client)
    first = sender._delivered_until["blocked"]
    assert sender.waiting(blocks) == []
    assert sender._delivered_until["blocked"] >= first
    block(client)
    assert len(sender.waiting(blocks)) == 1
