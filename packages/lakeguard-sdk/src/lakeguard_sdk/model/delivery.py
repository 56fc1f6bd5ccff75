"""What data databases say of the tables that follow published versions."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.core.canonical_json import content_hash
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.core.frozen_model import Noun
from lakeguard_sdk.model.definitions import TargetDefinition
from lakeguard_sdk.model.load import LoadField

# Tables in a PostgreSQL database that follow published versions.

DATABASE_SECRETS = ("user", "password")
SCHEMA_DETAIL = "schema"
"""The detail of a target that names the PostgreSQL schema of its tables."""
DEFAULT_SCHEMA = "public"


class DatabaseTable(Noun):
    """A live table: it has no versions of its own, and shows the one that was delivered last."""

    url: str
    secrets: dict[str, str] = Field(default_factory=dict)
    """References: looked up where the connection is made, and nowhere else."""
    schema_name: str
    table_name: str
    organisation: str = Field(default="", exclude_if=lambda told: not told)
    """Whose dataset it follows, as the control plane says."""
    apart_from: str = Field(default="", exclude_if=lambda told: not told)
    """A mark of who keeps the State: nobody writes here under the same role of the same server."""

    @property
    def full_name(self) -> str:
        return f"{self.schema_name}.{self.table_name}"


def database_table(target: TargetDefinition | None, name: DatasetName) -> DatabaseTable | None:
    """The table of a dataset in a PostgreSQL target; None where its target is none.

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


# A mark of a role on a PostgreSQL server: it tells two of them apart, and nothing else of them.

MAY_ASK = "SELECT has_function_privilege('pg_catalog.pg_control_system()', 'execute')"
ASK = "SELECT system_identifier, session_user FROM pg_catalog.pg_control_system()"
"""Where it may be asked: a server has one number wherever it is reached from."""


def role_mark(system: object, role: object) -> str:
    return content_hash([str(system), str(role)])
