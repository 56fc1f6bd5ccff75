"""The context of the promotion workflow, wired by the composition root."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lakeguard.access.keys import IdentityKeys
from lakeguard.lake.port import GovernedTables, QuarantineTables
from lakeguard.registry.snapshot import RegisteredDataset
from lakeguard.settings import (
    DispatchSettings,
    FileCheck,
    MaintenanceSettings,
    SecretsSettings,
)
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.storage.storage import located

if TYPE_CHECKING:
    from lakeguard.access.principal import Principal


def _delta_tables() -> QuarantineTables:
    from lakeguard.lake.quarantine_tables import DeltaQuarantineTables  # loads delta-rs

    return DeltaQuarantineTables()


@dataclass(frozen=True, kw_only=True)
class PlaneContext(OrganisationState):
    """The State, the lake and the settings of one organisation."""

    tables: GovernedTables
    lake: str
    check_files: FileCheck = FileCheck.FOOTERS
    maintenance: MaintenanceSettings = field(default_factory=MaintenanceSettings)
    quarantine_tables: QuarantineTables = field(default_factory=_delta_tables)
    dispatch: DispatchSettings = field(default_factory=DispatchSettings)
    secrets: SecretsSettings = field(default_factory=SecretsSettings)
    source_roots: tuple[str, ...] | None = None
    """Folders below which sources may read files; None: anywhere."""
    keys: IdentityKeys = field(default_factory=IdentityKeys)
    """Keys of service and task tokens."""
    caller: Principal | None = None
    """The principal of a service request with a token; None: a process in the project folder."""

    def location_of(self, dataset: RegisteredDataset) -> str:
        return located(self.lake, dataset.location)
