"""Requests to the application of a service, without a socket."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.service import Service
from lakeguard.service_plane import open_service
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
