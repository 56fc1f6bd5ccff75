"""Composition root of a service: authentication, and the ports of each principal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from lakeguard.access.users import local_user
from lakeguard.notifications.sender import senders_of
from lakeguard.plane import (
    all_ports,
    client_of_run,
    connect_embedded,
    context_of,
    keys_of,
    open_state,
)
from lakeguard.relay.relay import Relay
from lakeguard.settings import ServiceSettings, Settings, load_settings
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.client import Client

if TYPE_CHECKING:
    from lakeguard.access.authenticate import Authenticator
    from lakeguard.access.principal import Principal
    from lakeguard.http.certificate import Certificate
    from lakeguard.http.listen_address import Place
    from lakeguard.http.service import Service
    from lakeguard.services.manage_identity import ManageIdentity
    from lakeguard_sdk.model.run import RunTicket

_MOST_CLIENTS = 1_000
"""Clients of principals that a service caches."""


def open_service(
    folder: str, place: Place, *, env: str | None = None, tokens: bool = False
) -> Service:
    """The service of a project folder, not yet listening."""
    settings = load_settings(Path(folder), env)
    return service_of(connect_embedded(folder, env=env), settings, place, tokens=tokens)


def needs_tokens(settings: Settings, place: Place) -> bool:
    """Whether requests need a token. They do not if the State is a file and only this machine is
    served, without a proxy: whoever may read the file may call the service."""
    proxies = settings.service.trusted_proxies
    return settings.database.file is None or not place.is_loopback or bool(proxies)


def service_of(
    client: Client, settings: Settings, place: Place, *, has_api: bool = True, tokens: bool = False
) -> Service:
    """Without the API, only reports of tasks and events are accepted. Without tokens, everyone on
    this machine may call it, as the local user."""
    from lakeguard.http.authenticate import LocalAuthenticator, TokenAuthenticator
    from lakeguard.http.rate_limits import RateLimits
    from lakeguard.http.service import Service
    from lakeguard.http.traces import open_traces
    from lakeguard.services.request_keys import RequestKeys
    from lakeguard.services.service_figures import FigureSource

    database, secret = open_state(settings), settings.inbox.secret
    if client.delivery is not None:
        client.delivery.watch(lambda: database.commits)
    tickets = ticket_reader(settings, database)
    state = OrganisationState.of(database, settings.organisation)
    authenticator = authenticator_for(settings, database)
    figures = FigureSource(state, client.reader) if has_api else None
    if figures is not None:
        figures.begin()
    return Service(
        client=client,
        organisation=settings.organisation,
        authenticate=TokenAuthenticator(authenticator.authenticate)
        if tokens
        else LocalAuthenticator(settings.organisation, ticket_reader(settings)),
        client_for=_clients(client, settings, database, tokens=tokens),
        keys_for=lambda principal: RequestKeys(state, principal.name),
        ticket_of=tickets,
        place=place,
        inbox_secret=None if secret is None else secret.resolve,
        has_api=has_api,
        figures=figures,
        certificate=certificate_of(settings.service),
        trusted_proxies=settings.service.trusted_proxies,
        traces=open_traces(settings.service.traces),
        limits=None if has_api and not tokens else RateLimits(settings.service),
    )


def _clients(
    client: Client, settings: Settings, database: Database, *, tokens: bool
) -> Callable[[Principal], Client]:
    """The client of each principal; without tokens, all but tasks share that of the service."""
    if tokens:
        return lru_cache(maxsize=_MOST_CLIENTS)(partial(client_for, settings, database))

    def local_client(principal: Principal) -> Client:
        if principal.task is None:
            return client
        ticket = principal.task.ticket
        return client_of_run(client.reader, client.runs, ticket, client.lake, client.project)

    return local_client


def certificate_of(settings: ServiceSettings) -> Certificate | None:
    from lakeguard.http.certificate import Certificate

    if settings.tls_cert is None or settings.tls_key is None:
        return None
    return Certificate(settings.tls_cert, settings.tls_key)


def client_for(settings: Settings, database: Database, principal: Principal) -> Client:
    """All ports for one principal. The service delivers with its own client."""
    from lakeguard.services.authorised_client import authorised_client

    context = replace(
        context_of(settings, database),
        org_id=principal.org_id,
        actor=principal.name,
        source_roots=settings.service.source_roots,
        caller=principal,
    )
    senders, relay = senders_of(context, settings), Relay(context, settings.lake)
    whole = all_ports(settings, context, relay, senders)
    return authorised_client(whole, context, principal)


def manage_identity(
    settings: Settings, database: Database, principal: Principal | None = None
) -> ManageIdentity:
    """Management of users, roles and tokens; without a principal, for the local user."""
    from lakeguard.services.manage_identity import ManageIdentity

    actor = local_user() if principal is None else principal.name
    state = OrganisationState.of(database, settings.organisation, database.clock, actor)
    return ManageIdentity(state, keys_of(settings), principal)


def authenticator_for(settings: Settings, database: Database) -> Authenticator:
    """Finds the principal of an Authorization header."""
    from lakeguard.access.authenticate import Authenticator

    state = OrganisationState.of(database, settings.organisation, database.clock)
    return Authenticator(settings.identity, settings.organisation, keys_of(settings), state)


def ticket_reader(
    settings: Settings, database: Database | None = None
) -> Callable[[str], RunTicket]:
    """Reads task tokens of the environment; raises ``BadToken``. With a database, it also refuses
    tokens of a disabled organisation, and of a worker that may no longer work."""
    keys, check = keys_of(settings), None
    if database is not None:
        from lakeguard.access.session import require_admitted

        state = OrganisationState.of(database, settings.organisation, database.clock)
        check = partial(require_admitted, state)

    def read(text: str) -> RunTicket:
        from lakeguard.access.task_tokens import TaskTokens

        task = TaskTokens(keys, settings.organisation).task_of(text)
        if check is not None:
            check(task)
        return task.ticket

    return read
