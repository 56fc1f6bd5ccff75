"""The source position after a run, stored with its version."""

from __future__ import annotations

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import LoadFailed
from lakeguard_sdk.model.evidence import SourcePosition
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.model.windows import watermark_subject, watermark_value
from openlaketx.loads.file_pruning import has_values, staged_range
from openlaketx.stage import Candidate
from openlaketx.stage.file_stats import PREFIX


def new_position(
    plan: RunPlan, files: SourcePosition | None, read: Candidate
) -> SourcePosition | None:
    """The files of this run and the highest watermark so far.

    A backfill moves neither, but an APPEND records rebuilt files as they are now. Replayed
    quarantine rows have no position: they were read before.
    """
    if isinstance(plan.build, QuarantineBuild):
        return None
    known = plan.build.position if isinstance(plan.build, SourceBuild) else None
    if plan.window is not None:
        if plan.load.type is not LoadType.APPEND:
            files = None if known is None else known.unmoved
        highest = plan.watermark
    else:
        highest = _highest(plan, read)
    if highest is None:
        return files
    subject = watermark_subject(plan.build, plan.load.watermark)
    changes = {"watermark": highest, "watermark_of": subject}
    return (files or SourcePosition()).model_copy(update=changes)


def _highest(plan: RunPlan, read: Candidate) -> str | None:
    if not plan.load.watermark:
        return None
    data_type = str(plan.declared.type_of(plan.load.watermark))
    between = staged_range(read, plan.load.watermark, data_type)
    if between is None:
        if has_values(read, plan.load.watermark):
            raise LoadFailed(
                dataset=plan.dataset,
                reason=f"the maximum of watermark {plan.load.watermark} is unknown: it has NaN, or"
                " a time outside the years 1 to 9999",
            )
        return plan.watermark
    found = _text(between[1], data_type)
    if data_type == "string" and len(found) > PREFIX:
        raise LoadFailed(
            dataset=plan.dataset,
            reason=f"watermark {plan.load.watermark} has a text longer than {PREFIX} characters",
        )
    if plan.watermark is None:
        return found
    return max(found, plan.watermark, key=lambda text: watermark_value(text, data_type))


def _text(value: object, data_type: str) -> str:
    return f"{value}+00:00" if data_type == "timestamp" else str(value)
