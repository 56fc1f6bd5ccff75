"""All policy types."""

from __future__ import annotations

from lakeguard.gate.policy_types.coverage import RULE_COVERAGE
from lakeguard.gate.policy_types.freeze import CHANGE_FREEZE
from lakeguard.gate.policy_types.ownership import NAMING, OWNERSHIP
from lakeguard.gate.policy_types.parents import LINEAGE_PARENT
from lakeguard.gate.policy_types.pii import PII
from lakeguard.gate.policy_types.policy_form import PolicyKind
from lakeguard.gate.policy_types.quarantine import QUARANTINE_BUDGET
from lakeguard.gate.policy_types.schema_mode import SCHEMA
from lakeguard.gate.policy_types.sla import SLA
from lakeguard.gate.policy_types.volume import VOLUME_CAP
from lakeguard_sdk.core.enums import PolicyType

_KINDS = (
    PII,
    SCHEMA,
    SLA,
    OWNERSHIP,
    RULE_COVERAGE,
    LINEAGE_PARENT,
    VOLUME_CAP,
    QUARANTINE_BUDGET,
    NAMING,
    CHANGE_FREEZE,
)
POLICY_KINDS: dict[PolicyType, PolicyKind] = {kind.type: kind for kind in _KINDS}
"""In documentation order."""
