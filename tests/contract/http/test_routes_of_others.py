"""Every route with ids of another organisation: answered as ids of nothing, and nothing is changed.

Whoever asks is an admin of an organisation that shares the State, but no dataset, job or id.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard_sdk.api.operation import Operation
from lakeguard_sdk.api.operations import OPERATIONS
from lakeguard_sdk.api.port_types import types_of
from tests.support.projects.known_ids import OPTIONAL, ask, ended, ids_of, like, unknown
from tests.support.projects.planes import NUMBERS
from tests.support.projects.served_roles import (
    OURS,
    THEIRS,
    ServedRoles,
    served_roles,
)

pytestmark = pytest.mark.usefixtures("each_state")

REFUSED: dict[str, tuple[int, ...]] = {THEIRS: (), OURS: (403,)}
"""Statuses besides 404: a call that needs a role on the whole organisation is refused first."""
OF_CALLS = frozenset(
    {"access_log", "audit_chain", "outbox", "relay_cursors", "request_keys", "users"}
)
NAMING = OPTIONAL | {
    *(
        "address",
        "after",
        "before",
        "dataset_id",
        "definitions",
        "draft",
        "evidence",
        "invalidation_id",
        "plan",
    ),
    *("record", "records", "target", "query"),
    *("profile", "reports", "run_id", "table_id", "task_id", "ticket", "tickets", "waiver_id"),
}
NO_IDS = frozenset({"topic", "channel", "version", "commit", "kind"})


def takes_an_id(operation: Operation) -> bool:
    asked = {
        name
        for name, each in types_of(operation).parameters.items()
        if each.is_required or name in OPTIONAL
    }
    return bool(asked & NAMING)


def is_about_one_thing(operation: Operation) -> bool:
    """Whether an id stands in its path."""
    return bool({field.partition(".")[0] for field in operation.path_fields} - NO_IDS)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedRoles]:
    with served_roles(tmp_path) as made:
        yield made


@pytest.mark.parametrize(
    ("role", "env"), [("admin", THEIRS), ("elsewhere", OURS)], ids=["foreign", "unreadable"]
)
def test_what_may_not_be_read_is_nothing(served: ServedRoles, role: str, env: str) -> None:
    """Of another organisation; and of a part of the own one that the role does not reach."""
    real = ids_of(served.whole(OURS))
    none, before = unknown(real), held(served, env)
    wrong: list[str] = []
    with served.client(role, env) as client:
        for operation in OPERATIONS:
            if operation.name == "registry.plan" and env == OURS:
                continue  # in an organisation, a name is taken or free, whoever asks
            expected = ended(client, ask(client, operation, none))
            status, text = found = ended(client, ask(client, operation, real))
            if not takes_an_id(operation):
                wrong += [f"{operation.name} shows {each}" for each in real.secret if each in text]
            elif (status, real.hidden(text)) != (expected[0], none.hidden(expected[1])):
                wrong.append(f"{operation.name}: {found}, not {expected}")
            elif is_about_one_thing(operation) and status not in (404, *REFUSED[env]):
                wrong.append(f"{operation.name}: {found}")
    assert wrong == [], "\n".join(wrong)
    assert held(served, env) == before


def held(served: ServedRoles, env: str) -> dict[str, list[str]]:
    """What the organisation has; without records of calls, if they are from its own people."""
    rows = served.rows(OURS)
    return {name: rows[name] for name in rows if env == THEIRS or name not in OF_CALLS}


def test_operations_and_answers_of_another_organisation_are_not_found(served: ServedRoles) -> None:
    """Though whoever asks has the same name and sends the same key."""
    key = {"Idempotency-Key": "same"}
    with served.client("admin", OURS) as ours, served.client("admin", THEIRS) as theirs:
        place = ours.post("/api/v1/ledger/verify", json={}).headers["location"]
        assert ours.get(place).status_code == 200
        other, none = theirs.get(place), theirs.get(like(place))
        assert (other.status_code, none.status_code) == (404, 404)
        assert other.text.replace(place[-8:], "0" * 8) == none.text
        path, body = f"/api/v1/datasets/{NUMBERS}/tasks", {"triggered_by": "x"}
        assert ours.post(path, json=body, headers=key).status_code == 200
        again = theirs.post(path, json=body, headers=key)
        assert (again.status_code, again.headers.get("idempotency-replayed")) == (404, None)
        token = ours.get("/api/v1/tasks", params={"page_size": "1"}).json()["next_page_token"]
        if token:
            listed = theirs.get("/api/v1/tasks", params={"page_token": token})
            assert listed.json().get("items", []) == []
