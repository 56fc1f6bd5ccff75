"""The judgement of every rule that counts rows by a condition."""

from __future__ import annotations

from lakeguard.gate.judgement import RowsJudged, ask
from lakeguard_sdk.expression import Condition
from lakeguard_sdk.measure import CountIf, RowCount


def failing_rows(failing: Condition, where: Condition | None) -> RowsJudged:
    """Rows for which ``failing`` is TRUE, of those for which ``where`` is."""
    return RowsJudged(
        failed=ask(CountIf(condition=failing, where=where)), scope=ask(RowCount(where=where))
    )
