"""``quarantine <= 1%``, ``quarantine holds <= 10000 rows``, ``quarantine waits <= 7d``"""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal

from lakeguard.gate.evaluation.case import Quarantined
from lakeguard.gate.evaluation.messages import counted
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.literals import EXACT, duration_words
from lakeguard.gate.policy_types.policy_form import (
    CannotEvaluate,
    FormReference,
    Needs,
    PolicyForm,
    PolicyInput,
    PolicyKind,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import (
    Span,
    expect_any_span,
    expect_most_percent,
    expect_one_of,
    expect_rows,
    percent_text,
)
from lakeguard_sdk.core.enums import PolicyType
from lakeguard_sdk.model.evidence import Evidence

_NO_NEW_ROWS = PolicyResult(None, "the run brings no new rows")


class RowsQuarantined(PolicyForm):
    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["rows_quarantined"] = "rows_quarantined"
    rows: int

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        if _is_exempt(policy_input):
            return _NO_NEW_ROWS
        count = _quarantined_rows(policy_input.measured)
        message = f"{count:,} of {policy_input.measured.rows_read:,} rows quarantined"
        return PolicyResult(count <= self.rows, f"{message}, at most {self.rows:,}")

    def __str__(self) -> str:
        return f"quarantine <= {self.rows} rows"


class ShareQuarantined(PolicyForm):
    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["share_quarantined"] = "share_quarantined"
    percent: Decimal

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        if _is_exempt(policy_input):
            return _NO_NEW_ROWS
        count, read = _quarantined_rows(policy_input.measured), policy_input.measured.rows_read
        passes = 100 * count <= EXACT.multiply(self.percent, Decimal(read))
        message = f"{count:,} of {read:,} rows quarantined"
        return PolicyResult(passes, f"{message}, at most {percent_text(self.percent)}")

    def __str__(self) -> str:
        return f"quarantine <= {percent_text(self.percent)}"


class QuarantineSize(PolicyForm):
    """Rows in quarantine after the run, from this run or earlier ones."""

    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["quarantine_size"] = "quarantine_size"
    rows: int

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        found = _quarantined(policy_input)
        if found.exempt:
            return _NO_NEW_ROWS
        quarantined = policy_input.measured.rows_quarantined + (0 if found.renews else found.rows)
        message = f"{counted(quarantined, 'row')} in quarantine after the run"
        return PolicyResult(quarantined <= self.rows, f"{message}, at most {self.rows:,}")

    def __str__(self) -> str:
        return f"quarantine holds <= {self.rows} rows"


class QuarantineAge(PolicyForm):
    """Age of the oldest row in quarantine after the run."""

    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["quarantine_age"] = "quarantine_age"
    limit: Span

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        found = _quarantined(policy_input)
        if found.exempt:
            return _NO_NEW_ROWS
        if found.renews or found.oldest is None:
            return PolicyResult(True, "the quarantine is empty")
        waited = policy_input.clock - found.oldest
        message = f"the oldest row has been in quarantine for {duration_words(waited)}"
        return PolicyResult(waited <= self.limit.delta, f"{message}, limit {self.limit}")

    def __str__(self) -> str:
        return f"quarantine waits <= {self.limit}"


def _quarantined(policy_input: PolicyInput) -> Quarantined:
    if policy_input.facts.quarantine is None:
        raise CannotEvaluate("the state of the quarantine is unknown")
    return policy_input.facts.quarantine


def _is_exempt(policy_input: PolicyInput) -> bool:
    """Whether the rows that the run may quarantine were counted in an earlier run."""
    return policy_input.facts.quarantine is not None and policy_input.facts.quarantine.exempt


def _quarantined_rows(evidence: Evidence) -> int:
    """Malformed rows and rows quarantined by rules."""
    return evidence.rejected + evidence.rows_quarantined


def _read(cursor: Cursor) -> PolicyForm:
    expect_one_of(cursor, "quarantine", "quarantine")
    about = cursor.take_word("holds", "waits")
    cursor.expect_mark("<=")
    if about is not None:
        return _read_quarantine_size(cursor, about.value.lower())
    if cursor.next_is("%"):
        return ShareQuarantined(percent=expect_most_percent(cursor, 100))
    rows = expect_rows(cursor)
    expect_one_of(cursor, "% or rows", "rows")
    return RowsQuarantined(rows=rows)


def _read_quarantine_size(cursor: Cursor, about: str) -> PolicyForm:
    if about == "waits":
        return QuarantineAge(limit=expect_any_span(cursor))
    rows = expect_rows(cursor)
    expect_one_of(cursor, "rows", "rows")
    return QuarantineSize(rows=rows)


QUARANTINE_BUDGET = PolicyKind(
    type=PolicyType.QUARANTINE_BUDGET,
    summary=(
        "How many rows a run may quarantine and still publish the rest, how many may be in "
        "quarantine, and for how long. Rows quarantined by rules and malformed rows both "
        "count."
    ),
    read=_read,
    forms=(
        FormReference(
            form="quarantine <= <number>%",
            example="quarantine <= 1%",
            meaning="At most that share of the rows a run reads is quarantined.",
            violated="the share is larger. Replays are exempt.",
            judged=f"{Needs.EVIDENCE}.",
        ),
        FormReference(
            form="quarantine <= <number> rows",
            example="quarantine <= 1000 rows",
            meaning="A run quarantines at most that many rows.",
            violated="there are more. Replays are exempt.",
            judged=f"{Needs.EVIDENCE}.",
        ),
        FormReference(
            form="quarantine holds <= <number> rows",
            example="quarantine holds <= 10000 rows",
            meaning=(
                "After a run, at most that many rows are in quarantine, from this run or earlier "
                "ones."
            ),
            violated="there would be more. Replays are exempt.",
            judged=f"{Needs.EVIDENCE}.",
        ),
        FormReference(
            form="quarantine waits <= <time>",
            example="quarantine waits <= 7d",
            meaning=(
                "No row is in quarantine for longer; durations are `90m`, `24h`, `7d` or `7 "
                "days`. It does not apply to a load that rereads everything in each run, such "
                "as FULL or SNAPSHOT: its quarantine starts anew with each run."
            ),
            violated="the oldest row has been there for longer. Replays are exempt.",
            judged=f"{Needs.EVIDENCE}.",
        ),
    ),
)
