"""Edge cases of quarantine: wrong rows, or lost rows of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk.core.enums import LoadType, PolicyType, RunStatus
from lakeguard_sdk.expressions.measures import CountIf, SampleMatches, measure_key
from lakeguard_sdk.model.definitions import Definitions, PolicyDefinition, RuleDefinition
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.quarantine import QuarantinedRows
from lakeguard_sdk.model.run import Window
from openlaketx.quarantine import splitter
from tests.spark.quarantine.test_quarantine_end_to_end import (
    COLUMNS,
    EVERY,
    LAX,
    STRICT,
    assert_whole,
    of,
    replay,
    row,
    rule,
    say,
)
from tests.support.lakes.loaded_tables import TABLE, LoadedTable, Row

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
SECOND = Window(column="seq", start="2", end="2")
NUMBER = "[0-9]{3}-[0-9]{2}-[0-9]{4}"


def shown(table: LoadedTable) -> list[tuple[int, int]]:
    return sorted((item["id"], item["amount"]) for item in table.by_deltalake())


def kept(table: LoadedTable) -> list[str | None]:
    """Ids of the quarantined rows, in the order of the files."""
    listing = table.client.reader.quarantined_rows(TABLE, EVERY, 20)
    return sorted(item[listing.columns.index("id")] or "" for item in listing.rows)


def quarantined(table: LoadedTable) -> QuarantinedRows:
    assert table.heard.evidence is not None
    assert table.heard.evidence.quarantined is not None
    return table.heard.evidence.quarantined


@pytest.mark.parametrize("more", [{}, {"file_row_number": "long"}], ids=["duckdb", "spark"])
def test_columns_by_the_names_that_places_have(tmp_path: Path, more: dict[str, str]) -> None:
    types = {**COLUMNS, "filename": "string", "row": "long", **more}
    rules = (STRICT, rule("unique(seq)", "seq"))
    table = LoadedTable(tmp_path, Load(type=LoadType.APPEND), types, rules)
    found = [row(1, 1, 1), row(2, -3, 2), row(3, 5, 3), row(4, 1, 4), row(5, 1, 4)]
    reported: list[dict[str, Any]] = [{"filename": "x", "row": 0, **dict.fromkeys(more, 0)}] * 5
    table.land([{**item, **extra} for item, extra in zip(of(table, *found), reported, strict=True)])
    assert table.run().status is RunStatus.SUCCESS
    assert shown(table) == [(1, 1), (3, 5)]
    assert kept(table) == ["2", "4", "5"]
    assert_whole(table)


def test_nothing_is_published_where_not_every_failing_row_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule counts two rows, and only one of them is found."""
    find = splitter.failing_rows

    def first_alone(rules: Any, subject: Any, *others: Any) -> Any:
        found = find(rules, subject, *others)
        other = find({0: CountIf(condition=ONE)}, subject, *others)
        assert found != other
        return other

    ONE = rule_condition(rule("ge(amount, value=-5)"))
    table = LoadedTable(tmp_path, Load(type=LoadType.APPEND), COLUMNS, (STRICT,))
    table.land(of(table, row(1, 1, 1), row(2, -3, 2), row(3, -9, 3)))
    monkeypatch.setattr(splitter, "failing_rows", first_alone)
    result = table.run()
    assert result.status is RunStatus.BLOCKED
    assert table.heard.evidence is not None
    (reason,) = set(table.heard.evidence.unmeasured.values())
    assert reason == "2 rows fail, but 1 was found"
    assert table.client.reader.quarantine(TABLE) == ()


def rule_condition(given: RuleDefinition) -> Any:
    from lakeguard.gate.rules.quarantine_rules import quarantine_rules
    from tests.support.lakes.plans import schema

    (found,) = quarantine_rules((given,), schema(**COLUMNS))
    assert isinstance(found.failed, CountIf)
    return found.failed.condition


@pytest.mark.parametrize(
    "load",
    [
        Load(type=LoadType.FULL),
        Load(type=LoadType.APPEND),
        Load(type=LoadType.PARTITION, partition_by=("seq",)),
    ],
    ids=lambda load: str(load.type),
)
def test_a_window_of_which_every_row_fails_stays_as_it_is(tmp_path: Path, load: Load) -> None:
    table = LoadedTable(tmp_path, load, COLUMNS, (LAX,))
    table.land(of(table, row(1, 1, 1), row(2, -1, 2)))
    table.run()
    say(table, STRICT)
    result = table.run(SECOND)
    assert result.status is RunStatus.FAILED
    assert result.error is not None
    assert "no row from 2 to 2 passes" in result.error.message
    assert shown(table) == [(1, 1), (2, -1)]
    assert table.client.reader.quarantine(TABLE) == ()


