"""``lakeguard notifications``, and ``alerts`` and ``events``: the same commands for one topic."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.notifications import (
    no_channel_lines,
    notification_lines,
    result_lines,
    swept_lines,
)
from lakeguard.cli.session import client_of, writing
from lakeguard.cli.terminal.layout import Tone, strong, toned
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard_sdk.model.notifications import AlertKind, EventKind, Topic

KINDS: dict[Topic, dict[str, AlertKind | EventKind]] = {
    Topic.ALERT: {kind.value: kind for kind in AlertKind if kind is not AlertKind.TEST},
    Topic.EVENT: {kind.value: kind for kind in EventKind if kind is not EventKind.TEST},
}
Body = Callable[..., int | None]


def _group(topic: Topic | None) -> click.Group:
    """The commands of one topic, or of both with ``--topic``."""
    listed = "alerts and events" if topic is None else f"{topic}s"
    help_text = f"List {listed}, send pending ones, test a channel."
    group = click.Group(f"{_noun(topic)}s", help=help_text)
    group.add_command(_list_command(topic))
    group.add_command(_send_command(topic))
    if topic is not Topic.EVENT:
        group.add_command(_sweep_command())
    group.add_command(_test_command(topic))
    return group


def _noun(topic: Topic | None) -> str:
    return "notification" if topic is None else topic.value


def _topic_option(fixed: Topic | None, *, required: bool = False) -> Callable[[Body], Body]:
    """``--topic``, unless the topic is fixed."""
    if fixed is not None:
        return lambda body: body
    words = "Topic of the channel." if required else "Only this topic."
    topics = click.Choice([topic.value for topic in Topic])
    return click.option("--topic", type=topics, required=required, help=words)


def _chosen(fixed: Topic | None, topic: str | None) -> Topic | None:
    return fixed if topic is None else Topic(topic)


def _list_command(fixed: Topic | None) -> click.Command:
    noun = _noun(fixed)
    kinds = {
        name: kind
        for topic, known in KINDS.items()
        if fixed in (None, topic)
        for name, kind in known.items()
    }

    @click.command("list", help=f"List {noun}s, newest first, with their delivery by each channel.")
    @_topic_option(fixed)
    @click.option("--since", metavar="TIME", help="A duration such as 7d, a day, or a time.")
    @click.option("--kind", type=click.Choice(list(kinds)), help="Only this kind.")
    @click.option(
        "--limit", default=50, show_default=True, type=click.IntRange(1), help="Maximum number."
    )
    @shared_options
    def command(
        call: Call, since: str | None, kind: str | None, limit: int, topic: str | None = None
    ) -> None:
        begin = None if since is None else moment_of(since, datetime.now(UTC))
        chosen = _chosen(fixed, topic)
        rows = client_of(call).notifications.rows(
            chosen, since=begin, kind=None if kind is None else kinds[kind], limit=limit
        )
        data = {f"{noun}s": [row.to_data() for row in rows]}
        answer(call, data, notification_lines(rows, chosen))

    return command


def _send_command(fixed: Topic | None) -> click.Command:
    noun = _noun(fixed)

    @click.command(
        "send",
        help=f"Send pending {noun}s now. Exit 1 if a channel did not accept all of them.\n\n"
        f"Every command sends its own {noun}s before it exits; use this if that failed.",
    )
    @_topic_option(fixed)
    @click.option("--again", is_flag=True, help="Also retry those whose attempts are exhausted.")
    @shared_options
    def command(call: Call, again: bool, topic: str | None = None) -> int:
        chosen, client = _chosen(fixed, topic), client_of(call)
        topics = list(Topic) if chosen is None else [chosen]
        results = {each: client.notifications.send(each, again=again) for each in topics}
        data = [
            result.to_data() | ({} if fixed else {"topic": each.value})
            for each in topics
            for result in results[each]
        ]
        lines = [line for each in topics for line in result_lines(results[each], each)]
        answer(call, {"channels": data}, lines or no_channel_lines())
        return 1 if any(entry["problem"] for entry in data) else 0

    return command


def _sweep_command() -> click.Command:
    @click.command("sweep")
    @shared_options
    def command(call: Call) -> None:
        """Raise an alert for each new SLA breach.

        Every command that writes does this, too; if none runs, call it from cron.
        """
        with writing(call, sweep=False) as client:
            found = client.notifications.sweep()
        answer(call, {"raised": [alert.to_data() for alert in found]}, swept_lines(found))

    return command


def _test_command(fixed: Topic | None) -> click.Command:
    noun = _noun(fixed)

    @click.command(
        "test",
        help=f"Send a test {noun} through CHANNEL, ignoring its filters; it is not stored.",
    )
    @_topic_option(fixed, required=True)
    @click.argument("channel")
    @shared_options
    def command(call: Call, channel: str, topic: str = "") -> None:
        chosen = fixed or Topic(topic)
        delivery = client_of(call).notifications.test(chosen, channel)
        key = "event_id" if fixed is Topic.EVENT else "delivery"
        line = f"{toned('✓ SENT', Tone.GOOD)}  {strong(channel)} took {delivery}"
        answer(call, {"channel": channel, key: delivery}, [line])

    return command


notifications_command = _group(None)
alerts_command = _group(Topic.ALERT)
events_command = _group(Topic.EVENT)
