"""Removes the control plane's secrets from the process environment.

Child processes and user code can no longer read them; the settings that reference them still can.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from pydantic import BaseModel

from lakeguard.settings.settings import SecretReference, Settings, hold_variable
from lakeguard_sdk.errors import SettingsError

LIBPQ_PREFIX = "PG"
"""Variables that configure every PostgreSQL client of the process."""
_PASSWORDS = ("PGPASSWORD", "PGPASSFILE")


def hide_secrets(settings: Settings) -> None:
    """Make secrets available to ``SecretReference.resolve`` only.

    SettingsError if the State's password comes from a variable that the settings do not name.
    """
    _require_named_password(settings)
    for reference in _references(settings):
        if reference.variable:
            hold_variable(reference.variable)
    for name in [name for name in os.environ if name.startswith(LIBPQ_PREFIX)]:
        del os.environ[name]


def _require_named_password(settings: Settings) -> None:
    database = settings.database
    found = [name for name in _PASSWORDS if os.environ.get(name)]
    if database.server and database.password is None and found:
        problem = f'{found[0]} is not supported; write password = "env:NAME" or "file:PATH"'
        file = str(settings.folder / "lakeguard.toml")
        raise SettingsError(file=file, problem=f"env.{settings.env}.password: {problem}")


def _references(noun: object) -> Iterator[SecretReference]:
    """Every secret reference in the settings."""
    if isinstance(noun, SecretReference):
        yield noun
    elif isinstance(noun, tuple):
        for each in noun:
            yield from _references(each)
    elif isinstance(noun, BaseModel):
        for name in type(noun).model_fields:
            yield from _references(getattr(noun, name))
