"""What data databases say of the tables that follow published versions."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.database import DatabaseTable
from lakeguard_sdk.load import LoadField
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun


class DataPlace(Noun):
    """A schema of a data database that a target delivers to."""

    target: str
    url: str
    secrets: dict[str, str] = Field(default_factory=dict)
    """References, as a target has them."""
    schema_name: str


class Marker(Noun):
    """What a table shows, as its marker says; ids of LakeGuard that nothing there can check."""

    table_name: str
    dataset: str
    dataset_id: str
    version: int
    run_id: str
    task_id: str
    org_id: str | None = None
    job_id: str | None = None
    table_there: bool = True


class PlaceMarkers(Noun):
    """The markers of a place, or why they cannot be read."""

    place: DataPlace
    markers: tuple[Marker, ...] = ()
    problem: str = ""


class Delivery(Noun):
    """A dataset, and the live table that is to show what is published of it."""

    dataset: DatasetName
    load: LoadField
    """What tells its rows from each other."""
    table: DatabaseTable
