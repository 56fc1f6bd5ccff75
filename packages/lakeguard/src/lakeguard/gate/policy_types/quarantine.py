"""``quarantine <= 1%``, ``quarantine <= 1000 rows``"""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal

from lakeguard.gate.cursor import Cursor
from lakeguard.gate.literals import EXACT
from lakeguard.gate.policy_form import FormReference, Judged, Look, Needs, PolicyForm, PolicyKind
from lakeguard.gate.policy_tokens import expect_count, expect_one_of, expect_percent, percent_text
from lakeguard_sdk.evidence import Evidence
from lakeguard_sdk.words import PolicyType


class RowsKeptAside(PolicyForm):
    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["rows_kept_aside"] = "rows_kept_aside"
    rows: int

    def judge(self, look: Look) -> Judged:
        aside = look.measured.rejected
        said = f"{aside:,} of {_read_rows(look.measured):,} rows kept aside"
        return Judged(aside <= self.rows, f"{said}, at most {self.rows:,}")

    def __str__(self) -> str:
        return f"quarantine <= {self.rows} rows"


class ShareKeptAside(PolicyForm):
    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["share_kept_aside"] = "share_kept_aside"
    percent: Decimal

    def judge(self, look: Look) -> Judged:
        aside, read = look.measured.rejected, _read_rows(look.measured)
        held = 100 * aside <= EXACT.multiply(self.percent, Decimal(read))
        said = f"{aside:,} of {read:,} rows kept aside"
        return Judged(held, f"{said}, at most {percent_text(self.percent)}")

    def __str__(self) -> str:
        return f"quarantine <= {percent_text(self.percent)}"


def _read_rows(evidence: Evidence) -> int:
    """All rows that the run read, whatever became of them."""
    changes = evidence.changes
    if changes is None:
        return evidence.rows + evidence.rejected
    taken = changes.inserted + changes.updated + changes.deleted
    left = changes.unchanged + changes.late + changes.duplicates
    return taken + left + evidence.rejected


def _read(cursor: Cursor) -> PolicyForm:
    expect_one_of(cursor, "quarantine", "quarantine")
    cursor.expect_mark("<=")
    if cursor.next_is("%"):
        return ShareKeptAside(percent=expect_percent(cursor, 100))
    rows = expect_count(cursor)
    expect_one_of(cursor, "% or rows", "rows")
    return RowsKeptAside(rows=rows)


QUARANTINE_BUDGET = PolicyKind(
    type=PolicyType.QUARANTINE_BUDGET,
    summary="How many rows a run may keep aside and still publish the rest.",
    read=_read,
    forms=(
        FormReference(
            form="quarantine <= <number>%",
            example="quarantine <= 1%",
            says="Of all rows that a run read, at most that share was kept aside.",
            violated="it was more.",
            judged=f"{Needs.EVIDENCE}.",
        ),
        FormReference(
            form="quarantine <= <number> rows",
            example="quarantine <= 1000 rows",
            says="A run keeps at most so many rows aside.",
            violated="there were more.",
            judged=f"{Needs.EVIDENCE}.",
        ),
    ),
)
