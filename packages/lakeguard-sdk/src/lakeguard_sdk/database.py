"""Tables in a PostgreSQL database that follow published versions."""

from __future__ import annotations

from pydantic import Field

from lakeguard_sdk.definition import TargetDefinition
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.noun import Noun
from lakeguard_sdk.words import TargetFormat

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
