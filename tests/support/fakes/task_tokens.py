"""Task tokens for tests, signed with one key in all their processes, or with a project's."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import TaskGrants
from lakeguard.access.task_tokens import TaskTokens
from lakeguard.plane import keys_of
from lakeguard.settings import load_settings
from lakeguard_sdk.model.run import RunTicket

TOKENS = TaskTokens(IdentityKeys(_root=[b"a key of tests".ljust(32)]), "default")


def token_of(ticket: RunTicket) -> str:
    return TOKENS.issue(TaskGrants(ticket), datetime.now(UTC))


def ticket_of(token: str) -> RunTicket:
    return TOKENS.task_of(token).ticket


def token_at(folder: str | Path, ticket: RunTicket, env: str | None = None) -> str:
    """As the control plane of the project issues it."""
    settings = load_settings(Path(folder), env)
    tokens = TaskTokens(keys_of(settings), settings.organisation)
    return tokens.issue(TaskGrants(ticket), datetime.now(UTC))
