"""``lakeguard dispatcher``: the loops that start jobs, try them again, and end what died."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial

import click

from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.rendering.worker import TurnTeller, turn_lines
from lakeguard.cli.session import client_of, project_of, stopping
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note
from lakeguard.services.dispatcher_loop import BESIDE_SECONDS, TurnLoop, beside
from lakeguard.services.plain_text import escaped
from lakeguard.settings import Settings, load_settings
from lakeguard.worker import Deliveries
from lakeguard_sdk.client import Client, local_worker
from lakeguard_sdk.error_lines import error_line
from lakeguard_sdk.scheduling.jobs import Ticked


@click.command("dispatcher")
@click.option(
    "--once", is_flag=True, help="One turn, for a timer to call. Exit 1 if a loop failed."
)
@click.option(
    "--listen", metavar="HOST:PORT", help="Take reports and events there, such as 127.0.0.1:8600."
)
@shared_options
def dispatcher_command(call: Call, once: bool, listen: str | None) -> int:
    """Start jobs when they are due, try failed ones again and end what died, until told to stop.

    Any number of dispatchers may do so at once: each time, version, file and event starts a job
    once. It runs no job itself; workers do.
    """
    settings = load_settings(project_of(call), call.env)
    client = client_of(call)
    if once:
        if listen is not None:
            raise click.UsageError("--once ends at once, and so cannot --listen")
        done = _one_turn(client, settings)
        answer(call, done.to_data(), turn_lines(done) or ["nothing was due"])
        return 1 if done.problems else 0
    client.start()
    tell = TurnTeller(call.json, note)
    loop = TurnLoop(
        tick=lambda: client.jobs.tick(tell=False),
        tell=tell,
        warn=_warn,
        pause_seconds=settings.dispatch.tick_seconds,
    )
    with ExitStack() as open_things:
        open_things.enter_context(stopping(loop.stopped.set))
        open_things.enter_context(_listening(client, settings, listen))
        open_things.enter_context(beside(client.ledger.sync, _warn))
        open_things.enter_context(beside(client.alerts.sweep, _warn))
        told = partial(_tell_events, client, tell)
        open_things.enter_context(beside(told, _warn, loop.pause_seconds))
        delivered = partial(_deliver, _deliveries(client, settings, _warn), tell)
        seconds = min(BESIDE_SECONDS, settings.dispatch.backoff_first_seconds)
        open_things.enter_context(beside(delivered, _warn, seconds))
        note(f"dispatching {escaped(settings.organisation)}; a turn every {loop.pause_seconds:g} s")
        loop.run()
        note("stopping")
    return 0


def _one_turn(client: Client, settings: Settings) -> Ticked:
    """With what is done beside the turns otherwise, and that nobody else may do."""
    done, delivered, problems = _looked_twice(client, settings), 0, list[str]()
    try:
        delivered = _deliveries(client, settings, problems.append).catch_up()
    except Exception as error:  # noqa: BLE001 - whatever it is, the turn was done
        problems.append(error_line(error))
    said = (*done.problems, *(f"deliveries: {problem}" for problem in problems))
    return done.model_copy(update={"delivered": delivered, "problems": said})


def _looked_twice(client: Client, settings: Settings) -> Ticked:
    """Nobody remembers what a turn before saw of files, so that it looks at new ones twice."""
    done = client.jobs.tick()
    if not done.settling:
        return done
    quiet = settings.dispatch.quiet_seconds
    note(f"{done.settling:,} new; looking again in {quiet:,} s whether they are whole")
    time.sleep(quiet)
    return done.then(client.jobs.tick())


def _tell_events(client: Client, tell: TurnTeller) -> None:
    tell(Ticked(told=client.events.tell()))


def _deliveries(client: Client, settings: Settings, warn: Callable[[str], None]) -> Deliveries:
    make = cache(lambda: local_worker(client.for_worker(), spark_options={}))
    return Deliveries(client.ledger, make, settings.dispatch, warn)


def _deliver(deliveries: Deliveries, tell: TurnTeller) -> None:
    tell(Ticked(delivered=deliveries.catch_up()))


@contextmanager
def _listening(client: Client, settings: Settings, place: str | None) -> Iterator[None]:
    if place is None:
        yield
        return
    from lakeguard.http.listen_address import parse_place
    from lakeguard.http.server import serve

    secret = settings.inbox.secret
    with serve(client, parse_place(place), None if secret is None else secret.resolve) as inbox:
        note(f"listening on {escaped(inbox.url)}")
        yield


def _warn(said: str) -> None:
    note(escaped(said))
