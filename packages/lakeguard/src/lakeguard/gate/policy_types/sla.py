"""``freshness <= 24h``, ``arrival by 06:00``, ``duration <= 2h``"""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import ClassVar, Literal

from lakeguard.gate.evaluation.messages import moment_words
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.literals import duration_words
from lakeguard.gate.policy_types.policy_form import (
    FormReference,
    Needs,
    PolicyForm,
    PolicyInput,
    PolicyKind,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import Span, expect_one_of, expect_span
from lakeguard_sdk.core.enums import PolicyType


class Freshness(PolicyForm):
    """Inputs and published data were promoted within the limit."""

    policy: Literal["freshness"] = "freshness"
    limit: Span

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        inputs, now = (
            policy_input.subject.inputs,
            policy_input.subject.opened_at or policy_input.clock,
        )
        if inputs is None:
            return PolicyResult(None, "no input is read")
        stale = [
            f"input {item.dataset}@v{item.version} is {duration_words(now - item.promoted_at)} old"
            for item in inputs
            if now - item.promoted_at > self.limit.delta
        ]
        if stale:
            return PolicyResult(False, f"{'; '.join(sorted(stale))}, limit {self.limit}")
        if not inputs:
            return PolicyResult(True, "there are no inputs")
        return PolicyResult(True, f"every input was promoted within {self.limit}")

    def breach(self, promoted_at: datetime | None, clock: datetime) -> str | None:
        """Why the published version is too old, or None; a dataset that was never promoted is not
        late."""
        if promoted_at is None or clock - promoted_at <= self.limit.delta:
            return None
        return f"last promoted {duration_words(clock - promoted_at)} ago, limit {self.limit}"

    def __str__(self) -> str:
        return f"freshness <= {self.limit}"


class Arrival(PolicyForm):
    """Every day, UTC, a version is promoted by a given time."""

    policy: Literal["arrival"] = "arrival"
    by: str
    """As in ``06:00``."""

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        breach = self.breach(
            policy_input.subject.promoted_at, policy_input.subject.opened_at or policy_input.clock
        )
        if policy_input.subject.inputs is None:
            return PolicyResult(None, "the run promotes nothing new")
        return PolicyResult(breach is None, breach or f"in time for {self.by} UTC")

    def breach(self, promoted_at: datetime | None, clock: datetime) -> str | None:
        """Why the last due version is late, or None; the first version is never late."""
        if promoted_at is None:
            return None
        due = self._last_due(clock)
        if promoted_at >= datetime.combine(due.date(), time(), UTC):
            return None
        last = moment_words(promoted_at)
        return f"due by {moment_words(due)}, last promoted {last}"

    def _last_due(self, clock: datetime) -> datetime:
        today = datetime.combine(clock.astimezone(UTC).date(), time.fromisoformat(self.by), UTC)
        return today if today < clock else today - timedelta(days=1)

    def __str__(self) -> str:
        return f"arrival by {self.by}"


class Duration(PolicyForm):
    """A run gets from opening to decision within the limit."""

    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["duration"] = "duration"
    limit: Span

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        opened = policy_input.subject.opened_at
        if opened is None:
            return PolicyResult(None, "no run builds it")
        took = policy_input.clock - opened
        message = f"took {duration_words(took)} until the decision, limit {self.limit}"
        return PolicyResult(took <= self.limit.delta, message)

    def __str__(self) -> str:
        return f"duration <= {self.limit}"


def _read(cursor: Cursor) -> PolicyForm:
    wanted = "freshness <= 24h, arrival by 06:00 or duration <= 2h"
    word = expect_one_of(cursor, wanted, "freshness", "arrival", "duration")
    if word == "arrival":
        expect_one_of(cursor, "by", "by")
        return Arrival(by=_clock(cursor))
    cursor.expect_mark("<=")
    limit = expect_span(cursor)
    return Freshness(limit=limit) if word == "freshness" else Duration(limit=limit)


def _clock(cursor: Cursor) -> str:
    found = cursor.token.value
    if cursor.token.kind != "clock" or int(found[:2]) > 23 or int(found[3:]) > 59:
        raise cursor.error("a time of the day expected, such as 06:00, UTC")
    return cursor.advance().value


SLA = PolicyKind(
    type=PolicyType.SLA,
    summary=("When data is due. `lakeguard status` shows late datasets even without a run."),
    read=_read,
    forms=(
        FormReference(
            form="freshness <= <time>",
            example="freshness <= 24h",
            meaning=(
                "A run reads no input that was promoted longer ago, and the dataset itself is "
                "promoted at least that often. Durations are `90m`, `24h`, `7d`."
            ),
            violated=(
                "an input is older when the run opens. In `status`: the dataset's last "
                "promotion is longer ago."
            ),
        ),
        FormReference(
            form="arrival by <hh:mm>",
            example="arrival by 06:00",
            meaning="Every day, UTC, a version is promoted by that time.",
            violated=(
                "the time has passed and no version was promoted since midnight; the first "
                "version is never late. With `BLOCK`, late data is not published that day, so "
                "`ALERT` is usually the right choice."
            ),
        ),
        FormReference(
            form="duration <= <time>",
            example="duration <= 2h",
            meaning="A run takes no longer from opening to decision.",
            violated="it takes longer.",
            judged=f"{Needs.EVIDENCE}.",
        ),
    ),
)
