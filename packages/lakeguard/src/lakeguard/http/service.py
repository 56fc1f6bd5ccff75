"""The parts of a service, provided by the composition root."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lakeguard.access.principal import Principal
from lakeguard.http.authenticate import Authenticator
from lakeguard.http.certificate import Certificate
from lakeguard.http.listen_address import Place
from lakeguard.http.rate_limits import RateLimits
from lakeguard.http.traces import NoTraces, Traces
from lakeguard.services.request_keys import RequestKeys
from lakeguard.services.service_figures import ServiceFigures
from lakeguard_sdk.client import Client
from lakeguard_sdk.model.run import RunTicket


@dataclass(frozen=True)
class Service:
    client: Client
    """The service's own client, for the inbox."""
    organisation: str
    authenticate: Authenticator
    client_for: Callable[[Principal], Client]
    keys_for: Callable[[Principal], RequestKeys]
    ticket_of: Callable[[str], RunTicket]
    """The ticket in a task token; raises ``BadToken``."""
    place: Place
    """Where it listens."""
    inbox_secret: Callable[[], str] | None = None
    """Signing secret of events; None: events are accepted from this machine only, and not where
    calls need a token."""
    has_api: bool = True
    """Without the API, only reports of tasks and events are accepted."""
    figures: Callable[[], ServiceFigures] | None = None
    """Read at each scrape."""
    certificate: Certificate | None = None
    """None: plain HTTP."""
    trusted_proxies: tuple[str, ...] = ()
    """Networks whose X-Forwarded-For and X-Forwarded-Proto are trusted."""
    traces: Traces = field(default_factory=NoTraces)
    limits: RateLimits | None = None
    """None: no limits, for the local user."""
