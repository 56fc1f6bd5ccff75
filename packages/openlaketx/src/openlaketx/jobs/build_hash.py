"""The identity of the code that made a batch."""

from __future__ import annotations

from importlib.metadata import version

from lakeguard_sdk.canonical import content_hash
from lakeguard_sdk.run import RunPlan
from openlaketx.engine.session import RUN_SETTINGS


def build_hash(plan: RunPlan) -> str:
    """Equal where the same text or source, transform, schema, layout and package are at work."""
    spec = plan.build.to_data()
    for pinned in ("position", "views", "inputs"):
        spec.pop(pinned, None)
    return content_hash(
        {
            "build": spec,
            "load": plan.load.to_data(),
            "transform": plan.transform,
            "partition_by": plan.partition_by,
            "declared": plan.declared.to_data(),
            "settings": RUN_SETTINGS,
            "openlaketx": version("openlaketx"),
        }
    )
