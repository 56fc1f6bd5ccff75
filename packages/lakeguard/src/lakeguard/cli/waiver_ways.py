"""Where nothing but rules blocked a run, somebody can answer for them for a time."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from lakeguard.cli.layout import plural
from lakeguard.cli.ways_out import WayOut
from lakeguard_sdk.decision import Decision
from lakeguard_sdk.words import CheckKind, Outcome

_BLOCKING = (Outcome.FAIL, Outcome.ERROR)
_MOST = 10
_DAYS = 7


def waiver_ways(decision: Decision | None, now: datetime) -> Iterator[WayOut]:
    """A command for each rule that fails, for a week from now; the run is still to be repeated.

    None where waivers would not let the run pass. Of many rules the first are named.
    """
    checks = decision.ruling.checks if decision else ()
    blocking = [check for check in checks if check.outcome in _BLOCKING]
    if decision is None or any(
        check.kind is not CheckKind.RULE or check.outcome is Outcome.ERROR for check in blocking
    ):
        return
    day = (now.astimezone(UTC) + timedelta(days=_DAYS)).date().isoformat()
    rest = len(blocking) - _MOST
    for place, check in enumerate(blocking[:_MOST], start=1):
        more = f", and {plural(rest, 'other rule')}" if rest > 0 and place == _MOST else ""
        rule = shlex.quote(check.check_id)
        yield WayOut(
            command=f"lakeguard waive {decision.dataset} {rule}"
            f' --until {day} --reason "…" --approver NAME',
            when=f"Somebody answers for {check.check_id}{more} for a time, and it is run again",
        )
