"""``lakeguard serve``: the control plane over HTTP."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click

from lakeguard.cli.commands.operate.dispatcher import dispatching
from lakeguard.cli.options import Call, shared_options
from lakeguard.cli.session import client_when_available, project_of, require_folder, stopping
from lakeguard.cli.terminal.output import answer
from lakeguard.cli.terminal.progress import note
from lakeguard.services.dispatcher_loop import DispatcherLoop
from lakeguard.services.plain_text import escaped
from lakeguard.settings import Settings, load_settings


@click.command("serve")
@click.option(
    "--listen",
    metavar="HOST:PORT",
    default="127.0.0.1:8600",
    show_default=True,
    help="Where to listen; port 0 picks a free one.",
)
@click.option(
    "--tls-cert",
    metavar="FILE",
    type=click.Path(path_type=Path, resolve_path=True),
    help="Serve HTTPS with this certificate, in PEM.",
)
@click.option(
    "--tls-key",
    metavar="FILE",
    type=click.Path(path_type=Path, resolve_path=True),
    help="Its private key.",
)
@click.option("--dispatch", is_flag=True, help="Also do the work of a dispatcher.")
@shared_options
def serve_command(
    call: Call, listen: str, tls_cert: Path | None, tls_key: Path | None, dispatch: bool
) -> None:
    """Serve the control plane over HTTP, until stopped.

    With a SQLite database, everyone on this machine may use it, as you. With PostgreSQL, or at an
    address that other machines can reach, tokens are required. Clients connect with
    LAKEGUARD_URL=http://127.0.0.1:8600. On shutdown, open requests are answered first. One line of
    JSON per request goes to standard error.
    """
    from lakeguard.http.app import create_app
    from lakeguard.http.listen_address import parse_place
    from lakeguard.http.listener import listen as bound
    from lakeguard.http.listener import serving
    from lakeguard.http.log_lines import logged_as_json
    from lakeguard.service_plane import needs_tokens, service_of

    require_folder("serve")
    settings = _with_certificate(load_settings(project_of(call), call.env), tls_cert, tls_key)
    place = parse_place(listen)
    client = client_when_available(call)
    service = service_of(client, settings, place, tokens=needs_tokens(settings, place))
    listener = bound(service)
    if not place.is_loopback and service.certificate is None and not service.trusted_proxies:
        note("plain HTTP: tokens can be read in transit; see --tls-cert, or trusted_proxies")
    client.start()
    stopped = threading.Event()
    with ExitStack() as stack:
        stack.enter_context(logged_as_json())
        stack.enter_context(stopping(stopped.set))
        if dispatch:
            loop = stack.enter_context(dispatching(call, client, settings))
            stack.enter_context(_in_thread(loop))
        stack.enter_context(serving(create_app(service), listener))
        data = {"url": listener.url, "organisation": settings.organisation, "dispatch": dispatch}
        answer(call, data, [f"serving {escaped(settings.organisation)} at {listener.url}"])
        sys.stdout.flush()
        stopped.wait()
        note("stopping")


def _with_certificate(settings: Settings, cert: Path | None, key: Path | None) -> Settings:
    """The settings, with the certificate of the options if given."""
    if (cert is None) != (key is None):
        raise click.UsageError("write both --tls-cert and --tls-key, or neither")
    if cert is None:
        return settings
    service = settings.service.model_copy(update={"tls_cert": cert, "tls_key": key})
    return settings.model_copy(update={"service": service})


@contextmanager
def _in_thread(loop: DispatcherLoop) -> Iterator[None]:
    thread = threading.Thread(target=loop.run, name="dispatcher", daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.stopped.set()
        thread.join()
