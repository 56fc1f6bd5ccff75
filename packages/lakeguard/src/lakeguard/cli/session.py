"""Opens the project and control plane of a call."""

from __future__ import annotations

import getpass
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from lakeguard.cli.options import NEEDS_FOLDER, Call
from lakeguard.cli.terminal.layout import moment
from lakeguard.cli.terminal.progress import note
from lakeguard.services.plain_text import escaped
from lakeguard.settings import find_project, hide_secrets, load_settings
from lakeguard_sdk.backoff import Backoff
from lakeguard_sdk.client import Client, connect
from lakeguard_sdk.errors import (
    FolderNeeded,
    LakeGuardError,
    NoProject,
    NotPermitted,
    ServiceUrlInvalid,
    StateError,
    StateUnavailable,
)
from lakeguard_sdk.model.run import AbandonedAttempt

BACKOFF = Backoff(first=1.0, longest=30.0)
"""Between attempts to reach a state database that is away."""


def project_of(call: Call) -> Path:
    """The given folder, or the nearest parent with a ``lakeguard.toml``."""
    return find_project(call.project or Path.cwd())


URL_VARIABLE = "LAKEGUARD_URL"
_WORK = "work"


def service_url() -> str:
    """The URL of the service that commands use instead of the project folder; empty if none is
    set. Raises ``ServiceUrlInvalid``."""
    url = os.environ.get(URL_VARIABLE, "").strip()
    if url and (problem := _url_problem(url)):
        raise ServiceUrlInvalid(problem=problem)
    return url


def _url_problem(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "has no valid host and port"
    if "@" in parts.netloc:
        return "must not have a user or password: LAKEGUARD_TOKEN is for the token"
    if parts.scheme not in ("http", "https"):
        return "must begin with http:// or https://"
    return "" if is_whole else "has no valid host and port"


def folder_of(call: Call) -> Path:
    """As ``project_of``; commands that use a service need no ``lakeguard.toml``."""
    try:
        return project_of(call)
    except NoProject:
        if not service_url():
            raise
        return (call.project or Path.cwd()).resolve()


def hide_secrets_of(call: Call) -> None:
    """Hides the secrets of the settings from child processes; there are none with a service."""
    if not service_url():
        hide_secrets(load_settings(project_of(call), call.env))


def require_folder(command: str) -> None:
    """Raises ``FolderNeeded`` if a service is set, for commands that work on the folder."""
    if service_url():
        raise FolderNeeded(command=command, reason=NEEDS_FOLDER[command])


def client_of(call: Call) -> Client:
    """A client of the folder, or of the service that ``LAKEGUARD_URL`` names; closed once the
    command has answered."""
    if url := service_url():
        # Modules of builds and jobs are read from the local folder.
        client = replace(connect(url), project=str(folder_of(call)))
    else:
        client = connect(project_of(call), env=call.env)
    call.opened.append(client)
    return client


def client_when_available(call: Call, sleep: Callable[[float], object] = time.sleep) -> Client:
    """A client, waiting for a state database that is away: a service may start before it. A refused
    login is raised at once."""
    for pause in BACKOFF.delays():
        try:
            client = client_of(call)
        except StateUnavailable as error:
            if not error.retryable:
                raise
            if pause == BACKOFF.first:
                note(f"control plane unavailable, retrying: {escaped(error)}")
        else:
            if pause != BACKOFF.first:
                note("control plane available again")
            return client
        sleep(pause)
    raise AssertionError("delays never end")


@contextmanager
def writing(call: Call, *, sweep: bool = True, wait: bool = False) -> Iterator[Client]:
    """A client for a command that writes. Attempts of dead processes are reaped first, and SLA
    breaches reported, if the caller may do so. With ``wait``, a state database that is away is
    waited for."""
    client = client_when_available(call) if wait else client_of(call)
    client.start()
    if _reap(client) and sweep:
        _report_late(client)
    yield client


def _reap(client: Client) -> bool:
    """Whether the caller may reap: a token for the command need not allow ``work``. What it may not
    do is not tried, because a refusal is recorded in the audit."""
    if client.actions is not None and _WORK not in client.actions:
        return False
    try:
        reaped = client.operations.reap()
    except NotPermitted:
        return False
    for ended in reaped:
        note(reaped_line(ended))
    return True


def _report_late(client: Client) -> None:
    """A failed SLA check stops no command; ``alerts sweep`` shows the reason."""
    try:
        for alert in client.notifications.sweep():
            note(f"{alert.dataset} is late: {escaped(alert.message)}")
    except StateError:
        raise
    except LakeGuardError as error:
        note(f"could not check SLAs: {escaped(error)}")


def reaped_line(ended: AbandonedAttempt) -> str:
    """One line about a reaped attempt: worker, start, reason, and the task's new state."""
    worker, until = ended.worker, ended.lease_expires_at
    by = "" if worker is None else f" by {escaped(worker.host)}:{worker.pid}"
    if ended.run_id is None:
        return (
            f"task {escaped(ended.task_id)} of {escaped(ended.name)}, submitted{by} at "
            f"{moment(ended.begun_at)}, never started: {escaped(ended.reason)}; it was ended, and "
            f"the task is {ended.state}"
        )
    begun = f"run {escaped(ended.run_id)}, begun{by} at {moment(ended.begun_at)}"
    lease = "" if until is None else f", lease until {moment(until)}"
    became = f"its commit was adopted as v{ended.version}" if ended.version else "it was ended"
    return (
        f"task {escaped(ended.task_id)} of {escaped(ended.name)} was abandoned ({begun}{lease}): "
        f"{escaped(ended.reason)}; {became}, and the task is {ended.state}"
    )


def person() -> str:
    """The calling user, for the ledger."""
    try:
        return f"cli:{getpass.getuser()}"
    except (OSError, KeyError):
        return "cli"


# Graceful shutdown of commands that run until stopped.


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """SIGTERM and Ctrl-C call ``stop`` instead of interrupting the process."""
    signals = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda *_: stop()) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
