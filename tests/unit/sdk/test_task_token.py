"""A task token is its ticket and nothing else; nothing else is a task token."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import BadToken, LakeGuardError, NoteRefused
from lakeguard_sdk.model.evidence import checked_notes
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.scheduling.task_token import PREFIX, ticket_of, token_of
from lakeguard_sdk.security.secret_values import holds_secret, masked

TICKET = RunTicket(
    run_id=new_id("run"), task_id=new_id("task"), attempt=3, lease_token=new_id("lease")
)


def packed(data: object) -> str:
    text = base64.urlsafe_b64encode(json.dumps(data, separators=(",", ":")).encode())
    return PREFIX + text.decode().rstrip("=")


@given(st.text(max_size=30), st.text(max_size=30), st.integers(0, 10**6), st.text(max_size=30))
def test_a_token_is_its_ticket(run: str, task: str, attempt: int, lease: str) -> None:
    ticket = RunTicket(run_id=run, task_id=task, attempt=attempt, lease_token=lease)
    token = token_of(ticket)
    assert ticket_of(token) == ticket
    assert token.isascii()
    assert token.isprintable()


@given(st.text())
@example("")
@example(PREFIX)
@example(PREFIX + "A")
@example(PREFIX + "=")
@example("Bearer " + token_of(TICKET))
@example(token_of(TICKET) + "\n")
@example(token_of(TICKET) + "=")
@example(token_of(TICKET)[:-1])
@example(packed({**TICKET.to_data(), "org_id": "others"}))
@example(packed({**TICKET.to_data(), "attempt": "3"}))
@example(packed([[[]]]))
@example(PREFIX + "A" * 10_000)
def test_nothing_else_is_one(text: str) -> None:
    with pytest.raises(BadToken) as refused:
        ticket_of(text)
    assert isinstance(refused.value, LakeGuardError)
    assert text not in str(refused.value) or not text.strip()


@given(st.text(max_size=30), st.integers(0, 10**6))
def test_a_token_is_known_as_a_secret(text: str, attempt: int) -> None:
    token = token_of(RunTicket(run_id=text, task_id=text, attempt=attempt, lease_token=text))
    assert holds_secret(f"sent {token} along")
    assert token not in masked(f"sent {token} along")
    with pytest.raises(NoteRefused):
        checked_notes({"said": token})


def test_a_token_shows_nothing_of_its_lease() -> None:
    assert TICKET.lease_token not in token_of(TICKET)
