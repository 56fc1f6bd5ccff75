"""The history port of the embedded control plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from lakeguard.insight.comparison.side_by_side import side_by_side
from lakeguard.insight.history.backtest import backtest
from lakeguard.insight.history.documents import Library
from lakeguard.insight.history.remeasure import remeasure_plan
from lakeguard.insight.history.replay import Replayer, difference, recorded_decisions
from lakeguard.ledger.decisions import decision_of_run
from lakeguard.ledger.documents import get_document
from lakeguard.ledger.openings import Opening, opening_of, schema_verdict
from lakeguard.ledger.runs import run_row
from lakeguard.registry.store import require_dataset
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import dataset_registry, decisions, tasks
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.errors import NotRebuildable, UnknownRun
from lakeguard_sdk.expressions.measures import Measure
from lakeguard_sdk.model.definitions import DatasetDefinition
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.history import (
    Backtest,
    RebuildPlan,
    Remeasured,
    RemeasurePlan,
    ReplayedDifference,
    Replays,
)
from lakeguard_sdk.model.read_models import RunRow
from lakeguard_sdk.model.run import FrameBuild
from lakeguard_sdk.model.run_comparison import SideBySide


@dataclass(frozen=True)
class StateHistory:
    """Read-only; answers from the State alone."""

    state: OrganisationState
    lake: str

    def remeasure_plan(
        self, name: DatasetName, version: int, measures: Sequence[Measure]
    ) -> RemeasurePlan:
        with self.state.read() as tx:
            return remeasure_plan(tx, self.lake, name, version, measures)

    def backtest(
        self,
        draft: DatasetDefinition,
        since: datetime,
        *,
        remeasure: Callable[[RemeasurePlan], Remeasured] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Backtest:
        return backtest(self.state, self.lake, draft, since, remeasure, progress)

    def replay_all(
        self,
        name: DatasetName | None = None,
        *,
        since: datetime | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Replays:
        return replay_all(self.state, name, since, progress)

    def rebuild_plan(self, run_id: str) -> RebuildPlan:
        with self.state.read() as tx:
            return _rebuild_plan(tx, self._run(tx, run_id))

    def side_by_side(self, before: str, after: str) -> SideBySide:
        with self.state.read() as tx:
            runs = self._run(tx, before), self._run(tx, after)
            return side_by_side(tx, *runs)

    def _run(self, tx: Transaction, run_id: str) -> RunRow:
        run = run_row(tx, run_id)
        if run is None:
            raise UnknownRun(run=run_id)
        return run


# Rebuild plans from recorded runs.


def _rebuild_plan(tx: Transaction, run: RunRow) -> RebuildPlan:
    """The run's recorded plan and schema verdict. Raises NotRebuildable with the reason if there is
    none, or if a program supplied the rows."""
    kind = tx.scalar(select(tasks.c.kind).where(tasks.c.task_id == run.task_id))
    if kind != TaskKind.BUILD.value:
        raise NotRebuildable(run=run.run_id, reason=f"it is a {kind}, which builds nothing")
    opening = _opening(tx, run)
    if isinstance(opening.plan.build, FrameBuild):
        reason = "a program handed its rows in, and they were not kept"
        raise NotRebuildable(run=run.run_id, reason=reason)
    verdict = schema_verdict(tx, run.run_id)
    decision = decision_of_run(tx, run.run_id, run.dataset)
    hashed = None if decision is None else decision.case.evidence
    if verdict is None or hashed is None:
        raise NotRebuildable(run=run.run_id, reason="it came to no evidence of its own")
    evidence = Evidence.from_json(get_document(tx, hashed))
    return RebuildPlan(run=opening.plan, verdict=verdict, evidence=evidence, version=run.version)


def _opening(tx: Transaction, run: RunRow) -> Opening:
    try:
        return opening_of(tx, run.run_id)
    except UnknownRun as error:
        reason = "it was refused before it opened"
        raise NotRebuildable(run=run.run_id, reason=reason) from error


# Replay of all decisions.

_PROGRESS_EVERY = 500


def replay_all(
    state: OrganisationState,
    name: DatasetName | None,
    since: datetime | None,
    progress: Callable[[str], None] | None,
) -> Replays:
    """Replay all decisions of one dataset or all, optionally since a time."""
    conditions = [] if since is None else [decisions.c.decided_at >= since]
    with state.read() as tx:
        if name is not None:
            dataset_id = require_dataset(tx, name).dataset_id
            conditions.append(decisions.c.dataset_id == dataset_id)
        view = dataset_registry.c
        asked = select(view.dataset_id, view.dataset_name).where(view.org_id == tx.org_id)
        names = {row.dataset_id: DatasetName(row.dataset_name) for row in tx.execute(asked)}
    library = Library(state.org_id)
    replayer = Replayer(library)
    made, found = 0, []
    for row in recorded_decisions(state, library, *conditions):
        made += 1
        if message := difference(replayer, row):
            found.append(
                ReplayedDifference(
                    run_id=row.run_id,
                    decision_id=row.decision_id,
                    dataset=names[row.dataset_id],
                    decided_at=row.decided_at,
                    message=message,
                )
            )
        if progress and made % _PROGRESS_EVERY == 0:
            progress(f"{made:,} decisions made again, {len(found):,} differ")
    return Replays(decisions=made, differences=tuple(found))
