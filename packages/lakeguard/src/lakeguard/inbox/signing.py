"""Whether an event comes from who knows the secret, and was signed a moment ago."""

from __future__ import annotations

import hmac
import re

from lakeguard_sdk.signed_post import signature

FRESH_SECONDS = 300
"""So far a sender's clock may be from ours; an older message may be a repeat by a stranger."""
_MOMENT = re.compile(r"[0-9]{1,12}\Z", re.ASCII)


def is_fresh(timestamp: str, now: float) -> bool:
    return bool(_MOMENT.match(timestamp)) and abs(now - int(timestamp)) <= FRESH_SECONDS


def is_signed(secret: str, timestamp: str, told: str, body: bytes) -> bool:
    wanted = signature(secret, timestamp, body)
    return hmac.compare_digest(wanted.encode(), told.encode("utf-8", "replace"))
