"""Requests that Schemathesis makes of the OpenAPI document: to a real service, as every role.

All its checks, and calls that build on each other. A few requests for each operation here;
``make exhaustive`` sends more.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakeguard.http.openapi import openapi_document
from tests.support.databases.databases import SERVICE
from tests.support.lakes.quarantined_by_hand import ByHand
from tests.support.projects.jobs import JOB, trigger
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import states_of
from tests.support.projects.served_roles import OURS, ServedRoles, served_roles

pytestmark = pytest.mark.soak

STATES = {"viewer": "sqlite", "engineer": "sqlite", "steward": SERVICE, "admin": "sqlite"}
"""On what kind of State each role asks."""
CONFIG = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "4xx", "502", "503"]
"""
"""A valid request may still be about what does not exist."""


def document(known: dict[str, str]) -> dict[str, Any]:
    """With ids that exist, so that calls get further than to a 404."""
    found: dict[str, Any] = copy.deepcopy(openapi_document())
    found["security"] = [{"token": []}]
    for path, item in found["paths"].items():
        names = {**known, "name": JOB} if path.startswith("/api/v1/jobs/") else known
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path" and parameter["name"] in names:
                    parameter["schema"] = {"type": "string", "enum": [names[parameter["name"]]]}
    measures = found["components"]["schemas"]["HistoryRemeasurePlanCall"]["properties"]["measures"]
    measures["items"] = {"$ref": "#/components/schemas/RowCount"}  # others nest without end
    return found


def ids_of(served: ServedRoles) -> dict[str, str]:
    client = served.whole(OURS)
    ByHand(client).run([1, 2, -1])
    (run,) = client.reader.runs()
    client.deliver()
    return {
        "name": NUMBERS,
        "dataset": NUMBERS,
        "dataset_id": run.dataset_id,
        "run_id": run.run_id,
        "before": run.run_id,
        "after": run.run_id,
        "task_id": trigger(client, "waiting"),
    }


@pytest.fixture
def served(role: str, tmp_path: Path) -> Iterator[ServedRoles]:
    with states_of(STATES[role]), served_roles(tmp_path / "project") as made:
        yield made


@pytest.mark.parametrize("role", STATES)
@pytest.mark.parametrize("examples", [1, pytest.param(30, marks=pytest.mark.exhaustive)])
def test_no_request_fails_or_passes_without_a_token(
    role: str, examples: int, served: ServedRoles, tmp_path: Path
) -> None:
    (tmp_path / "openapi.json").write_text(json.dumps(document(ids_of(served))))
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    program = Path(sys.executable).with_name("schemathesis")
    token = served.issuer.token(f"{role}@example.org", groups=[role])
    asked = subprocess.run(
        [
            str(program),
            "--no-color",
            "run",
            "openapi.json",
            *("--url", served.urls[OURS], "--header", f"Authorization: Bearer {token}"),
            *("--checks", "all", "--phases", "fuzzing,stateful", "--max-examples", str(examples)),
            *(
                "--seed",
                "1",
                "--request-timeout",
                "60",
                "--max-response-time",
                "60",
                "--no-shrink",
                "--continue-on-failure",
            ),
        ],
        cwd=tmp_path,
        env={**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(tmp_path / "examples")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stdout[-20_000:] + asked.stderr[-2_000:]
