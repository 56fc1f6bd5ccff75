"""What is told outside of an error."""

from __future__ import annotations

import json

from lakeguard.http.responses import answer_to
from lakeguard_sdk.errors import StateLoginRefused


def test_a_state_that_lets_nobody_in_is_away_for_those_outside() -> None:
    answer = answer_to(
        StateLoginRefused(place="postgresql://clerk@there/x", reason="password failed")
    )
    document = json.loads(answer.body)
    assert (int(answer.status), document["code"], document["retryable"]) == (503, "LG-6003", True)
    assert "Retry-After" in answer.headers
    assert b"clerk" not in answer.body
    assert b"password" not in answer.body
