"""Events on their way out, on each kind of State: what happened, in its order, at least once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.ledger.notifications import store
from lakeguard.notifications import sender
from lakeguard.plane import rebuild_embedded
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import dataset_pointers, notifications
from lakeguard_sdk import Client, connect
from lakeguard_sdk.errors import EventNotSent
from lakeguard_sdk.model.notifications import DeliveryOutcome, EventKind, Topic
from tests.support.fakes.webhook_receiver import (
    SECRET,
    Receiver,
    is_signed,
    receiver,
)
from tests.support.lakes.published_by_hand import compact_by_hand
from tests.support.projects.alert_channels import SECRET_VARIABLE, lines_of, lose_state
from tests.support.projects.event_channels import (
    drained,
    event_sender,
    file_listener,
    listened_world,
    publish,
    web_listener,
)
from tests.support.projects.planes import NUMBERS, Clock

pytestmark = pytest.mark.usefixtures("each_state")

DATASET = "dataset/bronze.numbers"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, SECRET)


@pytest.fixture
def hook() -> Iterator[Receiver]:
    with receiver() as made:
        yield made


def types(hook: Receiver) -> list[str]:
    return [str(body["type"]).removeprefix("lakeguard.") for body in hook.bodies]


def outcomes(client: Client) -> list[str]:
    return [
        each.outcome.value
        for row in client.notifications.rows(Topic.EVENT)
        for each in row.deliveries
    ]


def test_a_channel_that_is_being_opened_is_not_forgotten(tmp_path: Path) -> None:
    """Whoever asks before the opening is committed does not make others of his process deaf."""
    database = event_sender(listened_world(tmp_path)).state.database
    with OrganisationState.of(database, "default").write() as tx:
        store.open_channels(tx, Topic.EVENT, ["hook"], Clock()())
        with OrganisationState.of(database, "default").read() as tx:
            store.has_event_channel(tx)
    with OrganisationState.of(database, "default").read() as tx:
        assert store.has_event_channel(tx)


def test_without_a_channel_nothing_is_written(tmp_path: Path) -> None:
    client = listened_world(tmp_path)
    publish(client)
    assert client.notifications.rows(Topic.EVENT) == []


def test_what_is_published_is_told_as_a_cloud_event(tmp_path: Path, hook: Receiver) -> None:
    client = listened_world(tmp_path, web_listener(hook.url))
    run = publish(client)
    drained(client)
    published, ended = hook.bodies
    assert types(hook) == ["dataset.published", "run.ended"]
    assert {each["specversion"] for each in hook.bodies} == {"1.0"}
    assert {each["source"] for each in hook.bodies} == {"/lakeguard/default"}
    assert {each["subject"] for each in hook.bodies} == {DATASET}
    assert (ended["data"]["run_id"], ended["data"]["status"]) == (run, "SUCCESS")
    assert (published["data"]["version"], published["data"]["dataset"]) == (1, NUMBERS)
    assert hook.deliveries == [published["id"], ended["id"]]
    for headers, body in zip(hook.came, hook.bodies, strict=True):
        assert headers["content-type"] == "application/cloudevents+json"
        sent = json.dumps(body, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        assert is_signed(headers, sent.encode())
    assert outcomes(client) == ["sent", "sent"]


def test_the_fact_and_its_event_are_one_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = listened_world(tmp_path, file_listener())
    publish(client)
    database = event_sender(client).state.database

    def written() -> list[str]:
        with database.read() as connection:
            return list(connection.scalars(select(notifications.c.notification_id)))

    before = written()

    def refused(*_: object) -> None:
        raise RuntimeError("no")

    with monkeypatch.context() as broken:
        broken.setattr("lakeguard.promotion.publishing.publish_version.record_promotion", refused)
        with pytest.raises(RuntimeError, match="no"):
            publish(client)
    with database.read() as connection:
        moves = len(connection.execute(select(dataset_pointers.c.ordinal)).all())
    assert (moves, written()) == (1, before)


def test_a_rollback_is_told_and_a_compaction_is_not(tmp_path: Path, hook: Receiver) -> None:
    client = listened_world(tmp_path, web_listener(hook.url, kinds=[
        "dataset.published", "dataset.rolled_back",
    ]))  # fmt: skip
    for rows in ((1,), (2,)):
        publish(client, *rows)
    client.operations.rollback(NUMBERS, 1, "it was wrong")
    publish(client, 3)
    compact_by_hand(client)
    drained(client)
    assert types(hook) == [
        "dataset.published", "dataset.published", "dataset.rolled_back", "dataset.published",
    ]  # fmt: skip
    assert [body["data"]["version"] for body in hook.bodies] == [1, 2, 1, 3]


def test_what_is_not_taken_holds_up_its_subject_alone(tmp_path: Path, turned_clock: Clock) -> None:
    """Refused, it is tried again; what came after it in its subject waits until then."""
    with receiver(400, 400) as hook:
        client = listened_world(tmp_path, web_listener(hook.url, kinds=["dataset.published"]))
        publish(client, 1)
        turned_clock.pass_time(1)
        publish(client, 2)
        drained(client)
        drained(client)
        assert [body["data"]["version"] for body in hook.bodies] == [1]
        turned_clock.pass_time(2)
        drained(client)
        assert [body["data"]["version"] for body in hook.bodies] == [1, 1]
        turned_clock.pass_time(4)
        drained(client)
        assert [body["data"]["version"] for body in hook.bodies] == [1, 1, 1, 2]
        assert len(set(hook.deliveries)) == 2
        assert hook.bodies[0] == hook.bodies[2]


def test_after_so_many_attempts_it_is_given_up(tmp_path: Path, turned_clock: Clock) -> None:
    with receiver(*[500] * 3) as hook:
        client = listened_world(
            tmp_path, web_listener(hook.url, kinds=["dataset.published"], attempts=3)
        )
        publish(client, 1)
        for _ in range(5):
            drained(client)
            turned_clock.pass_time(400)
        assert outcomes(client) == [DeliveryOutcome.DEAD]
        assert len(hook.bodies) == 3
        publish(client, 2)
        drained(client)
        assert hook.bodies[-1]["data"]["version"] == 2, "what was given up holds up nobody"
        assert [result.sent for result in client.notifications.send(Topic.EVENT, again=True)] == [1]
        assert hook.bodies[-1]["id"] == hook.bodies[0]["id"]


def test_of_many_events_a_turn_reads_the_oldest(
    tmp_path: Path, turned_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PAGE", 1)
    monkeypatch.setattr(sender, "MOST_AT_ONCE", 3)
    client = listened_world(tmp_path, file_listener())
    for _ in range(2):
        publish(client)
        turned_clock.pass_time(1)
    mine = event_sender(client)
    every = [event.event_id for event, _ in mine.waiting(*mine.channels)]
    assert len(every) == 4
    assert [event.event_id for event, _ in mine.waiting(*mine.channels, 3)] == every[:3]
    assert [(turn.sent, turn.waiting) for turn in drained(client)] == [(3, 1)]
    assert [turn.sent for turn in drained(client)] == [1]
    assert [line["id"] for line in lines_of(tmp_path / "events.jsonl")] == every


def test_what_was_given_up_leaves_room_for_what_came_later(
    tmp_path: Path, turned_clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "PAGE", 1)
    monkeypatch.setattr(sender, "MOST_AT_ONCE", 1)
    with receiver(400) as hook:
        client = listened_world(
            tmp_path, web_listener(hook.url, kinds=["dataset.published"], attempts=1)
        )
        for _ in range(2):
            publish(client)
            drained(client)
            turned_clock.pass_time(400)
        assert [body["data"]["version"] for body in hook.bodies] == [1, 2]


def test_every_channel_tells_the_same_bytes(tmp_path: Path) -> None:
    client = listened_world(tmp_path, file_listener(), file_listener("b.jsonl", name="b"))
    publish(client)
    for _ in range(2):
        drained(client)
        client.notifications.send(Topic.EVENT, again=True)
    first, second = tmp_path / "events.jsonl", tmp_path / "b.jsonl"
    assert first.read_bytes() == second.read_bytes()
    assert len({line["id"] for line in lines_of(first)}) == len(lines_of(first)) == 2


def test_subjects_are_chosen(tmp_path: Path) -> None:
    entries = (
        file_listener("gold.jsonl", name="gold", subjects=["dataset/gold.*"]),
        file_listener("bronze.jsonl", name="bronze", subjects=["job/*", "dataset/bronze.*"]),
    )
    client = listened_world(tmp_path, *entries)
    publish(client)
    drained(client)
    assert [len(lines_of(tmp_path / f"{name}.jsonl")) for name in ("gold", "bronze")] == [0, 2]


def test_a_new_channel_tells_nothing_of_before(tmp_path: Path) -> None:
    client = listened_world(tmp_path, file_listener("old", name="old"))
    publish(client)
    drained(client)
    settings = tmp_path / "lakeguard.toml"
    settings.write_text(settings.read_text() + file_listener("new", name="new"))
    client = connect(tmp_path)
    publish(client)
    drained(client)
    assert [len(lines_of(tmp_path / name)) for name in ("old", "new")] == [4, 2]


def test_who_runs_already_hears_of_a_channel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks again after a moment whether somebody listens."""
    running = listened_world(tmp_path)
    publish(running)
    settings = tmp_path / "lakeguard.toml"
    settings.write_text(settings.read_text() + file_listener())
    other = connect(tmp_path)
    now = store.time.monotonic()
    monkeypatch.setattr(store.time, "monotonic", lambda: now + 6)
    publish(running)
    monkeypatch.undo()
    assert len(other.notifications.rows(Topic.EVENT, kind=EventKind.DATASET_PUBLISHED)) == 1


