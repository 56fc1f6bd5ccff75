"""Translates Spark errors while a load compares a batch with its table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lakeguard_sdk.errors import LakeGuardError, LoadFailed
from lakeguard_sdk.model.run import RunPlan
from openlaketx.engine.spark.errors import SPARK_ERRORS, reason


def explain_load(plan: RunPlan) -> Callable[[Exception], LakeGuardError]:
    def explain(error: Exception) -> LakeGuardError:
        return LoadFailed(dataset=plan.dataset, reason=reason(error))

    return explain


@contextmanager
def explaining(plan: RunPlan) -> Iterator[None]:
    """Convert Spark errors in the block to ``LakeGuardError``."""
    try:
        yield
    except SPARK_ERRORS as error:
        raise explain_load(plan)(error) from None
