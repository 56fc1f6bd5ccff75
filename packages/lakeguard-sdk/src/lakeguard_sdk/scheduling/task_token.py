"""A ticket as one opaque text: what whoever works outside on a task is given, and sends back.

It names an attempt and holds its lease's token, and nothing else: no place, no address, no
organisation. It is worth something for as long as that attempt is the running one.
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
    """The same ticket has the same token."""
    packed = base64.urlsafe_b64encode(ticket.to_json().encode())
    return PREFIX + packed.decode().rstrip("=")


def ticket_of(token: str) -> RunTicket:
    """The ticket; ``BadToken`` for whatever ``token_of`` does not make."""
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