def test_another_organisation_hears_and_sees_nothing(tmp_path: Path) -> None:
    client = listened_world(tmp_path, file_listener())
    publish(client)
    mine = event_sender(client)
    other = type(mine)(replace(mine.state, org_id="others"), mine.topic, mine.channels)
    other.open()
    assert not mine.is_idle()
    assert other.is_idle()
    with other.state.read() as tx:
        none = store.list_notifications(tx, Topic.EVENT, since=None, kind=None, limit=9)
    assert none == []


def test_events_and_their_deliveries_are_in_the_ledger(tmp_path: Path) -> None:
    client = listened_world(tmp_path, file_listener())
    publish(client)
    client.close()
    assert len(lines_of(tmp_path / "events.jsonl")) == 2
    assert client.ledger.sync().rows == 0
    assert client.ledger.verify().findings == ()


def test_a_rebuilt_state_has_its_events_and_sends_none_again(tmp_path: Path) -> None:
    client = listened_world(tmp_path, file_listener())
    publish(client)
    client.ledger.sync()
    drained(client)  # and the ledger never hears of it
    lose_state(client, tmp_path)
    rebuild_embedded(tmp_path, env=None, replace=False, progress=lambda _: None)
    client = connect(tmp_path)
    assert len(client.notifications.rows(Topic.EVENT)) == 2
    drained(client)
    client.notifications.send(Topic.EVENT, again=True)
    assert len(lines_of(tmp_path / "events.jsonl")) == 2
    publish(client)
    drained(client)
    assert len(lines_of(tmp_path / "events.jsonl")) == 4, "what comes later is sent"


def test_a_channel_is_tried_without_an_event(tmp_path: Path) -> None:
    with receiver(200, 503) as hook:
        client = listened_world(tmp_path, web_listener(hook.url))
        assert client.notifications.test(Topic.EVENT, "webhook") == hook.bodies[0]["id"]
        assert types(hook) == ["channel.test"]
        assert client.notifications.rows(Topic.EVENT) == []
        with pytest.raises(EventNotSent, match="answered 503"):
            client.notifications.test(Topic.EVENT, "webhook")
