"""A survey: measures of a version that is published already, taken long after its run."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.evidence import StagedFile
from lakeguard_sdk.measure import Measure, MeasureValue
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.run import InputPin, TableSnapshot
from lakeguard_sdk.schema import TableSchema


class SurveyPlan(Noun):
    """What to measure of which version. Rules of scope batch are asked of the rows that its
    commit brought, those of scope table of all that it shows."""

    dataset: DatasetName
    version: int
    snapshot: TableSnapshot
    table_schema: TableSchema = Field(alias="schema")
    measures: tuple[Measure, ...]
    references: tuple[InputPin, ...] = ()
    """Datasets that keys refer to, each at the version that the run held them against."""
    files: tuple[StagedFile, ...] = ()
    """What its own commit added: rows that its run brought, and their neighbours."""
    rows: int = 0
    """How many rows its run brought."""


class Surveyed(Noun):
    """Values by the key of their measure; what could not be measured, with the reason."""

    rows: int
    table_rows: int
    values: dict[str, MeasureValue]
    unmeasured: dict[str, str] = Field(default_factory=dict)
