"""What an error of an engine says about the object store: that it was unavailable, or refused.

``obstore`` and delta-rs word their errors alike, Hadoop's ``s3a`` has words of its own. Of what a
store responded only code and message are shown: the rest may repeat keys.
"""

from __future__ import annotations

import re

from lakeguard_sdk.errors import CredentialsExpired, StoreAccessRefused, StoreUnavailable

_OF_A_STORE = re.compile(
    r"Error performing (?:GET|PUT|HEAD|POST|DELETE|list|bulk)|\bService: S3\b|awssdk|fs\.s3a\b"
)
_STATUS = re.compile(r"status code\W+(\d{3})\b", re.IGNORECASE)
_NO_RESPONSE = re.compile(
    r"HTTP error|Unable to execute HTTP request|error decoding response body|operation timed out"
)
_FIELDS = re.compile(r"<(Code|Message)>([^<]*)</\1>")
_DECORATION = re.compile("\x1b\\[[0-9;]*m|↳")
_EXPIRED = re.compile(r"\b(?:Expired\w*|TokenRefreshRequired|RequestExpired)\b|\bhas expired\b")
_LONGEST = 300


def store_failure(error: BaseException, location: str) -> StoreUnavailable | None:
    """As an error of its own; None if the error is about something else."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, StoreUnavailable):
            return seen
        found = _failure_in(str(seen), location)
        if found is not None:
            return found
        seen = seen.__cause__ or seen.__context__
    return None


def store_reason(text: str) -> str:
    """The cause in one line, without addresses and headers."""
    plain = _plain(text)
    head, _, body = plain.partition("<")
    told = ": ".join(value for _, value in _FIELDS.findall(f"<{body}"))
    return (told or head.strip())[:_LONGEST]


def _failure_in(text: str, location: str) -> StoreUnavailable | None:
    plain = _plain(text)
    for kind in (StoreUnavailable, CredentialsExpired, StoreAccessRefused):
        _, ours, rest = plain.partition(kind.what.partition("{")[0])
        if ours:  # an engine that calls the storage port keeps only the text of its errors
            return kind(location=location, reason=rest[:_LONGEST])
    if _OF_A_STORE.search(plain) is None:
        return None
    status = _STATUS.search(plain)
    if status is None:
        responded = _NO_RESPONSE.search(plain) is None
        reason = "it did not respond in time, or closed the connection"
        return None if responded else StoreUnavailable(location=location, reason=reason)
    return _refusal(int(status[1]), plain, location)


def _refusal(status: int, text: str, location: str) -> StoreUnavailable | None:
    codes = ": ".join(value for _, value in _FIELDS.findall(text))
    reason = f"{codes} (status {status})" if codes else f"status {status}"
    if status >= 500 or status == 429:
        return StoreUnavailable(location=location, reason=reason[:_LONGEST])
    if _EXPIRED.search(text):
        return CredentialsExpired(location=location, reason=reason[:_LONGEST])
    if status in (401, 403):
        return StoreAccessRefused(location=location, reason=reason[:_LONGEST])
    return None


def _plain(text: str) -> str:
    """One line, without what ``obstore`` adds for its developers."""
    return " ".join(_DECORATION.sub(" ", text.split("Debug source:")[0]).split())