PARTITION = Load(type=LoadType.PARTITION, partition_by=("seq",))


@pytest.mark.parametrize("grown", [False, True], ids=["as it was", "with a column more"])
def test_a_partition_of_which_no_row_passed_stays_as_it_is(tmp_path: Path, grown: bool) -> None:
    table = LoadedTable(tmp_path, PARTITION, COLUMNS, (STRICT,))
    table.land(of(table, row(1, 1, 1), row(2, 1, 2)))
    table.run()
    if grown:
        table.redefine(columns={**COLUMNS, "note": "string"})
    table.land(of(table, row(3, 1, 1), row(4, -1, 2)), alone=True)
    second = table.run()
    assert (second.status, second.version) == (RunStatus.SUCCESS, 2), second
    assert shown(table) == [(2, 1), (3, 1)]
    assert kept(table) == ["4"]
    table.land(of(table, row(5, -1, 1), row(6, -1, 2)), alone=True)
    third = table.run()
    assert third.status is RunStatus.SUCCESS, third
    assert shown(table) == [(2, 1), (3, 1)]
    assert_whole(table)


def test_a_key_that_a_staying_partition_has_is_no_new_one(tmp_path: Path) -> None:
    """That the second partition is retained is known only after its row is quarantined."""
    rules = (STRICT, rule("unique(id)", "unique"))
    table = LoadedTable(tmp_path, PARTITION, COLUMNS, rules)
    table.land(of(table, row(1, 1, 1), row(2, 1, 2)))
    table.run()
    table.land(of(table, row(2, 1, 1), row(3, 1, 1), row(4, -1, 2)), alone=True)
    result = table.run()
    assert result.status is RunStatus.SUCCESS, result
    assert shown(table) == [(2, 1), (3, 1)]
    assert kept(table) == ["2", "4"]
    assert_whole(table)


class Guarded(LoadedTable):
    """A table in a lake that forbids a pattern."""

    within = "samples"

    def definitions(self) -> Definitions:
        text = f"forbid pattern '{NUMBER}' in {self.within}"
        policy = PolicyDefinition(policy="no_number", type=PolicyType.PII, expression=text)
        return super().definitions().model_copy(update={"policies": (policy,)})


@pytest.mark.parametrize("within", ["samples", "values"])
@pytest.mark.parametrize(
    "load",
    [Load(type=LoadType.APPEND), Load(type=LoadType.INCREMENTAL, keys=("id",)), PARTITION],
    ids=lambda load: str(load.type),
)
def test_patterns_are_looked_for_in_rows_that_are_quarantined(
    tmp_path: Path, load: Load, within: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Guarded, "within", within)
    table = Guarded(tmp_path, load, {**COLUMNS, "note": "string"}, (STRICT,))
    good: Row = {**of(table, row(1, 1, 1))[0], "note": "fine"}
    table.land([good, {**good, "id": 2, "amount": -3, "note": "call 123-45-6789"}])
    table.run()
    assert table.heard.plan is not None
    asked = [m for m in table.heard.plan.measures if isinstance(m, SampleMatches | CountIf)]
    keys = [measure_key(m) for m in asked if NUMBER in m.model_dump_json()]
    assert [quarantined(table).before[key] for key in keys] == [1]


def test_rows_of_a_later_run_count_more_whichever_rule_they_failed(tmp_path: Path) -> None:
    rules = (STRICT, rule("ge(seq, value=0)", "seq"))
    load = Load(type=LoadType.INCREMENTAL, keys=("id",))
    table = LoadedTable(tmp_path, load, COLUMNS, rules)
    table.land(of(table, row(1, -1, 1), row(2, 1, -2), row(3, 3, 3)))
    table.run()
    table.land(of(table, row(1, 1, -1), row(2, -2, 1)))
    table.run()
    say(table, LAX, rule("ge(seq, value=-5)", "seq"))
    sent = replay(table, as_newest=True)
    assert sent.status is RunStatus.SUCCESS, sent
    assert shown(table) == [(1, 1), (2, -2), (3, 3)]
    assert_whole(table)
