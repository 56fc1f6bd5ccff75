"""Credentials by the standard chain of AWS: environment, profile, web identity, instance.

Some of them come from a service. They are found once and used until shortly before their end, or
until they are asked for anew.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from botocore.credentials import Credentials as Found


class Credentials(NamedTuple):
    access_key: str
    secret_key: str
    token: str | None = None

    def __repr__(self) -> str:
        return "Credentials(…)"


class AwsChain:
    def __init__(self) -> None:
        self._found: Found | None = None
        self._finding = threading.Lock()

    def current(self) -> Credentials:
        """Those in use; other ones shortly before their end."""
        with self._finding:
            found = self._found or self._find()
        return _frozen(found)

    def renewed(self) -> Credentials:
        """Those that the chain has now."""
        with self._finding:
            found = self._find()
        return _frozen(found)

    def _find(self) -> Found:
        from botocore.session import Session  # only lakes in S3 need it

        found = Session().get_credentials()
        if found is None:
            raise PermissionError(
                "no credentials for the object store:"
                " set AWS_PROFILE, or keys in [env.NAME.storage]"
            )
        self._found = found
        return found


def _frozen(found: Found) -> Credentials:
    frozen = found.get_frozen_credentials()
    return Credentials(frozen.access_key, frozen.secret_key, frozen.token)
