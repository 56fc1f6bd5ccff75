"""Tags on their way down the lineage of columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.definition import (
    ColumnDefinition,
    FromPython,
    FromSql,
)
from lakeguard_sdk.processes import this_process
from lakeguard_sdk.run import RunResult
from lakeguard_sdk.words import (
    Layer,
    Outcome,
    PolicyType,
)
from tests.worlds.hand_work import run_by_hand
from tests.worlds.planes import NUMBERS
from tests.worlds.promises import (
    DOUBLED,
    TOTALS,
    built,
    decided,
    numbers,
    promise,
    world,
)

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")


PYTHON = FromPython(file="build.py", function="build", sha256="0" * 64)
TAGGED = numbers(columns=(ColumnDefinition(name="n", type="long", tags=("pii",)),))
IN_GOLD = {"applies_to_layer": Layer.GOLD}


@pytest.mark.parametrize(
    ("silver", "gold", "outcome"),
    [
        ("SELECT n FROM bronze.numbers", "SELECT n FROM silver.doubled", Outcome.FAIL),
        ("SELECT n * 2 AS n FROM bronze.numbers", "SELECT n FROM silver.doubled", Outcome.FAIL),
        ("SELECT hash(n) AS n FROM bronze.numbers", "SELECT n FROM silver.doubled", Outcome.PASS),
        ("SELECT n FROM bronze.numbers", "SELECT hash(n) AS n FROM silver.doubled", Outcome.PASS),
        (
            "SELECT n FROM bronze.numbers",
            "SELECT n + hash(n) AS n FROM silver.doubled",
            Outcome.FAIL,
        ),
        ("SELECT n FROM bronze.numbers", "SELECT count(*) AS n FROM silver.doubled", Outcome.PASS),
    ],
)
def test_a_tag_travels_until_it_is_masked(
    tmp_path: Path, silver: str, gold: str, outcome: Outcome
) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii unless masked by [hash]", **IN_GOLD)
    datasets = (TAGGED, built(silver), built(gold, DOUBLED, TOTALS))
    client = world(tmp_path, *datasets, policies=(policy,))
    run_by_hand(client, [1])
    run_by_hand(client, [1], client.operations.submit(DOUBLED, "test"))
    refused, check, run_id = decided(client, TOTALS)
    assert check.outcome is outcome, check.message
    assert (refused is not None) is (outcome is Outcome.FAIL)
    if refused is not None:
        assert "comes from bronze.numbers.n, tagged pii" in check.message
        assert not (tmp_path / "gold").exists()
    assert client.reader.replay(run_id).identical


@pytest.mark.parametrize(
    ("column", "build", "outcome"),
    [
        ("N", PYTHON, Outcome.FAIL),
        ("m", PYTHON, Outcome.PASS),
        (
            "m",
            FromSql(
                file="sql/m.sql",
                text="SELECT m FROM bronze.numbers LATERAL VIEW explode(array(n)) e AS m",
            ),
            Outcome.FAIL,
        ),
    ],
    ids=["of the same name", "of another name", "that cannot be followed"],
)
def test_where_lineage_is_not_known_names_count(
    tmp_path: Path, column: str, build: FromSql | FromPython, outcome: Outcome
) -> None:
    columns = (ColumnDefinition(name=column, type="long"),)
    silver = numbers(dataset=DOUBLED, parents=(NUMBERS,), build=build, columns=columns)
    policy = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)
    client = world(tmp_path, TAGGED, silver, policies=(policy,))
    run_by_hand(client, [1])
    task = client.operations.submit(DOUBLED, "test")
    result = client.runs.open_run(task, this_process("test"))
    assert isinstance(result, RunResult) is (outcome is Outcome.FAIL)
