"""``rows <= 10000000``, ``bytes <= 5GB``, ``growth <= 300%``"""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal

from lakeguard.gate.evaluation.messages import counted
from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.literals import EXACT, MOST_ROWS
from lakeguard.gate.policy_types.policy_form import (
    FormReference,
    Needs,
    PolicyForm,
    PolicyInput,
    PolicyKind,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import (
    Size,
    expect_most_percent,
    expect_one_of,
    expect_rows,
    expect_size,
    percent_text,
)
from lakeguard_sdk.core.enums import PolicyType


class RowsAtMost(PolicyForm):
    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["rows_at_most"] = "rows_at_most"
    rows: int

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        found = policy_input.measured.table_rows
        message = f"the table would have {counted(found, 'row')}, at most {self.rows:,}"
        return PolicyResult(found <= self.rows, message)

    def __str__(self) -> str:
        return f"rows <= {self.rows}"


class BytesAtMost(PolicyForm):
    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["bytes_at_most"] = "bytes_at_most"
    size: Size

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        found = sum(file.size for file in policy_input.measured.files)
        message = f"the run brings {counted(found, 'byte')}, at most {self.size.bytes:,}"
        return PolicyResult(found <= self.size.bytes, message)

    def __str__(self) -> str:
        return f"bytes <= {self.size}"


class GrowthAtMost(PolicyForm):
    needs: ClassVar[Needs] = Needs.EVIDENCE
    policy: Literal["growth_at_most"] = "growth_at_most"
    percent: Decimal

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        before, after = policy_input.subject.rows_before, policy_input.measured.table_rows
        if not before:
            return PolicyResult(None, "the table has no rows to grow from")
        limit = EXACT.multiply(self.percent, Decimal(before))
        growth = f"from {before:,} to {counted(after, 'row')}, at most {percent_text(self.percent)}"
        return PolicyResult(100 * (after - before) <= limit, f"{growth} more")

    def __str__(self) -> str:
        return f"growth <= {percent_text(self.percent)}"


def _read(cursor: Cursor) -> PolicyForm:
    wanted = "rows <= 1000000, bytes <= 5GB or growth <= 300%"
    word = expect_one_of(cursor, wanted, "rows", "bytes", "growth")
    cursor.expect_mark("<=")
    if word == "rows":
        return RowsAtMost(rows=expect_rows(cursor))
    if word == "bytes":
        return BytesAtMost(size=expect_size(cursor))
    return GrowthAtMost(percent=expect_most_percent(cursor, 100 * MOST_ROWS))


_JUDGED = f"{Needs.EVIDENCE}."
VOLUME_CAP = PolicyKind(
    type=PolicyType.VOLUME_CAP,
    summary="How much a dataset may hold, or gain in one run.",
    read=_read,
    forms=(
        FormReference(
            form="rows <= <number>",
            example="rows <= 10000000",
            meaning="The table has at most that many rows after the publish.",
            violated="it would have more.",
            judged=_JUDGED,
        ),
        FormReference(
            form="bytes <= <size>",
            example="bytes <= 5GB",
            meaning=(
                "The files of a run have at most that size in total. Sizes are in bytes, or "
                "in `KB`, `MB`, `GB`, `TB` (powers of 1,000)."
            ),
            violated="they are larger.",
            judged=_JUDGED,
        ),
        FormReference(
            form="growth <= <number>%",
            example="growth <= 300%",
            meaning="A run adds at most that share of the table's rows.",
            violated="it would add more. A table without rows may grow to any size.",
            judged=_JUDGED,
        ),
    ),
)
