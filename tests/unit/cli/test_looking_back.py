"""Times as people write them, and what a rebuilt run says of itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import click
import pytest

from lakeguard.cli.rendering.replay import rebuild_lines
from lakeguard.cli.terminal.time_arguments import moment_of
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.history import Rebuilt
from lakeguard_sdk.model.run import RunPlan, RunTicket, SqlBuild
from lakeguard_sdk.types.schema import Column, TableSchema

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAME = DatasetName("silver.orders")
FOUND = Rebuilt(
    run_id="run_1",
    dataset=NAME,
    version=3,
    rows=10,
    rows_now=9,
    missing=2,
    extra=1,
    columns=("amount",),
    digest="a",
    digest_now="b",
)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("90d", NOW - timedelta(days=90)),
        ("12h", NOW - timedelta(hours=12)),
        ("2026-02-01", datetime(2026, 2, 1, tzinfo=UTC)),
        ("2026-02-01T06:00:00+00:00", datetime(2026, 2, 1, 6, tzinfo=UTC)),
        ("999999w", datetime.min.replace(tzinfo=UTC)),
    ],
)
def test_a_time_is_so_long_ago_or_a_moment(text: str, meant: datetime) -> None:
    assert moment_of(text, NOW) == meant


@pytest.mark.parametrize("text", ["yesterday", "2026-02-01T06:00:00", "0d", "2026-13-01"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="write a duration such as 90d"):
        moment_of(text, NOW)


def plan(sql: str) -> RunPlan:
    return RunPlan(
        ticket=RunTicket(run_id="run_1", task_id="task_1", attempt=1, lease_token=""),
        dataset=NAME,
        dataset_id="ds_1",
        lease_seconds=1,
        load=LoadType.FULL,
        declared=TableSchema(columns=(Column(name="amount", type="double"),)),
        build=SqlBuild(text=sql, views={}),
        measures=(),
        location="/lake/silver/orders",
        base=None,
        staging="runs/run_1",
        definition_hash="sha256:0",
    )


def test_rows_that_differ_are_counted_and_chance_is_named() -> None:
    output = "\n".join(rebuild_lines(FOUND, plan("SELECT rand () AS amount, first FROM o")))
    assert "10 rows then, 9 now" in output
    assert "2 rows missing, 1 extra" in output
    assert "differing columns: amount" in output
    assert "its SQL uses rand: randomness and row order are not recorded" in output
    plain = "\n".join(rebuild_lines(FOUND, plan("SELECT amount, last FROM o")))
    assert "uses no known random function" in plain


def test_the_same_rows_are_one_line() -> None:
    same = FOUND.model_copy(update={"digest_now": "a"})
    (line,) = rebuild_lines(same, plan("SELECT 1"))
    assert "SAME ROWS" in line
    assert "silver.orders@v3" in line
