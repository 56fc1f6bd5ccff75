"""No body has a field that its operation does not name, however deep: nobody sets what is not his
to set, such as the organisation, a state or an attempt."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard_sdk.api.operations import OPERATIONS
from lakeguard_sdk.api.port_types import types_of
from lakeguard_sdk.scheduling.tasks import TaskReport

BODIES = {each.name: types_of(each).body for each in OPERATIONS} | {"tasks/report": TaskReport}


@pytest.mark.parametrize("name", [name for name, body in BODIES.items() if body is not None])
def test_every_object_of_a_body_is_closed(name: str) -> None:
    """Or it maps names that the caller chooses to values of one type."""
    body = BODIES[name]
    assert body is not None
    schema = body.model_json_schema()
    objects = {name: schema, **schema.get("$defs", {})}
    named = {title: each for title, each in objects.items() if "properties" in each}
    assert name in named or not schema.get("properties")
    assert [title for title, each in named.items() if is_open(each)] == []


def is_open(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties") is not False
