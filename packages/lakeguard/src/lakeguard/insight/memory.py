"""The memory of the embedded control plane: the past as State has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakeguard.insight.surveying import survey_plan
from lakeguard.state.database import Database
from lakeguard_sdk.measure import Measure
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.survey import SurveyPlan


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
