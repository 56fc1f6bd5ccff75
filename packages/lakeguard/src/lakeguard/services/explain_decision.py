"""Explain a run: its decision, trends, changes since the last success, next steps."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lakeguard.services.next_commands import (
    NextCommand,
    column_ways,
    next_commands_of,
    quarantine_ways,
    schema_ways,
)
from lakeguard.services.plain_text import plural
from lakeguard_sdk.core.enums import CheckKind, Outcome
from lakeguard_sdk.model.decision import CheckResult, Decision
from lakeguard_sdk.model.read_models import RunFacts, RunRow, VersionRow
from lakeguard_sdk.model.row_sample import RowSample
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.run_comparison import CheckTrend, Since
from lakeguard_sdk.ports import Reader

EXPLAINED = (Outcome.ERROR, Outcome.FAIL, Outcome.WARN)
"""Outcomes of checks that are explained with trends and sample rows."""


@dataclass(frozen=True)
class Explanation:
    """Why a run ended as it did."""

    run: RunRow
    decision: Decision | None
    published: int | None
    green: VersionRow | None
    next_commands: tuple[NextCommand, ...]
    since: Since | None = None
    trends: tuple[CheckTrend, ...] = ()
    samples: tuple[RowSample, ...] = ()
    facts: RunFacts | None = None
    new_columns: tuple[SchemaReaction, ...] = ()
    """Columns of the last read input that are not in the table, whatever this run read."""

    def trend_of(self, check: CheckResult) -> CheckTrend | None:
        key = check.kind, check.check_id
        return next((item for item in self.trends if (item.kind, item.check_id) == key), None)

    def sample_of(self, check: CheckResult) -> RowSample | None:
        if check.kind is not CheckKind.RULE:
            return None
        return next((item for item in self.samples if item.rule_id == check.check_id), None)

    def to_data(self) -> dict[str, object]:
        return {
            "run": self.run.to_data(),
            "decision": self.decision.to_data() if self.decision else None,
            "published": self.published,
            "last_green": self.green.to_data() if self.green else None,
            "since": self.since.to_data() if self.since else None,
            "trends": [item.to_data() for item in self.trends],
            "samples": [item.to_data() for item in self.samples],
            "next_commands": [item.to_data() for item in self.next_commands],
            "facts": self.facts.to_data() if self.facts else None,
            "new_columns": [item.to_data() for item in self.new_columns],
        }


def explain(reader: Reader, run: RunRow, now: datetime) -> Explanation:
    """Compares the run with the last version promoted before it ended."""
    statuses = {item.dataset.dataset_name: item for item in reader.status()}
    published = {name: item.published for name, item in statuses.items()}
    new_columns = statuses[run.dataset].new_columns if run.dataset in statuses else ()
    decision = reader.decision(run.run_id) if run.decision_id is not None else None
    since = reader.since(run.run_id)
    green, read = _green(reader, run, since), since.read if since else {}
    current = {name: version for name, version in read.items() if published.get(name) == version}
    facts = reader.facts(run.run_id)
    return Explanation(
        run=run,
        decision=decision,
        published=published.get(run.dataset),
        green=green,
        since=since,
        trends=_trends(reader, run, decision),
        samples=reader.samples(run.run_id),
        next_commands=(
            *quarantine_ways(run, facts),
            *schema_ways(decision),
            *column_ways(run, new_columns),
            *next_commands_of(run, green, current, reader.definition(run.dataset), decision),
            *waiver_ways(decision, now),
        ),
        facts=facts,
        new_columns=new_columns,
    )


def _green(reader: Reader, run: RunRow, since: Since | None) -> VersionRow | None:
    """The version that the run is compared with."""
    if since is None:
        return None
    return next(row for row in reader.versions(run.dataset) if row.version == since.version)


def _trends(reader: Reader, run: RunRow, decision: Decision | None) -> tuple[CheckTrend, ...]:
    """Trends of the checks that are explained."""
    checks = decision.ruling.checks if decision else ()
    explained = {(check.kind, check.check_id) for check in checks if check.outcome in EXPLAINED}
    found = reader.trends(run.run_id) if explained else ()
    return tuple(item for item in found if (item.kind, item.check_id) in explained)


# If only rules blocked a run, they can be waived temporarily.

_BLOCKING = (Outcome.FAIL, Outcome.ERROR)
_MAX_RULES = 10
_DAYS = 7


def waiver_ways(decision: Decision | None, now: datetime) -> Iterator[NextCommand]:
    """One waive command per failing rule, valid for a week; the run must be repeated afterwards.

    None if waivers would not unblock the run. Limited to the first rules.
    """
    checks = decision.ruling.checks if decision else ()
    blocking = [check for check in checks if check.outcome in _BLOCKING]
    if decision is None or any(
        check.kind is not CheckKind.RULE or check.outcome is Outcome.ERROR for check in blocking
    ):
        return
    day = (now.astimezone(UTC) + timedelta(days=_DAYS)).date().isoformat()
    rest = len(blocking) - _MAX_RULES
    for place, check in enumerate(blocking[:_MAX_RULES], start=1):
        more = f", and {plural(rest, 'other rule')}" if rest > 0 and place == _MAX_RULES else ""
        rule = shlex.quote(check.check_id)
        yield NextCommand(
            command=f"lakeguard waive {decision.dataset} {rule}"
            f' --until {day} --reason "…" --approver NAME',
            when=f"Waive {check.check_id}{more} temporarily and rerun",
        )
