"""A secret in the place of any text of any request: in no refusal and no line of a log."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.api.operations import OPERATIONS
from lakeguard_sdk.api.remote_calls import Request
from tests.support.projects.known_ids import ids_of, request_of, sent
from tests.support.projects.served_roles import OURS, served_roles

CANARY = "AKIAC4N4RY7QZX3M5P2W"
"""Of the form of an access key."""
MOST_TEXTS = 12
"""Of one body; those of a definition are walked by the tests of the registry."""


def requests_with(secret: str, request: Request) -> Iterator[Request]:
    """One for each text of the request, in the place of that text."""
    folders = request.url.split("/")
    for index, (name, _) in enumerate(request.query):
        pairs = [*request.query]
        pairs[index] = (name, secret)
        yield replace(request, query=tuple(pairs))
    for index in range(4, len(folders), 2):
        yield replace(request, url="/".join([*folders[:index], secret, *folders[index + 1 :]]))
    if request.body is not None:
        texts = list(changed(json.loads(request.body), secret))[:MOST_TEXTS]
        yield from (replace(request, body=json.dumps(each).encode()) for each in texts)
        yield replace(request, body=json.dumps({secret: secret}).encode())


def changed(data: Any, secret: str) -> Iterator[Any]:
    """The document once for each of its texts, which the secret replaces."""
    if isinstance(data, str):
        yield secret
    elif isinstance(data, dict):
        for name, value in data.items():
            yield from ({**data, name: other} for other in changed(value, secret))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            for other in changed(value, secret):
                yield [*data[:index], other, *data[index + 1 :]]


def test_no_refusal_and_no_log_repeats_a_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """That of the caller's token neither, which is in no file."""
    wrong: set[str] = set()
    with served_roles(tmp_path) as served, caplog.at_level(logging.DEBUG, "lakeguard"):
        ids = ids_of(served.whole(OURS))
        with served.client("admin") as client:
            client.headers["X-Request-Id"] = CANARY
            token = client.headers["authorization"].partition(" ")[2]
            for operation in OPERATIONS:
                for request in requests_with(CANARY, request_of(operation, ids)):
                    reply = sent(client, request)
                    assert reply.status_code < 500, (operation.name, reply.text)
                    if reply.status_code >= 400 and CANARY in f"{reply.text}{reply.headers}":
                        wrong.add(f"{operation.name} {reply.status_code} {reply.text}")
        served.whole(OURS).deliver()
    for record in caplog.records:
        text = f"{record.getMessage()} {record.exc_text}"
        wrong |= {f"log of {record.name}: {text}" for each in (CANARY, token) if each in text}
    for file in filter(Path.is_file, tmp_path.rglob("*")):
        wrong |= {f"{file}"} if token.encode() in file.read_bytes() else set()
    assert wrong == set(), "\n".join(sorted(wrong))
