"""A SELECT over pinned inputs, in a session where nothing else has a name."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import BuildFailed
from lakeguard_sdk.run import SqlBuild
from openlaketx.engine.spark_errors import SPARK_ERRORS, reason
from openlaketx.engine.spark_types import UnsupportedType, live_schema
from openlaketx.extract.batch import Batch, name_problem
from openlaketx.extract.pinned_input import files_to_read, read_pinned

_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
_NOT_A_QUERY = ("Command", "ParsedStatement", "CompoundPlanStatement")


def read_sql(session: SparkSession, build: SqlBuild, dataset: str) -> Batch | None:
    """The frame of the build; None where an incremental input gained no row."""
    files = {name: files_to_read(pin, dataset) for name, pin in build.views.items()}
    gained = [files[name] for name, pin in build.views.items() if pin.since is not None]
    if gained and not any(gained):
        return None
    for name, pin in build.views.items():
        read_pinned(session, pin, files[name]).createOrReplaceTempView(name)
    frame = _query(session, build.text, dataset)
    try:
        live = live_schema(frame.schema)
    except UnsupportedType as error:
        raise BuildFailed(dataset=dataset, reason=str(error)) from None
    if problem := name_problem(live.names):
        raise BuildFailed(dataset=dataset, reason=problem)
    return Batch(
        frame=frame,
        live=live,
        inputs=tuple(dict.fromkeys(pin.input for pin in build.views.values())),
        position=None,
        explain=lambda error: BuildFailed(dataset=dataset, reason=reason(error)),
        confirm=lambda: None,
    )


def _query(session: SparkSession, text: str, dataset: str) -> DataFrame:
    """Parsed before anything runs: a statement that is not a query is refused."""
    try:
        plan = _parse(session, text)
        if _is_a(session, plan, _NOT_A_QUERY):
            raise BuildFailed(dataset=dataset, reason="the build is not a query")
        return session.sql(text)
    except SPARK_ERRORS as error:
        raise BuildFailed(dataset=dataset, reason=reason(error)) from None


def _parse(session: SparkSession, text: str) -> Any:
    return session._jsparkSession.sessionState().sqlParser().parsePlan(text)


def _is_a(session: SparkSession, plan: Any, kinds: tuple[str, ...]) -> bool:
    loader = plan.getClass().getClassLoader()
    java = session._sc._jvm.java.lang.Class  # type: ignore[union-attr]
    return any(java.forName(_LOGICAL + kind, False, loader).isInstance(plan) for kind in kinds)
