"""Texts that no person writes, in every field of every body, on a server with types and limits:
each call is carried out or refused, and none is an internal error.

The fields are those of the schemas of the bodies, so that a new one is among them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lakeguard.http.listen_address import parse_place
from lakeguard.http.request_values import LONGEST_TEXT, VALUES_OF_ROWS
from lakeguard.service_plane import open_service
from lakeguard_sdk.api.operation import Effect, Operation
from lakeguard_sdk.api.operations import OPERATIONS
from lakeguard_sdk.api.port_types import types_of
from lakeguard_sdk.api.remote_calls import Request
from tests.support.cases.text_places import Place, documents_with
from tests.support.fakes.asked_app import AskedApp
from tests.support.projects.jobs import JOB
from tests.support.projects.known_ids import Ids, ids_of, request_of
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project, states_of
from tests.support.projects.served_roles import organisation_definitions

pytestmark = pytest.mark.soak

TEXTS = {
    "longer than a name": secrets.token_hex(10_000),
    "too long": "x" * (LONGEST_TEXT + 1),
    "NUL": "a\0b",
    "marks": "../%2e%2e'; DROP TABLE tasks; --\u202e\x1b[31m\r\n=cmd()<script>\ufffe\u2028\ufb01",
}
DEFINING = frozenset({"registry.plan", "reader.schema_diff", "history.remeasure_plan"})
"""They store nothing; what a plan holds is that of ``registry.apply`` too."""
LIMITED_BY_PORTS = VALUES_OF_ROWS | {"given", "message", "notes", "plan"}


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[AskedApp, Ids]]:
    folder: Path = tmp_path_factory.mktemp("odd")
    with states_of("postgresql"):
        client = make_project(folder, organisation_definitions(NUMBERS, JOB))
        client.jobs.deploy("tests")
        ids = ids_of(client)
        yield AskedApp(open_service(str(folder), parse_place("127.0.0.1:8600"))), ids


def requests_with(text: str, operation: Operation, ids: Ids) -> Iterator[tuple[Place, Request]]:
    request, body = request_of(operation, ids), types_of(operation).body
    if body is None or operation.long or operation.name in DEFINING:
        return
    example = body.model_validate_json(request.body or b"{}").to_data()
    for place, document in documents_with(text, body.model_json_schema(), example):
        yield place, replace(request, body=json.dumps(document).encode())


@pytest.mark.parametrize("kind", TEXTS)
def test_no_text_is_an_internal_error(asked: tuple[AskedApp, Ids], kind: str) -> None:
    app, ids = asked
    wrong = list[str]()
    for operation in OPERATIONS:
        for place, request in requests_with(TEXTS[kind], operation, ids):
            reply = app.send(request.verb, request.url, request.body, **dict(request.headers))
            named = f"{operation.name} {'.'.join(place)[:100]}: {reply.status_code}"
            if reply.status_code >= 500:
                wrong.append(f"{named} {reply.text}")
            elif kind == "too long" and reply.status_code != 422:
                is_stored = operation.effect is not Effect.SAFE
                wrong += [named] if is_stored and LIMITED_BY_PORTS.isdisjoint(place) else []
    assert wrong == [], "\n".join(wrong)
    assert app.get("/tasks").status_code == 200
