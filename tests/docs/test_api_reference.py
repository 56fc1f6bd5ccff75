"""The published description of the API changes in compatible ways only."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakeguard.http.openapi import openapi_document
from lakeguard_sdk.api.operations import OPERATIONS
from tools.docs.api_changes import breaking_changes, require_compatible

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "docs" / "reference" / "openapi.json"
PAGE = (ROOT / "docs" / "reference" / "api.md").read_text("utf-8")
RUNS = "/api/v1/runs"


def published() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(PUBLISHED.read_text("utf-8"))
    return document


def test_the_api_breaks_no_caller_of_the_published_one() -> None:
    assert breaking_changes(published(), openapi_document()) == []


def test_every_operation_is_on_the_page() -> None:
    for operation in OPERATIONS:
        assert f"| `{operation.method}` | `{operation.verb} {operation.template}` |" in PAGE


def _without_path(document: dict[str, Any]) -> None:
    del document["paths"][RUNS]


def _without_parameter(document: dict[str, Any]) -> None:
    document["paths"][RUNS]["get"]["parameters"] = []


def _new_required_parameter(document: dict[str, Any]) -> None:
    more = {"name": "why", "in": "query", "required": True, "schema": {"type": "string"}}
    document["paths"][RUNS]["get"]["parameters"].append(more)


def _without_field(document: dict[str, Any]) -> None:
    del document["components"]["schemas"]["DatasetRow"]["properties"]["owner"]


def _other_type(document: dict[str, Any]) -> None:
    fields = document["components"]["schemas"]["DatasetRow"]["properties"]
    fields["owner"] = {"type": "integer"}


def _new_required_field(document: dict[str, Any]) -> None:
    body = document["components"]["schemas"]["RunTicket"]
    body["properties"]["reason"] = {"type": "string"}
    body["required"].append("reason")


@pytest.mark.parametrize(
    "change",
    [
        _without_path,
        _without_parameter,
        _new_required_parameter,
        _without_field,
        _other_type,
        _new_required_field,
    ],
)
def test_a_breaking_change_is_found(change: Callable[[dict[str, Any]], None]) -> None:
    changed = copy.deepcopy(published())
    change(changed)
    assert breaking_changes(published(), changed)


def test_a_breaking_change_needs_another_version() -> None:
    changed = copy.deepcopy(published())
    _without_path(changed)
    with pytest.raises(ValueError, match="get /api/v1/runs is gone"):
        require_compatible(published(), changed)
    changed["info"]["version"] = "0.99.0"
    require_compatible(published(), changed)


def test_a_new_field_of_an_answer_breaks_nobody() -> None:
    changed = copy.deepcopy(published())
    row = changed["components"]["schemas"]["DatasetRow"]
    row["properties"]["colour"] = {"type": "string"}
    assert breaking_changes(published(), changed) == []
