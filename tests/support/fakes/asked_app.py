"""Requests to the application of a service, without a socket."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from lakeguard.access.principal import Action
from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.service import Service
from lakeguard.plane import open_state
from lakeguard.service_plane import manage_identity, open_service
from lakeguard.settings import load_settings
from tests.support.projects.projects import numbers_project


@dataclass
class AskedApp:
    service: Service
    app: Any = field(init=False)

    def __post_init__(self) -> None:
        self.app = create_app(self.service)

    def send(self, verb: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """A body that is not bytes is written as JSON; underscores in names of headers are
        dashes."""
        raw = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://127.0.0.1:8600"
            ) as client:
                return await client.request(verb, path, content=raw, headers=named)

        return asyncio.run(asked())

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.send("GET", f"/api/v1{path}", **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:
        return self.send("POST", f"/api/v1{path}", body, **headers)


def numbers_app(folder: Path) -> AskedApp:
    numbers_project(folder)
    return AskedApp(open_service(str(folder), parse_place("127.0.0.1:8600")))


def token_app(folder: Path, settings: str = "") -> AskedApp:
    """The same, asking for tokens; ``settings`` are those of the environment's service."""
    numbers_project(folder)
    file = folder / "lakeguard.toml"
    file.write_text(f"{file.read_text()}\n[env.dev.service]\n{settings}\n")
    return AskedApp(open_service(str(folder), parse_place("127.0.0.1:8600"), tokens=True))


def token_for(folder: Path, name: str, *actions: Action) -> str:
    """The Authorization header of a new service token."""
    settings = load_settings(folder)
    shown = manage_identity(settings, open_state(settings)).create_token(name, actions, ())
    return f"Bearer {shown.text}"
