"""Where nothing but rules blocked a run, somebody can answer for them for a time."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.cli.layout import plural
from lakeguard.cli.ways_out import WayOut
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.words import CheckKind, Outcome

_BLOCKING = (Outcome.FAIL, Outcome.ERROR)


def waiver_ways(decision: Decision | None) -> Iterator[WayOut]:
    """The command for the first rule that fails; none where waivers would not let the run pass."""
    checks = decision.ruling.checks if decision else ()
    blocking = [check for check in checks if check.outcome in _BLOCKING]
    if decision is None or any(
        check.kind is not CheckKind.RULE or check.outcome is Outcome.ERROR for check in blocking
    ):
        return
    for check in blocking[:1]:
        words = '--until DATE --reason "…" --approver NAME'
        rest = f", and for {plural(len(blocking) - 1, 'other rule')}" if len(blocking) > 1 else ""
        yield WayOut(
            command=f"lakeguard waive {decision.dataset} {check.check_id} {words}",
            when=f"Somebody answers for it for a time{rest}",
        )
