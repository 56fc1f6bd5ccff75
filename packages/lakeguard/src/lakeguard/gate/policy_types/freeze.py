"""``freeze 2026-12-20..2027-01-03``, ``freeze saturday..sunday``"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from lakeguard.gate.evaluation.messages import moment_words
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.tokens import Token
from lakeguard.gate.policy_types.policy_form import (
    FormReference,
    PolicyForm,
    PolicyInput,
    PolicyKind,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import expect_one_of
from lakeguard_sdk.core.enums import PolicyType

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


class FreezeBetween(PolicyForm):
    """No table changes between two times."""

    policy: Literal["freeze_between"] = "freeze_between"
    start: str
    end: str
    """As written: whole days or times."""

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        frozen = _begin(self.start) <= policy_input.clock < _finish(self.end)
        word = "frozen" if frozen else "not frozen"
        return PolicyResult(not frozen, f"{word} at {moment_words(policy_input.clock)}")

    def is_over(self, clock: datetime) -> bool:
        """Whether it ended before ``clock``, so that it never applies again."""
        return _finish(self.end) <= clock

    def __str__(self) -> str:
        return f"freeze {self.start}..{self.end}"


class FreezeDays(PolicyForm):
    """No table changes on these weekdays."""

    policy: Literal["freeze_days"] = "freeze_days"
    first: str
    last: str

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        first, last = DAYS.index(self.first), DAYS.index(self.last)
        today = policy_input.clock.astimezone(UTC).weekday()
        frozen = (today - first) % 7 <= (last - first) % 7
        word = "frozen" if frozen else "not frozen"
        return PolicyResult(not frozen, f"{word} on a {DAYS[today]}")

    def __str__(self) -> str:
        return f"freeze {self.first}..{self.last}"


def _read(cursor: Cursor) -> PolicyForm:
    expect_one_of(cursor, "freeze", "freeze")
    if cursor.token.kind == "word":
        first = expect_one_of(cursor, "a day of the week or a date", *DAYS)
        cursor.expect_mark("..")
        return FreezeDays(first=first, last=expect_one_of(cursor, "a day of the week", *DAYS))
    start = _moment(cursor)
    cursor.expect_mark("..")
    end = _moment(cursor)
    if _finish(end.value) <= _begin(start.value):
        raise cursor.refuse(end, f"this is before {start.value}")
    return FreezeBetween(start=start.value, end=end.value)


def _moment(cursor: Cursor) -> Token:
    found = _MOMENT.fullmatch(cursor.token.value)
    if cursor.token.kind != "text" or found is None:
        raise cursor.error("a date or a time expected, such as 2026-12-20 or 2026-12-20T18:00Z")
    if not _is_day(found[0]) and found["zone"] is None:
        raise cursor.error("a time needs a zone, as in 2026-12-20T18:00Z")
    try:
        _begin(found[0])
    except ValueError:
        raise cursor.error("no such date or time") from None
    return cursor.advance()


def _is_day(text: str) -> bool:
    return "T" not in text


def _begin(text: str) -> datetime:
    if _is_day(text):
        return datetime.combine(date.fromisoformat(text), time(), UTC)
    return datetime.fromisoformat(text)


def _finish(text: str) -> datetime:
    """Exclusive end: the start of the next day, or the time itself."""
    if _is_day(text):
        last = date.fromisoformat(text)
        if last == date.max:
            return datetime.max.replace(tzinfo=UTC)
        return datetime.combine(last + timedelta(days=1), time(), UTC)
    return datetime.fromisoformat(text)


CHANGE_FREEZE = PolicyKind(
    type=PolicyType.CHANGE_FREEZE,
    summary=(
        "When tables must not change: no builds, adoptions or rollbacks. To make an exception "
        "during a freeze, revise the policy, which is recorded."
    ),
    read=_read,
    forms=(
        FormReference(
            form="freeze <day or time>..<day or time>",
            example="freeze 2026-12-20..2027-01-03",
            meaning=(
                "From the first to the second. Days are UTC and included; a time, such as "
                "`2026-12-20T18:00Z`, needs a zone, and the end time is excluded."
            ),
            violated="a run opens or is decided in that period.",
        ),
        FormReference(
            form="freeze <day of the week>..<day of the week>",
            example="freeze saturday..sunday",
            meaning="Every week on these days, UTC, both included.",
            violated="a run opens or is decided on one of these days.",
        ),
    ),
)
