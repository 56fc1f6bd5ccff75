"""What waits, of long histories: each version is looked at once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from time import perf_counter

import pytest

from lakeguard.ledger.quarantine.load import coverage_of
from lakeguard.ledger.quarantine.state import (
    Holding,
    Move,
    Quarantine,
    ReadRows,
    SourceCoverage,
    Taken,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.model.evidence import InputVersion, VersionPosition
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantineBuild, QuarantineState
from lakeguard_sdk.model.run import (
    Build,
    FrameBuild,
    InputPin,
    PythonBuild,
    RunPlan,
    RunTicket,
    SourceBuild,
    SqlBuild,
    TableSnapshot,
    Window,
)
from lakeguard_sdk.types.schema import TableSchema

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAME = DatasetName("silver.numbers")
MANY = 1000


def holding(version: int) -> Holding:
    return Holding(
        run_id=f"run_{version}",
        rule_id="r",
        expression="e",
        version=version,
        rows=1,
        first_seen=NOW,
        quarantined_at=NOW,
        files=(),
    )


def history(coverage: Callable[[int], SourceCoverage], many: int = MANY) -> Quarantine:
    numbers = range(1, many + 1)
    return Quarantine(
        moves=tuple(Move(number, "PUBLISH") for number in numbers),
        coverage=coverage,
        holdings=tuple(map(holding, numbers)),
    )


@pytest.mark.parametrize("anew", [False, True])
def test_long_histories_are_read_once(anew: bool) -> None:
    """It takes a part of a second; a look at all for each version took minutes."""
    found = history(lambda _: SourceCoverage(anew=anew))
    started = perf_counter()
    waits = len(found.quarantined(MANY))
    ever = len(found.ever_quarantined(set(range(1, MANY + 1))))
    read = {number: ReadRows(1, 1, 0) for number in range(1, MANY + 1)}
    balances = list(found.balances(NAME, read))
    assert perf_counter() - started < 60
    assert (waits, ever) == ((1 if anew else MANY), MANY)
    assert all(balance.adds_up for balance in balances)
    assert balances[-1] == found.balance(NAME, MANY, read)


def test_a_history_that_forks_keeps_its_branches_apart() -> None:
    moves = [Move(1, "PUBLISH"), Move(2, "PUBLISH"), Move(1, "ROLLBACK"), Move(3, "PUBLISH")]
    found = Quarantine(
        moves=tuple(moves),
        coverage=lambda version: SourceCoverage(anew=version == 1),
        holdings=(holding(1), holding(3)),
        taken=(Taken("run_2", "run_1", "r", 2),),
    )
    held = {version: sorted(key[0] for key in book) for version, book in found.histories()}
    assert held == {1: ["run_1"], 2: [], 3: ["run_1", "run_3"]}
    assert all(sorted(k[0] for k in found.held(v)) == book for v, book in held.items())
    assert found.state(holding(1), 2) == (QuarantineState.REPLAYED, "run_2")
    assert found.state(holding(3), 2) == (QuarantineState.UNDONE, None)


def test_evidence_that_is_gone_breaks_nothing() -> None:
    found = history(lambda _: SourceCoverage(), 2)
    assert found.balance(NAME, 2, {2: ReadRows(1, 1, 0)}).read == 2
    assert list(found.balances(NAME, {2: ReadRows(1, 1, 0)})) == []


# -- how much was read -----------------------------------------------------------------------------

SNAPSHOT = TableSnapshot(location="/l", table_id="t", commit=1)
PIN = InputPin(
    input=InputVersion(dataset=NAME, dataset_id="ds_1", version=1),
    snapshot=SNAPSHOT,
    table_schema=TableSchema(columns=()),
)
GAINED = PIN.model_copy(update={"since": SNAPSHOT})
SOURCE = SourceBuild(source="s", format=SourceFormat.CSV, path="*.csv")
PLACED = SOURCE.model_copy(update={"position": VersionPosition(version=1)})
KEYED = Load(type=LoadType.INCREMENTAL, keys=("n",))
PYTHON = PythonBuild(file="f.py", function="f", sha256="0" * 64, inputs={"silver.numbers": PIN})


def plan(load: Load, build: Build, **given: object) -> RunPlan:
    made = RunPlan(
        ticket=RunTicket(run_id="run_1", task_id="task_1", attempt=1, lease_token=""),
        dataset=NAME,
        dataset_id="ds_1",
        lease_seconds=1,
        load=load,
        declared=TableSchema(columns=()),
        build=build,
        measures=(),
        location="/l",
        base=None,
        staging="s",
        definition_hash="sha256:0",
    )
    return made.model_copy(update=given)


@pytest.mark.parametrize(
    ("load", "build", "given", "anew"),
    [
        (Load(type=LoadType.FULL), PLACED, {}, True),
        (Load(type=LoadType.SNAPSHOT, keys=("n",)), PLACED, {}, True),
        (Load(type=LoadType.APPEND), SOURCE, {}, False),
        (Load(type=LoadType.APPEND), PYTHON, {}, False),
        (KEYED, SOURCE, {}, True),
        (KEYED, PLACED, {}, False),
        (KEYED, PYTHON, {}, True),
        (KEYED, PYTHON, {"watermark": "7"}, False),
        (KEYED, SqlBuild(text="SELECT 1", views={"a": GAINED, "b": PIN}), {}, False),
        (KEYED, SqlBuild(text="SELECT 1", views={"b": PIN}), {}, True),
        (KEYED, FrameBuild(), {}, False),
        (Load(type=LoadType.PARTITION), SqlBuild(text="SELECT 1", views={"b": PIN}), {}, True),
        (Load(type=LoadType.FULL), QuarantineBuild(files=()), {}, False),
    ],
)
def test_what_reads_everything_is_told_by_its_plan(
    load: Load, build: Build, given: dict[str, object], anew: bool
) -> None:
    assert coverage_of(plan(load, build, **given)) == SourceCoverage(anew=anew)


def test_a_back_fill_reads_rows_once_more() -> None:
    window = Window(column="n", start="0", end="9")
    assert coverage_of(plan(Load(type=LoadType.FULL), SOURCE, window=window)) == SourceCoverage(
        windowed=True
    )
