"""Projects whose clients reach them through a service, over a real socket."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.service_plane import open_service
from lakeguard_sdk import client as sdk_client
from lakeguard_sdk.api.connection import connect_remote
from lakeguard_sdk.client import PLANES, Client
from lakeguard_sdk.model.run import RunTicket
from tests.support.fakes.task_tokens import token_at


@dataclass
class Services:
    """One for each folder that is connected to."""

    stack: ExitStack
    urls: dict[tuple[str, str | None], str] = field(default_factory=dict)

    def connect(
        self, folder: str, *, env: str | None = None, ticket: RunTicket | None = None
    ) -> Client:
        key = (str(Path(folder).resolve()), env)
        if key not in self.urls:
            self.urls[key] = self.stack.enter_context(service_at(folder, env))
        token = None if ticket is None else token_at(folder, ticket, env)
        client = connect_remote(self.urls[key], token=token)
        return replace(client, project=str(Path(folder).resolve()))


@contextmanager
def service_at(folder: str | Path, env: str | None = None) -> Iterator[str]:
    """The URL of a service of the project."""
    service = open_service(str(folder), parse_place("127.0.0.1:0"), env=env)
    with serving(create_app(service), listen(service)) as listener:
        yield listener.url


@contextmanager
def projects_served(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every client of a folder that is made meanwhile is one of its service."""
    load: Callable[[str, str], object | None] = sdk_client._load
    with ExitStack() as stack:
        services = Services(stack)

        def loaded(group: str, name: str) -> object | None:
            if (group, name) == (PLANES, "embedded"):
                return services.connect
            return load(group, name)

        monkeypatch.setattr(sdk_client, "_load", loaded)
        yield
