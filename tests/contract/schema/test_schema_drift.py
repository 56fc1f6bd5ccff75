"""Schemas that differ: what is kept of them, and what an accepted difference does to a definition.

By hand, without Spark: the data plane's side of it stands in ``tests/spark``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from lakeguard.plane import open_state
from lakeguard.registry.editing.drift import drifted, undrifted
from lakeguard.registry.editing.export import definition_files
from lakeguard.settings import load_settings
from lakeguard.state.schema import (
    registry_applies,
    schema_change_log,
    schema_history,
    source_object_columns,
)
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import (
    Layer,
    LoadType,
    PolicyType,
    RunStatus,
    SourceFormat,
)
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    PolicyDefinition,
    ProfileDefinition,
    SourceDefinition,
)
from lakeguard_sdk.model.evidence import Changes
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunPlan, RunResult, SchemaVerdict
from lakeguard_sdk.model.schema_changes import ColumnOrigin, Reaction, SchemaChange
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

SOURCE = SourceDefinition(source="numbers", format=SourceFormat.PARQUET, path="in/*.parquet")
N = Column(name="n", type="long")
EXTRA = Column(name="extra", type="string")
LIVE = TableSchema(columns=(N, EXTRA))


def numbers(**changes: Any) -> DatasetDefinition:
    fields: dict[str, Any] = {
        "dataset": NUMBERS,
        "domain": "test",
        "owner": "tests",
        "build": FromSource(source="numbers"),
        "load": LoadType.APPEND,
        "profile": "additive",
        "columns": (ColumnDefinition(name="n", type="long"),),
    }
    return DatasetDefinition(**{**fields, **changes})


def world(folder: Path, dataset: DatasetDefinition, **more: Any) -> Client:
    definitions = {"sources": (SOURCE,), "datasets": (dataset,), **more}
    return make_project(folder, Definitions(**definitions))


def opened(client: Client) -> RunPlan:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan), plan
    return plan


def test_a_rollback_takes_back_what_came_with_the_data(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    before = TableSchema(columns=(N,))
    publish(client, before, [1])
    publish(client, LIVE, [2])
    assert client.reader.definition(NUMBERS).columns[-1].origin is ColumnOrigin.DRIFT
    client.operations.rollback(NUMBERS, 1, "a wrong file")
    assert client.reader.definition(NUMBERS).columns == numbers().columns
    assert run_by_hand(client, [3]).status is RunStatus.SUCCESS
    assert client.ledger.verify(replay=True).findings == ()


def test_what_was_widened_is_as_the_shown_table_has_it() -> None:
    narrow = ColumnDefinition(name="n", type="integer")
    first = numbers(columns=(narrow,))
    wider = drifted(first, LIVE)
    assert wider.columns[0].widened_from == "integer"
    assert undrifted(wider, LIVE) == wider
    assert undrifted(wider, TableSchema(columns=(Column(name="n", type="integer"),))) == first


def test_a_rollback_leaves_what_a_person_declared(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    publish(client, TableSchema(columns=(N,)), [1])
    publish(client, LIVE, [2])
    both = (*numbers().columns, ColumnDefinition(name="extra", type="string"))
    client.registry.apply(client.registry.plan(Definitions(datasets=(numbers(columns=both),))))
    client.operations.rollback(NUMBERS, 1, "a wrong file")
    assert client.reader.definition(NUMBERS).columns == both


def submitted(client: Client, live: TableSchema) -> tuple[RunPlan, SchemaVerdict]:
    plan = opened(client)
    return plan, client.runs.submit_schema(plan.ticket, live)


def publish(client: Client, live: TableSchema, numbers: list[int]) -> RunResult:
    """A run whose files leave to readers what is not a number."""
    plan, verdict = submitted(client, live)
    assert verdict.accepted, verdict.differences
    plan = plan.under(verdict)
    lake = DeltaLake()
    evidence = evidence_of(lake, plan, numbers)
    if plan.base is not None:
        kept = lake.numbers(plan.location, plan.base.commit).elements()
        again = lake.stage(plan.location, f"{plan.staging}/again.parquet", list(kept))
        given = {
            "files": (*evidence.files, again),
            "removes": lake.files(plan.location, plan.base.commit),
            "changes": Changes(inserted=len(numbers)),
        }
        evidence = evidence.model_copy(update=given)
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    assert decision.allowed, decision.ruling.reasons
    commit = lake.publish(client.runs.begin_move(plan.ticket))
    return client.runs.complete_move(plan.ticket, commit)


def rows(folder: Path, view: Any, **where: str) -> list[Any]:
    with open_state(load_settings(folder)).read() as connection:
        query = select(view).filter_by(**where)
        return [row._mapping for row in connection.execute(query)]


def classes(verdict: SchemaVerdict) -> dict[str, str]:
    return {f"{item.change} {item.column}": str(item.reaction) for item in verdict.differences}


def test_an_addition_is_the_tables_until_a_person_declares_it(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    result = publish(client, LIVE, [1, 2])
    assert result.status is RunStatus.SUCCESS
    definition = client.reader.definition(NUMBERS)
    drifted = ColumnDefinition(name="extra", type="string", origin=ColumnOrigin.DRIFT)
    assert definition.columns[-1] == drifted
    (revision,) = rows(tmp_path, source_object_columns, column_name="extra")
    assert (revision["origin"], revision["ordinal_position"]) == ("drift", 2)
    *_, applied = rows(tmp_path, registry_applies)
    assert (applied["applied_by"], applied["reason"]) == (
        "drift",
        f"{result.run_id} brought extra",
    )
    assert not client.registry.plan(Definitions(datasets=(numbers(),))).steps, "files lack it"
    files = definition_files(Definitions(datasets=(definition,)))
    assert "extra: {type: string, origin: drift}" in files["definitions/bronze/numbers.yaml"]


def test_what_drifted_in_is_proven_like_all_else(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    publish(client, TableSchema(columns=(N,)), [1])
    publish(client, LIVE, [2])
    report = client.ledger.verify(replay=True)
    assert (report.findings, report.decisions) == ((), 2)


def test_a_later_run_finds_what_drifted_declared(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    publish(client, LIVE, [1])
    plan, verdict = submitted(client, LIVE)
    assert (verdict.accepted, verdict.differences) == (True, ())
    assert plan.declared == LIVE


def test_a_person_declares_a_drifted_column_or_drops_it(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    publish(client, LIVE, [1])
    given = ColumnDefinition(name="extra", type="string", description="Mine.")
    declared = numbers(columns=(ColumnDefinition(name="n", type="long"), given))
    client.registry.apply(client.registry.plan(Definitions(datasets=(declared,))))
    assert client.reader.definition(NUMBERS).columns[-1] == given
    (step,) = client.registry.plan(Definitions(datasets=(numbers(),))).steps
    assert [c.name for c in step.definition.columns] == ["n"], "a declared one is a person's"


def test_what_is_left_out_by_name_leaves_the_definition(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(load=LoadType.FULL))
    publish(client, LIVE, [1])
    without = numbers(load=LoadType.FULL, leave_out=("extra",))
    client.registry.apply(client.registry.plan(Definitions(datasets=(without,))))
    assert client.reader.definition(NUMBERS).declared.names == ("n",)
    _, verdict = submitted(client, LIVE)
    assert classes(verdict) == {"ADD_NULLABLE extra": "LEFT_OUT"}


def test_a_table_grows_by_what_drifts_in_later(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    publish(client, TableSchema(columns=(N,)), [1])
    result = publish(client, LIVE, [2])
    assert result.version == 2
    assert client.reader.versions(NUMBERS)[0].table_rows == 2
    assert client.reader.definition(NUMBERS).declared == LIVE


def test_what_a_person_revised_meanwhile_counts(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    plan, verdict = submitted(client, LIVE)
    own = ColumnDefinition(name="extra", type="integer")
    revised = numbers(columns=(ColumnDefinition(name="n", type="long"), own))
    client.registry.apply(client.registry.plan(Definitions(datasets=(revised,))))
    plan, lake = plan.under(verdict), DeltaLake()
    client.runs.submit_evidence(plan.ticket, evidence_of(lake, plan, [1]))
    client.runs.complete_move(plan.ticket, lake.publish(client.runs.begin_move(plan.ticket)))
    assert client.reader.definition(NUMBERS).columns[-1] == own


def test_a_refused_schema_is_kept(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(profile="strict"))
    plan, verdict = submitted(client, LIVE)
    assert verdict.result is not None
    assert verdict.result.status is RunStatus.BLOCKED
    run_id = plan.ticket.run_id
    (seen,) = rows(tmp_path, schema_history, run_id=run_id)
    assert TableSchema.from_json(seen["schema_json"]) == LIVE
    (change,) = rows(tmp_path, schema_change_log, run_id=run_id)
    described = ("column_name", "change_type", "found_type", "compatibility", "action_taken")
    assert [change[name] for name in described] == [
        "extra", "ADD_NULLABLE", "string", "INCOMPATIBLE", "BLOCK",
    ]  # fmt: skip
    assert client.reader.replay(run_id).identical


def test_an_accepted_difference_is_logged_and_replays(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    result = publish(client, LIVE, [1])
    (change,) = rows(tmp_path, schema_change_log, run_id=result.run_id)
    assert (change["compatibility"], change["action_taken"]) == ("COMPATIBLE", "ACCEPT")
    assert client.reader.replay(result.run_id).identical


def test_a_policy_outranks_every_profile(tmp_path: Path) -> None:
    strict = PolicyDefinition(
        policy="strict",
        applies_to_layer=Layer.BRONZE,
        type=PolicyType.SCHEMA,
        expression="mode STRICT",
    )
    client = world(tmp_path, numbers(profile="permissive"), policies=(strict,))
    _, verdict = submitted(client, LIVE)
    assert classes(verdict) == {"ADD_NULLABLE extra": "BLOCK"}
    left = numbers(profile="permissive", leave_out=("extra",))
    client.registry.apply(client.registry.plan(Definitions(datasets=(left,))))
    _, again = submitted(client, LIVE)
    assert classes(again) == {"ADD_NULLABLE extra": "BLOCK"}


@pytest.mark.parametrize(
    ("profile", "answer"),
    [
        (ProfileDefinition(profile="own"), "ACCEPT"),
        (ProfileDefinition(profile="own", auto_add_columns=False), "BLOCK"),
        (
            ProfileDefinition(
                profile="own", reactions={SchemaChange.ADD_NULLABLE: Reaction.LEFT_OUT}
            ),
            "LEFT_OUT",
        ),
        (ProfileDefinition(profile="additive", auto_add_columns=False), "BLOCK"),
    ],
)
def test_a_profile_of_ones_own(tmp_path: Path, profile: ProfileDefinition, answer: str) -> None:
    client = world(tmp_path, numbers(profile=profile.profile), profiles=(profile,))
    _, verdict = submitted(client, LIVE)
    assert classes(verdict) == {"ADD_NULLABLE extra": answer}


def test_the_narrow_flag_counts(tmp_path: Path) -> None:
    short = TableSchema(columns=(Column(name="n", type="short"),))
    for allowed in (False, True):
        own = ProfileDefinition(profile="own", allow_type_narrow=allowed)
        client = world(tmp_path / str(allowed), numbers(profile="own"), profiles=(own,))
        _, verdict = submitted(client, short)
        assert verdict.accepted is allowed
        assert classes(verdict) == {"NARROW n": "ACCEPT_CAST" if allowed else "BLOCK"}


def test_a_disabled_profile_is_refused_by_name(tmp_path: Path) -> None:
    off = ProfileDefinition(profile="own", active=False)
    client = world(tmp_path, numbers(profile="own"), profiles=(off,))
    task = client.operations.submit(NUMBERS, "test")
    result = client.runs.open_run(task, this_process("test"))
    assert isinstance(result, RunResult)
    assert result.decision is not None
    assert any("profile own is disabled" in why for why in result.decision.ruling.reasons)


def test_keys_do_not_change_under_a_table(tmp_path: Path) -> None:
    columns = (ColumnDefinition(name="n", type="long"), ColumnDefinition(name="m", type="long"))
    keyed = {"columns": columns, "profile": "permissive"}
    first = Load(type=LoadType.APPEND, keys=("n",))
    client = world(tmp_path, numbers(load=first, **keyed))
    both = TableSchema(columns=(N, Column(name="m", type="long")))
    publish(client, both, [1])
    second = Load(type=LoadType.APPEND, keys=("m",))
    tagged = (columns[0], columns[1].model_copy(update={"tags": ("money",), "description": "M."}))
    revised = numbers(load=second, profile="permissive", columns=tagged)
    client.registry.apply(client.registry.plan(Definitions(datasets=(revised,))))
    _, verdict = submitted(client, both)
    assert classes(verdict) == {"KEY_CHANGE ": "BLOCK", "COMMENT m": "ACCEPT", "TAG m": "ACCEPT"}


def test_a_column_that_no_definition_may_have_is_refused(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    odd = TableSchema(columns=(N, Column(name="N\t", type="long")))
    _, verdict = submitted(client, odd)
    assert not verdict.accepted
    assert set(classes(verdict).values()) == {"BLOCK"}


def test_a_column_that_the_load_writes_is_left_out(tmp_path: Path) -> None:
    load = Load(type=LoadType.APPEND, hash="ROW_HASH")
    client = world(tmp_path, numbers(load=load))
    _, verdict = submitted(client, TableSchema(columns=(N, Column(name="row_hash", type="string"))))
    assert classes(verdict) == {"ADD_NULLABLE row_hash": "LEFT_OUT"}


def test_a_table_without_local_times_takes_none_later(tmp_path: Path) -> None:
    client = world(tmp_path, numbers())
    publish(client, TableSchema(columns=(N,)), [1])
    local = TableSchema(columns=(N, Column(name="at", type="timestamp_ntz")))
    _, verdict = submitted(client, local)
    assert classes(verdict) == {"ADD_NULLABLE at": "BLOCK"}


def test_a_widened_type_is_kept_until_a_person_says_otherwise(tmp_path: Path) -> None:
    narrow = (ColumnDefinition(name="n", type="long"), ColumnDefinition(name="m", type="integer"))
    client = world(tmp_path, numbers(columns=narrow, profile="backward"))
    wide = TableSchema(columns=(N, Column(name="m", type="long")))
    publish(client, wide, [1])
    kept = client.reader.definition(NUMBERS).columns[1]
    assert (kept.type, kept.widened_from, kept.origin) == ("long", "integer", ColumnOrigin.DECLARED)
    on_disk = numbers(columns=narrow, profile="backward")
    assert not client.registry.plan(Definitions(datasets=(on_disk,))).steps
    given = numbers(columns=(narrow[0], ColumnDefinition(name="m", type="string")))
    (step,) = client.registry.plan(Definitions(datasets=(given,))).steps
    assert step.definition.declared.type_of("m") == "string"


def test_what_was_seen_last_against_every_profile(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(profile="strict"))
    assert client.reader.schema_diff(NUMBERS) is None
    plan, _ = submitted(client, LIVE)
    diff = client.reader.schema_diff(NUMBERS)
    assert diff is not None
    assert (diff.run_id, diff.profile, diff.live) == (plan.ticket.run_id, "strict", LIVE)
    (item,) = diff.differences
    assert (item.column, item.change) == ("extra", SchemaChange.ADD_NULLABLE)
    assert item.reactions["strict"] is Reaction.BLOCK
    assert item.reactions["additive"] is Reaction.ACCEPT
    (row,) = client.reader.schemas(NUMBERS)
    assert (row.run_id, row.live, row.accepted) == (plan.ticket.run_id, LIVE, False)
