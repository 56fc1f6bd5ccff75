"""The memory of the embedded control plane: the past as State has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from lakeguard.insight.backtesting import backtest
from lakeguard.insight.rebuilding import rebuild_plan
from lakeguard.insight.replaying_all import replay_all
from lakeguard.insight.side_by_side import side_by_side
from lakeguard.insight.surveying import survey_plan
from lakeguard.ledger.runs import run_row
from lakeguard.state.database import Database
from lakeguard_sdk.comparison import SideBySide
from lakeguard_sdk.definition import DatasetDefinition
from lakeguard_sdk.errors import UnknownRun
from lakeguard_sdk.measure import Measure
from lakeguard_sdk.memory import Backtest, Replays
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.reading import RunRow
from lakeguard_sdk.rebuild import RebuildPlan
from lakeguard_sdk.survey import Surveyed, SurveyPlan


@dataclass(frozen=True)
class StateMemory:
    """Answers from State alone; it can change nothing."""

    database: Database
    org_id: str
    lake: str

    def survey_plan(
        self, name: DatasetName, version: int, measures: Sequence[Measure]
    ) -> SurveyPlan:
        with self.database.read() as connection:
            return survey_plan(connection, self.org_id, self.lake, name, version, measures)

    def backtest(
        self,
        draft: DatasetDefinition,
        since: datetime,
        *,
        survey: Callable[[SurveyPlan], Surveyed] | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Backtest:
        return backtest(self.database, self.org_id, self.lake, draft, since, survey, progress)

    def replay_all(
        self,
        name: DatasetName | None = None,
        *,
        since: datetime | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Replays:
        return replay_all(self.database, self.org_id, name, since, progress)

    def rebuild_plan(self, run_id: str) -> RebuildPlan:
        with self.database.read() as connection:
            return rebuild_plan(connection, self.org_id, self._run(connection, run_id))

    def side_by_side(self, before: str, after: str) -> SideBySide:
        with self.database.read() as connection:
            runs = self._run(connection, before), self._run(connection, after)
            return side_by_side(connection, self.org_id, *runs)

    def _run(self, connection: Connection, run_id: str) -> RunRow:
        run = run_row(connection, self.org_id, run_id)
        if run is None:
            raise UnknownRun(run=run_id)
        return run
