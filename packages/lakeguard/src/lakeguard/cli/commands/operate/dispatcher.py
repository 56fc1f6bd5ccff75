"""``lakeguard dispatcher``: starts due jobs, retries failed tasks, reaps dead attempts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.worker import TickPrinter, tick_lines
from lakeguard.cli.session import (
    client_of,
    client_when_available,
    project_of,
    require_folder,
    stopping,
)
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note
from lakeguard.services.dispatcher_loop import BACKGROUND_SECONDS, DispatcherLoop, in_background
from lakeguard.services.plain_text import escaped
from lakeguard.settings import Settings, load_settings
from lakeguard.worker import Redelivery
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.error_lines import error_line
from lakeguard_sdk.model.notifications import Topic
from lakeguard_sdk.scheduling.jobs import Ticked


@click.command("dispatcher")
@click.option(
    "--once", is_flag=True, help="Run one tick and exit, for cron. Exit 1 if a loop failed."
)
@click.option(
    "--listen",
    metavar="HOST:PORT",
    help="Accept reports and events over HTTP, such as on 127.0.0.1:8600.",
)
@shared_options
def dispatcher_command(call: Call, once: bool, listen: str | None) -> int:
    """Start due jobs, retry failed tasks and reap dead attempts, until stopped.

    Any number of dispatchers may run at once: each schedule time, version, file and event starts a
    job once. Jobs themselves run in workers.
    """
    require_folder("dispatcher")
    settings = load_settings(project_of(call), call.env)
    if once and listen is not None:
        raise click.UsageError("--once and --listen exclude each other")
    client = client_of(call) if once else client_when_available(call)
    if once:
        done = _one_turn(client, settings)
        answer(call, done.to_data(), tick_lines(done) or ["nothing due"])
        return 1 if done.problems else 0
    client.start()
    with dispatching(call, client, settings) as loop, stopping(loop.stopped.set):
        with _listening(client, settings, listen):
            polls = f"polling every {loop.pause_seconds:g} s"
            note(f"dispatching {escaped(settings.organisation)}; {polls}")
            loop.run()
        note("stopping")
    return 0


@contextmanager
def dispatching(call: Call, client: Client, settings: Settings) -> Iterator[DispatcherLoop]:
    """The dispatcher loop, not yet running, with its background work started."""
    report = TickPrinter(call.json, note)
    loop = DispatcherLoop(
        tick=lambda: client.jobs.tick(send_events=False),
        report=report,
        warn=_warn,
        pause_seconds=settings.dispatch.tick_seconds,
    )
    sent = partial(_send_events, client, report)
    delivered = partial(_deliver, _deliveries(client, settings, _warn), report)
    seconds = min(BACKGROUND_SECONDS, settings.dispatch.backoff_first_seconds)
    with (
        in_background(client.ledger.sync, _warn),
        in_background(client.notifications.sweep, _warn),
        in_background(sent, _warn, loop.pause_seconds),
        in_background(delivered, _warn, seconds),
    ):
        yield loop


def _one_turn(client: Client, settings: Settings) -> Ticked:
    """One tick, plus the deliveries that otherwise run in the background."""
    done, delivered, problems = _tick_twice(client, settings), 0, list[str]()
    try:
        delivered = _deliveries(client, settings, problems.append).catch_up()
    except Exception as error:  # noqa: BLE001 - the tick itself succeeded
        problems.append(error_line(error))
    every = (*done.problems, *(f"deliveries: {problem}" for problem in problems))
    return done.model_copy(update={"delivered": delivered, "problems": every})


def _tick_twice(client: Client, settings: Settings) -> Ticked:
    """No earlier tick has seen the files, so new ones are polled a second time."""
    done = client.jobs.tick()
    if not done.settling:
        return done
    quiet = settings.dispatch.quiet_seconds
    note(f"{done.settling:,} new files; checking again in {quiet:,} s that they are complete")
    time.sleep(quiet)
    return done.then(client.jobs.tick())


def _send_events(client: Client, report: TickPrinter) -> None:
    report(Ticked(notified=client.notifications.send_due(Topic.EVENT)))


def _deliveries(client: Client, settings: Settings, warn: Callable[[str], None]) -> Redelivery:
    make = cache(lambda: local_worker(client.for_worker(), spark_options={}))
    return Redelivery(client.ledger, make, settings.dispatch, warn)


def _deliver(deliveries: Redelivery, report: TickPrinter) -> None:
    report(Ticked(delivered=deliveries.catch_up()))


@contextmanager
def _listening(client: Client, settings: Settings, place: str | None) -> Iterator[None]:
    if place is None:
        yield
        return
    from lakeguard.http.app import create_app
    from lakeguard.http.listen_address import parse_place
    from lakeguard.http.listener import listen, serving
    from lakeguard.service_plane import service_of

    service = service_of(client, settings, parse_place(place), has_api=False)
    with serving(create_app(service), listen(service)) as listener:
        note(f"listening on {escaped(listener.url)}")
        yield


def _warn(problem: str) -> None:
    note(escaped(problem))
