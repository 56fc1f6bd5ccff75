"""Delivery to PostgreSQL: tables that follow published versions, and their markers."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import TargetDefinition
from lakeguard_sdk.model.load import LoadField

DATABASE_SECRETS = ("user", "password")
SCHEMA_DETAIL = "schema"
"""Target detail that names the PostgreSQL schema of its tables."""
DEFAULT_SCHEMA = "public"
MARKERS = "lakeguard_delivered"
"""The table of markers, in each schema with delivered tables."""


class DatabaseTable(FrozenModel):
    """A live table: it shows the last delivered version and has no versions itself."""

    url: str
    secrets: dict[str, str] = Field(default_factory=dict)
    """References, resolved only where the connection is opened."""
    schema_name: str
    table_name: str
    organisation: str = Field(default="", exclude_if=lambda value: not value)
    """Organisation of the dataset."""
    apart_from: str = Field(default="", exclude_if=lambda value: not value)
    """Role mark of the state database: delivery refuses the same role on the same server."""

    @property
    def full_name(self) -> str:
        return f"{self.schema_name}.{self.table_name}"


def database_table(target: TargetDefinition | None, name: DatasetName) -> DatabaseTable | None:
    """The table of a dataset in a PostgreSQL target; None for other targets.

    ``<layer>_<name>``: no layer has an underscore, so two datasets never share a table.
    """
    if target is None or target.format is not TargetFormat.POSTGRESQL:
        return None
    return DatabaseTable(
        url=target.url,
        secrets=target.secrets,
        schema_name=target.details.get(SCHEMA_DETAIL, DEFAULT_SCHEMA),
        table_name=f"{name.layer}_{name.name}",
    )


class DataPlace(FrozenModel):
    """A schema of a target database."""

    target: str
    url: str
    secrets: dict[str, str] = Field(default_factory=dict)
    """References, as in the target."""
    schema_name: str


class Marker(FrozenModel):
    """The version that a delivered table shows; its LakeGuard ids are unverified."""

    table_name: str
    dataset: str
    dataset_id: str
    version: int
    run_id: str
    task_id: str
    org_id: str | None = None
    job_id: str | None = None
    table_there: bool = True


class PlaceMarkers(FrozenModel):
    """The markers of a schema, or why they cannot be read."""

    place: DataPlace
    markers: tuple[Marker, ...] = ()
    problem: str = ""


class Delivery(FrozenModel):
    """A dataset and the live table that follows it."""

    dataset: DatasetName
    load: LoadField
    """Contains the keys that identify rows."""
    table: DatabaseTable


# A role mark identifies a role on a PostgreSQL server without naming either.

MAY_ASK = "SELECT has_function_privilege('pg_catalog.pg_control_system()', 'execute')"
ASK = "SELECT system_identifier, session_user FROM pg_catalog.pg_control_system()"
"""The system identifier is the same for every address of a server."""


def role_mark(system: object, role: object) -> str:
    return content_hash([str(system), str(role)])
