"""A credential in any text that a request may hold: in no State, ledger, log, answer or trace.

The texts are those of the schemas of the bodies, so that a new field is among them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.http.listen_address import parse_place
from lakeguard.http.request_values import CHECKED_BY_PORTS, VALUES_OF_ROWS
from lakeguard.plane import open_state
from lakeguard.service_plane import open_service
from lakeguard.settings import load_settings
from lakeguard.state.tables.metadata import metadata
from lakeguard_sdk.api.operation import Effect, Operation
from lakeguard_sdk.api.operations import OPERATIONS
from lakeguard_sdk.api.port_types import types_of
from lakeguard_sdk.api.remote_calls import Request
from lakeguard_sdk.core.canonical_json import canonical_json
from tests.support.cases.text_places import documents_with
from tests.support.fakes.asked_app import AskedApp
from tests.support.fakes.trace_collector import Collector, trace_collector
from tests.support.projects.jobs import JOB
from tests.support.projects.known_ids import Ids, ids_of, request_of
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project
from tests.support.projects.served_roles import organisation_definitions

pytestmark = pytest.mark.soak

FORMS = (
    "AKIA{}",
    "postgresql://shop:{}@db.example/shop",
    "ghp_{}abcdefghijklmnopqrst",
    "lgs1_{}.abcdefghijklmnopqrst",
    "-----BEGIN PRIVATE KEY-----{}",
)
"""Keys of clouds and of this service, and an address with a password."""
DAY = {"lease_seconds": 86_400, "heartbeat_seconds": 3_600}


@dataclass
class Canaries:
    """A credential for each place, of every form in turn, which names where it was put."""

    places: list[str] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def put(self, place: str) -> str:
        self.places.append(place)
        number = next(self._numbers)
        return FORMS[number % len(FORMS)].format(word_of(number))

    def found_in(self, text: str) -> set[str]:
        if word_of(0)[:10] not in text:
            return set()
        return {name for number, name in enumerate(self.places) if word_of(number) in text}


def word_of(number: int) -> str:
    return f"C4N4RY7QZX{number:06d}"


@dataclass(frozen=True)
class Served:
    app: AskedApp
    ids: Ids
    folder: Path
    collector: Collector


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with trace_collector() as collector:
        client = make_project(tmp_path, organisation_definitions(NUMBERS, JOB), **DAY)
        client.jobs.deploy("tests")
        ids = ids_of(client)
        file = tmp_path / "lakeguard.toml"
        file.write_text(f'{file.read_text()}\n[env.dev.service]\ntraces = "{collector.url}"\n')
        app = AskedApp(open_service(str(tmp_path), parse_place("127.0.0.1:8600")))
        yield Served(app, ids, tmp_path, collector)


def addressed(request: Request, name: str, canaries: Canaries) -> Iterator[Request]:
    """With one in the place of each part of its path and query."""
    folders = request.url.split("/")
    for index in range(4, len(folders), 2):
        secret = canaries.put(f"{name} path {index}").replace("/", "%2F")
        yield replace(request, url="/".join([*folders[:index], secret, *folders[index + 1 :]]))
    for each in types_of(operation_named(name)).query:
        secret = canaries.put(f"{name} query {each.name}")
        kept = [pair for pair in request.query if pair[0] != each.name]
        yield replace(request, query=(*kept, (each.name, secret)))


def operation_named(name: str) -> Operation:
    return next(each for each in OPERATIONS if each.name == name)


def embodied(
    operation: Operation, request: Request, canaries: Canaries
) -> Iterator[tuple[tuple[str, ...], Request]]:
    """With one in the place of each text of its body, but for values of rows."""
    body = types_of(operation).body
    if body is None or operation.effect is Effect.SAFE:
        return
    example = body.model_validate_json(request.body or b"{}").to_data()
    for place, document in documents_with("CANARY", body.model_json_schema(), example):
        if VALUES_OF_ROWS.isdisjoint(place) or place[-1] == "a key":
            secret = canaries.put(f"{operation.name} {'.'.join(place)}")
            text = canonical_json(document).replace('"CANARY"', f'"{secret}"')
            if len(canaries.places) % 2:  # every other one is escaped
                text = text.replace(secret[:2], f"\\u{ord(secret[0]):04x}{secret[1]}")
            yield place, replace(request, body=text.encode())


def test_a_credential_in_any_field_is_refused_or_masked(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    canaries, wrong = Canaries(), set[str]()
    with caplog.at_level(logging.DEBUG, "lakeguard"):
        for operation in OPERATIONS:
            request = request_of(operation, served.ids)
            for each in addressed(request, operation.name, canaries):
                asked(served, each, canaries, wrong)
            for place, each in embodied(operation, request, canaries):
                status = asked(served, each, canaries, wrong)
                if status != 422 and CHECKED_BY_PORTS.isdisjoint(place):
                    wrong.add(f"{status} for {canaries.places[-1]}")
        head = canaries.put("Idempotency-Key")
        path = f"/api/v1/datasets/{NUMBERS}/tasks"
        keyed = served.app.send("POST", path, {"triggered_by": "x"}, idempotency_key=head)
        assert keyed.status_code == 422
    assert len(canaries.places) > 400
    wrong |= {f"log: {name}" for name in canaries.found_in(caplog.text)}
    served.app.service.client.deliver()
    served.app.service.traces.close()
    assert len(served.collector.spans()) > 400
    traced = "".join(map(repr, served.collector.spans()))
    wrong |= {f"trace: {name}" for name in canaries.found_in(traced)}
    wrong |= {f"stored: {name}" for name in canaries.found_in(rows_of(served.folder))}
    for file in filter(Path.is_file, (served.folder).rglob("*")):
        if not file.name.startswith("state.db"):
            text = file.read_bytes().decode("latin-1")
            wrong |= {f"{file.name}: {name}" for name in canaries.found_in(text)}
    assert wrong == set(), "\n".join(sorted(wrong))


def asked(served: Served, request: Request, canaries: Canaries, wrong: set[str]) -> int:
    query = "&".join(f"{name}={value}" for name, value in request.query)
    reply = served.app.send(
        request.verb, f"{request.url}?{query}", request.body, **dict(request.headers)
    )
    if reply.status_code >= 500:
        wrong.add(f"{reply.status_code} for {canaries.places[-1]}")
    if reply.status_code >= 400:
        shown = canaries.found_in(f"{reply.text}{reply.headers}")
        wrong |= {f"answer: {name}" for name in shown}
    return reply.status_code


def rows_of(folder: Path) -> str:
    """All of the State."""
    database = open_state(load_settings(folder))
    with database.read() as connection:
        return "\n".join(
            str(tuple(row))
            for table in metadata.sorted_tables
            for row in connection.execute(select(table))
        )
