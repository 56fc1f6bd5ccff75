"""What changed since the last green run, by name, from what the ledger has of both runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard.services.explain_decision import explain
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    PolicyType,
    Severity,
    SourceFormat,
)
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    PolicyDefinition,
    RuleDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.evidence import SourceFile, SourcePosition
from lakeguard_sdk.model.run import Failure, RunPlan, RunResult
from lakeguard_sdk.model.run_comparison import (
    Difference,
    NamedFiles,
    Since,
    Subject,
)
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    built,
    numbers,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

ENOUGH = RuleDefinition(
    rule_id="enough", rule_type="ROW_COUNT", expression="row_count(min=1)", severity=Severity.FAIL
)
SELECT = "SELECT n FROM bronze.numbers"


def run(
    client: Client,
    name: DatasetName = NUMBERS,
    live: TableSchema | None = None,
    files: tuple[SourceFile, ...] = (),
    **given: Any,
) -> str:
    """A run to its end, published where it is allowed; answers its id."""
    plan = client.runs.open_run(client.operations.submit(name, "test"), this_process("test"))
    if isinstance(plan, RunResult):
        return plan.run_id
    verdict = client.runs.submit_schema(plan.ticket, live or plan.declared)
    if verdict.result is not None:
        return plan.ticket.run_id
    plan = plan.under(verdict)
    described = {"position": SourcePosition(files=files) if files else None, **given}
    evidence = evidence_of(DeltaLake(), plan, [1, 2]).model_copy(update=described)
    if client.runs.submit_evidence(plan.ticket, evidence).allowed:
        commit = DeltaLake().publish(client.runs.begin_move(plan.ticket))
        client.runs.complete_move(plan.ticket, commit)
    return plan.ticket.run_id


def since(client: Client, run_id: str) -> Since:
    found = client.reader.since(run_id)
    assert found is not None
    return found


def run_changes(client: Client, run_id: str) -> list[tuple[str, str, str | None, str | None]]:
    return [(d.subject.value, d.name, d.before, d.after) for d in since(client, run_id).differences]


def test_nothing_changed(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(ENOUGH,)))
    first = run(client)
    assert client.reader.since(first) is None, "there is nothing green before it"
    found = since(client, run(client))
    assert (found.version, found.run_id, found.differences) == (1, first, ())
    assert (found.new_files, found.changed_files, found.gone_files) == (None, None, None)


def test_files_are_named_counted_and_weighed(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    old = [SourceFile(path=f"in/{n}.csv", size=10, modified_ms=1, sha256=f"{n}") for n in "abc"]
    run(client, files=tuple(old))
    touched = old[0].model_copy(update={"modified_ms": 9})
    other = old[1].model_copy(update={"sha256": "x"})
    new = [SourceFile(path=f"in/new-{n}.csv", size=n, modified_ms=2) for n in range(1, 5)]
    found = since(client, run(client, files=(touched, other, *new)))
    names = ("in/new-1.csv", "in/new-2.csv", "in/new-3.csv")
    assert found.new_files == NamedFiles(count=4, names=names, bytes=10)
    assert found.changed_files == NamedFiles(count=1, names=("in/b.csv",), bytes=10)
    assert found.gone_files == NamedFiles(count=1, names=("in/c.csv",), bytes=10)


def test_rules_and_policies_are_told_before_and_after(tmp_path: Path) -> None:
    gone = ENOUGH.model_copy(update={"rule_id": "gone"})
    alert = promise(PolicyType.OWNERSHIP, "owner required", enforcement=Enforcement.ALERT)
    client = world(tmp_path, numbers(rules=(ENOUGH, gone)), policies=(alert,))
    run(client)
    more = ENOUGH.model_copy(update={"expression": "row_count(min=5)"})
    new = ENOUGH.model_copy(update={"rule_id": "new", "severity": Severity.WARN})
    owned = PolicyDefinition(
        policy="owned",
        applies_to_layer=Layer.BRONZE,
        type=PolicyType.OWNERSHIP,
        expression="owner in [others]",
    )
    revise(
        client,
        numbers(rules=(more, new)),
        policies=(alert.model_copy(update={"enforcement": Enforcement.BLOCK}), owned),
    )
    found = run_changes(client, run(client))
    assert sorted(found) == [
        ("policy", "owned", None, "owner in [others] for bronze"),
        ("policy", "promise", "owner required [ALERT]", "owner required"),
        ("rule", "enough", "row_count(min=1)", "row_count(min=5)"),
        ("rule", "gone", "row_count(min=1)", None),
        ("rule", "new", None, "row_count(min=1) [WARN]"),
    ]


def test_columns_of_the_live_schema(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run(client, live=TableSchema(columns=(Column(name="n", type="long"),)))
    columns = (Column(name="n", type="string"), Column(name="m", type="date"))
    found = run_changes(client, run(client, live=TableSchema(columns=columns)))
    assert found == [("column", "n", "long", "string"), ("column", "m", None, "date")]


def test_what_the_green_run_brought_itself_is_no_change_since(tmp_path: Path) -> None:
    had = (ColumnDefinition(name="n", type="long"), ColumnDefinition(name="amt", type="integer"))
    client = world(tmp_path, numbers(columns=had, profile="permissive"))
    run(client)
    types = {"n": "long", "amt": "long", "extra": "string"}
    grown = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in types.items()))
    second = run(client, live=grown)
    assert [item[1:] for item in run_changes(client, second)] == [
        ("amt", "integer", "long"),
        ("extra", None, "string"),
    ]
    third = run(client, live=grown)
    assert (since(client, third).version, run_changes(client, third)) == (2, [])


def test_input_versions_and_the_sql(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(), built(SELECT))
    run(client)
    run(client, DOUBLED)
    run(client)
    revise(client, built(f"{SELECT} WHERE n > 0"))
    last = run(client, DOUBLED, build_hash="sha256:1")
    assert run_changes(client, last) == [
        ("input", "bronze.numbers", "v1", "v2"),
        ("build", "the SQL", "1 lines", "1 lines, 1 changed"),
    ]
    assert since(client, last).read == {NUMBERS: 2}


def test_a_run_that_never_opened_is_told_by_what_it_would_have_read(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(), built(SELECT))
    run(client)
    run(client, DOUBLED)
    run(client)
    revise(client, policies=(promise(PolicyType.OWNERSHIP, "owner in [others]"),))
    refused = run(client, DOUBLED)
    assert run_changes(client, refused) == [
        ("input", "bronze.numbers", "v1", "v2"),
        ("policy", "promise", None, "owner in [others]"),
    ]


def test_a_run_that_failed_is_compared_as_far_as_it_came(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(rules=(ENOUGH,)))
    run(client)
    revise(client, numbers(rules=(ENOUGH,), owner="somebody else", details={"shuffle": "8"}))
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.fail_run(plan.ticket, Failure(code="LG-5003", message="no file"))
    assert run_changes(client, plan.ticket.run_id) == [
        ("definition", "owner", "tests", "somebody else"),
        ("setting", "shuffle", None, "8"),
    ]


def test_where_the_source_is_read_and_what_is_declared(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run(client)
    source = SourceDefinition(source="numbers", format=SourceFormat.PARQUET, path="new/*.parquet")
    columns = (ColumnDefinition(name="n", type="long", tags=("pii",)),)
    revise(client, numbers(columns=columns), sources=(source,))
    assert run_changes(client, run(client)) == [
        ("definition", "column n tags", None, "pii"),
        ("source", "path", "in/*.parquet", "new/*.parquet"),
    ]


def test_other_hands_are_told_where_nothing_else_explains_the_build(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run(client)
    found = since(client, run(client, build_hash="sha256:1", engine="another")).differences
    assert [(item.subject, item.name) for item in found] == [
        (Subject.ENGINE, "the data plane"),
        (Subject.ENGINE, "measured by"),
    ]
    assert found[1] == Difference(
        subject=Subject.ENGINE, name="measured by", before="by hand", after="another"
    )


def test_a_rollback_builds_nothing_to_compare(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    run(client)
    run(client)
    client.operations.rollback(NUMBERS, 1, "back")
    last, *_ = client.reader.runs(NUMBERS)
    found = since(client, last.run_id)
    assert (found.version, found.compared, found.differences, found.read) == (2, False, (), {})
    green = explain(client.reader, last, last.end_time).green
    assert green is not None
    assert green.version == found.version
