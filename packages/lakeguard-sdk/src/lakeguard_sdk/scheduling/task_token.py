"""Task tokens: a run ticket as opaque text for external systems.

A token contains the attempt and its lease token, and no location, URL or organisation. It is valid
while that attempt is running.
"""

from __future__ import annotations

import base64
import binascii
import re

from pydantic import ValidationError

from lakeguard_sdk.errors import BadToken
from lakeguard_sdk.model.run import RunTicket

PREFIX = "lgt1_"
LONGEST = 1_000
_SHAPE = re.compile(rf"{PREFIX}([A-Za-z0-9_-]+)\Z", re.ASCII)


def token_of(ticket: RunTicket) -> str:
    """Deterministic."""
    packed = base64.urlsafe_b64encode(ticket.to_json().encode())
    return PREFIX + packed.decode().rstrip("=")


def ticket_of(token: str) -> RunTicket:
    """Raises ``BadToken`` for anything that ``token_of`` does not produce."""
    shape = _SHAPE.match(token) if len(token) <= LONGEST else None
    if shape is None:
        raise BadToken()
    try:
        packed = base64.b64decode(shape[1] + "=" * (-len(shape[1]) % 4), b"-_", validate=True)
        ticket = RunTicket.from_json(packed)
    except (binascii.Error, ValidationError, ValueError):
        raise BadToken() from None
    if token_of(ticket) != token:
        raise BadToken()
    return ticket
