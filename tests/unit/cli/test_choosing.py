"""What a call to run means."""

from __future__ import annotations

import pytest

from lakeguard.cli.choosing import choose_all, choose_named
from lakeguard_sdk.command_errors import BuiltByProgram
from lakeguard_sdk.definition import ColumnDefinition, DatasetDefinition, FromFrame, FromSql
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.words import LoadType

EVENTS, RAW, CLEAN, TOTAL, OLD = (
    DatasetName(name)
    for name in ("bronze.events", "bronze.raw", "silver.clean", "gold.total", "silver.old")
)


def dataset(name: DatasetName, *parents: DatasetName, active: bool = True) -> DatasetDefinition:
    return DatasetDefinition(
        dataset=name,
        domain="d",
        owner="o",
        parents=parents,
        active=active,
        build=FromFrame() if name == EVENTS else FromSql(file="sql/a.sql", text="SELECT 1 AS n"),
        load={"type": LoadType.FULL},
        columns=(ColumnDefinition(name="n", type="integer"),),
    )


DATASETS = (
    dataset(EVENTS),
    dataset(RAW),
    dataset(CLEAN, RAW, EVENTS),
    dataset(OLD, RAW, active=False),
    dataset(TOTAL, CLEAN, OLD),
)


def test_all_leaves_out_what_no_run_builds_and_what_is_not_active() -> None:
    chosen = choose_all(DATASETS)
    assert list(chosen.parents) == [RAW, CLEAN, TOTAL]
    assert chosen.parents[TOTAL] == (CLEAN, OLD)
    assert chosen.left_out == {
        EVENTS: "a program publishes it: tx.publish",
        OLD: "it is not active",
    }


def test_named_ones_and_nothing_else() -> None:
    chosen = choose_named([TOTAL, RAW], DATASETS, with_parents=False)
    assert (set(chosen.parents), chosen.left_out) == ({RAW, TOTAL}, {})


def test_named_ones_with_all_that_they_are_built_from() -> None:
    chosen = choose_named([CLEAN], DATASETS, with_parents=True)
    assert set(chosen.parents) == {RAW, CLEAN}
    assert list(chosen.left_out) == [EVENTS]


def test_a_named_one_that_is_not_active_is_left_to_the_gate() -> None:
    assert set(choose_named([OLD], DATASETS, with_parents=False).parents) == {OLD}


def test_a_named_one_that_a_program_publishes_is_refused() -> None:
    with pytest.raises(BuiltByProgram, match=r"tx\.publish"):
        choose_named([RAW, EVENTS], DATASETS, with_parents=False)
