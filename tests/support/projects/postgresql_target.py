"""The numbers dataset with a target in PostgreSQL."""

from __future__ import annotations

from lakeguard_sdk.core.enums import LoadType, TargetFormat
from lakeguard_sdk.model.definitions import Definitions, SourceMapping, TargetDefinition
from tests.support.lakes.delivered_tables import SECRETS
from tests.support.projects.planes import numbers_definitions

SERVING = "serving"


def served_numbers(url: str, schema: str = "public") -> Definitions:
    target = TargetDefinition(
        target=SERVING,
        location="zones/serving",
        zone="serving",
        format=TargetFormat.POSTGRESQL,
        url=url,
        secrets=SECRETS,
        sources=(SourceMapping(source="numbers"),),
        details={"schema": schema},
    )
    given = numbers_definitions(LoadType.FULL)
    datasets = tuple(each.model_copy(update={"target": SERVING}) for each in given.datasets)
    return Definitions(sources=given.sources, targets=(target,), datasets=datasets)
