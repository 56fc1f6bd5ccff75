"""The table as the run's base shows it."""

from __future__ import annotations

from dataclasses import dataclass

from deltalake.exceptions import DeltaError, TableNotFoundError

from lakeguard_sdk.errors import BaseMoved, ForeignTable
from lakeguard_sdk.run import RunPlan
from lakeguard_sdk.words import LoadType
from openlaketx.engine.delta_table import LiveFile, live_files, open_table, protocol_problem


@dataclass(frozen=True)
class BaseTable:
    """Files of the base: those that stay beside the candidate, and those that it replaces."""

    stays: tuple[LiveFile, ...]
    removes: tuple[str, ...]
    rows: int
    """Rows in the files that stay."""


def base_table(plan: RunPlan) -> BaseTable:
    """What an append adds to, or what a full load replaces; empty where there is no table yet."""
    if plan.base is None:
        return BaseTable((), (), 0)
    try:
        table = open_table(plan.location, plan.base.commit)
    except (DeltaError, TableNotFoundError) as error:
        raise _foreign(plan, str(error)) from None
    if str(table.metadata().id) != plan.base.table_id:
        raise _foreign(plan, f"it is table {table.metadata().id} and not {plan.base.table_id}")
    if problem := protocol_problem(table):
        raise _foreign(plan, problem)
    live = live_files(table)
    if plan.load.type is LoadType.FULL:
        return BaseTable((), tuple(sorted(live)), 0)
    stays = tuple(live[path] for path in sorted(live))
    counts = [file.rows for file in stays if file.rows is not None]
    if len(counts) < len(stays):
        raise BaseMoved(
            dataset=plan.dataset,
            expected="row counts for every live file",
            found=f"none for {next(file.path for file in stays if file.rows is None)}",
        )
    return BaseTable(stays, (), sum(counts))


def _foreign(plan: RunPlan, difference: str) -> ForeignTable:
    return ForeignTable(location=plan.location, dataset=plan.dataset, difference=difference)
