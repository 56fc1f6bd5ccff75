"""Which rows of a database are new, in its own SQL, so that the others never travel."""

from __future__ import annotations

from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.watermarks import bound_text, lower_bound
from lakeguard_sdk.words import NullWatermark
from openlaketx.extract.jdbc_columns import identifier, literal


def new_rows(plan: RunPlan) -> str | None:
    """Rows from the watermark on; None where all are wanted. The run judges each row again.

    Rows without a watermark are asked for unless they are left out: they may have to fail the run.
    """
    if plan.window is not None or not plan.load.watermark or plan.watermark is None:
        return None
    column = identifier(plan.load.watermark)
    if plan.declared.type_of(plan.load.watermark) == "string":
        column = f'{column}::text COLLATE "C"'  # by code points, as the run compares
    compared = ">=" if plan.load.inclusive else ">"
    new = f"{column} {compared} {literal(bound_text(lower_bound(plan)))}"
    if plan.load.null_watermark is NullWatermark.SKIP:
        return new
    return f"({new} OR {identifier(plan.load.watermark)} IS NULL)"
