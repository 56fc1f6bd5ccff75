"""Lineage that a run reports: tags follow it into every dataset built from the batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import Layer, LoadType, Outcome, PolicyType, RunStatus
from lakeguard_sdk.errors import InvalidDefinitions, LoadFailed, NotApproved
from lakeguard_sdk.model.decision import CheckResult
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    FromFrame,
    FromPython,
)
from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.lineage import BatchColumn, BatchLineage, SourceColumn, unknown_lineage
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunPlan, RunResult
from lakeguard_sdk.model.schema_changes import SchemaChange
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    DOUBLED,
    TOTALS,
    built,
    numbers,
    opened,
    promise,
    promised,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.shell import Shell

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")

OTHER = DatasetName("silver.other")
PARENT = numbers(
    columns=(
        ColumnDefinition(name="n", type="long"),
        ColumnDefinition(name="mail", type="string", tags=("pii",)),
    )
)
IN_GOLD = {"applies_to_layer": Layer.GOLD}
FORBIDDEN = promise(PolicyType.PII, "forbid tag:pii", **IN_GOLD)
PYTHON = FromPython(file="builds/b.py", function="b", sha256="0" * 64)


def frame(name: DatasetName = DOUBLED, **changes: Any) -> DatasetDefinition:
    return numbers(**{"dataset": name, "build": FromFrame(), **changes})


def gold(parent: DatasetName = DOUBLED) -> DatasetDefinition:
    return built(f"SELECT n FROM {parent}", parent, TOTALS)


def started(folder: Path, *datasets: DatasetDefinition, policy: Any = FORBIDDEN) -> Client:
    client = world(folder, PARENT, *datasets, policies=(policy,))
    assert run_by_hand(client, [1]).version == 1
    return client


def version(client: Client, name: DatasetName = NUMBERS, number: int = 1) -> InputVersion:
    dataset_id = client.reader.dataset(name).dataset_id
    return InputVersion(dataset=name, dataset_id=dataset_id, version=number)


def made_of(*sources: tuple[InputVersion, str, tuple[str, ...]], **more: Any) -> BatchLineage:
    """The lineage of the column ``n``."""
    found = tuple(
        SourceColumn(dataset_id=pin.dataset_id, version=pin.version, column=column, through=through)
        for pin, column, through in sources
    )
    pins = tuple(dict.fromkeys(pin for pin, _, _ in sources))
    columns = (BatchColumn(column="n", sources=found),)
    return BatchLineage(**{"columns": columns, "inputs": pins, "read": pins, **more})


def from_mail(client: Client, *through: str) -> BatchLineage:
    return made_of((version(client), "mail", through))


def publish(
    client: Client, lineage: BatchLineage | None = None, name: DatasetName = DOUBLED
) -> RunResult:
    """A run of the dataset by hand, published if it is allowed; what it decided replays."""
    plan, lake = opened(client, name), DeltaLake()
    plan = plan.under(client.runs.submit_schema(plan.ticket, plan.declared, lineage))
    evidence = evidence_of(lake, plan, [1])
    inputs = evidence.inputs if lineage is None else (*evidence.inputs, *lineage.inputs)
    evidence = evidence.model_copy(update={"inputs": tuple(dict.fromkeys(inputs))})
    decision = client.runs.submit_evidence(plan.ticket, evidence)
    if not decision.allowed:
        return result_of(client, plan)
    return client.runs.complete_move(plan.ticket, lake.publish(client.runs.begin_move(plan.ticket)))


def result_of(client: Client, plan: RunPlan) -> RunResult:
    run = client.reader.run(plan.ticket.run_id)
    assert client.reader.replay(run.run_id).identical
    return RunResult(
        run_id=run.run_id,
        dataset=run.dataset,
        status=run.status,
        decision=client.reader.decision(run.run_id),
        ended_at=run.end_time,
    )


def gold_check(client: Client) -> CheckResult:
    """What the policy comes to for a SQL build in gold."""
    task = client.operations.submit(TOTALS, "test")
    opening = client.runs.open_run(task, this_process("test"))
    if isinstance(opening, RunResult):
        assert opening.decision is not None
        return promised(opening.decision.ruling.checks)
    client.runs.submit_schema(opening.ticket, opening.declared)
    evidence = evidence_of(DeltaLake(), opening, [1])
    decision = client.runs.submit_evidence(opening.ticket, evidence)
    return promised(decision.ruling.checks)


def test_a_frame_made_of_a_tagged_column_carries_its_tag_into_gold(tmp_path: Path) -> None:
    client = started(tmp_path, frame(), gold())
    assert publish(client, from_mail(client)).status is RunStatus.SUCCESS
    check = gold_check(client)
    assert check.outcome is Outcome.FAIL
    assert check.message == "column n derives from bronze.numbers.mail, tagged pii"


def test_a_column_that_is_followed_to_an_untagged_one_is_not_tagged(tmp_path: Path) -> None:
    client = started(tmp_path, frame(), gold())
    publish(client, made_of((version(client), "n", ())))
    assert gold_check(client).outcome is Outcome.PASS


ORIGINS = {
    "DataSourceV2Relation": Outcome.FAIL,
    "a plan that is not understood": Outcome.FAIL,
    "files": Outcome.FAIL,
    "har:/archive.har/a": Outcome.FAIL,
    "rows created by the program": Outcome.PASS,
    "rows of a database": Outcome.PASS,
    "s3a:/bucket/a": Outcome.PASS,
    "/tmp/elsewhere": Outcome.PASS,
    "/proc/self/fd/3": Outcome.FAIL,
    "/tmp/../proc/self/cwd/a": Outcome.FAIL,
    "//dev/fd/3": Outcome.FAIL,
    "/process/a": Outcome.PASS,
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_origin_that_is_not_understood_may_have_read_every_dataset(
    tmp_path: Path, origin: str
) -> None:
    client = started(tmp_path, frame(), gold())
    publish(client, unknown_lineage(["n"], outside=origin))
    check = gold_check(client)
    assert check.outcome is ORIGINS[origin]
    if check.outcome is Outcome.FAIL:
        read = "bronze.numbers.mail was read, tagged pii"
        assert check.message == f"column n is of unknown lineage: {read}"


def test_what_is_not_reported_carries_everything_that_was_read(tmp_path: Path) -> None:
    python = numbers(dataset=DOUBLED, parents=(NUMBERS,), build=PYTHON)
    client = started(tmp_path, python, gold())
    publish(client)
    check = gold_check(client)
    assert check.outcome is Outcome.FAIL
    assert check.message == (
        "column n is of unknown lineage: bronze.numbers.mail was read, tagged pii"
    )


@pytest.mark.parametrize("listed", [True, False])
def test_an_unknown_column_carries_everything_that_was_read(tmp_path: Path, listed: bool) -> None:
    client = started(tmp_path, frame(), gold())
    read = (version(client),)
    lineage = unknown_lineage(["n"] if listed else [], read, "rows created by the program")
    publish(client, lineage)
    assert gold_check(client).outcome is Outcome.FAIL


def test_a_masking_function_masks(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii unless masked by [sha2]", **IN_GOLD)
    client = started(tmp_path, frame(), gold(), policy=policy)
    publish(client, from_mail(client, "sha2"))
    assert gold_check(client).outcome is Outcome.PASS
    publish(client, from_mail(client, "upper"))
    assert gold_check(client).outcome is Outcome.FAIL


def test_the_policy_of_its_own_layer_blocks_the_frame(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)
    client = started(tmp_path, frame(), policy=policy)
    result = publish(client, from_mail(client))
    assert result.status is RunStatus.BLOCKED
    assert publish(client, made_of((version(client), "n", ()))).version == 1


def test_inputs_and_lineage_are_recorded_with_exact_versions(tmp_path: Path, shell: Shell) -> None:
    client = started(tmp_path, frame())
    run_by_hand(client, [1, 2])
    both = [version(client, number=1), version(client, number=2)]
    publish(client, made_of((both[0], "mail", ()), (both[1], "n", ())))
    (row,) = client.reader.versions(DOUBLED)
    assert row.inputs == tuple(both)
    edges = {(edge.column, edge.input_column) for edge in client.reader.column_lineage(DOUBLED)}
    assert edges == {("n", "mail"), ("n", "n")}
    out = shell("show", DOUBLED, "--project", tmp_path).out
    assert "from bronze.numbers.mail, bronze.numbers.n" in out
    assert client.ledger.verify(replay=True).findings == ()


def test_a_frame_made_of_a_frame_carries_the_tags_of_both(tmp_path: Path) -> None:
    client = started(tmp_path, frame(), frame(OTHER), gold(OTHER))
    publish(client, from_mail(client))
    publish(client, made_of((version(client, DOUBLED), "n", ())), OTHER)
    assert gold_check(client).outcome is Outcome.FAIL


def test_a_dataset_made_of_its_own_last_version_keeps_its_tags(tmp_path: Path) -> None:
    client = started(tmp_path, frame(), gold())
    publish(client, from_mail(client))
    for last in range(1, 4):
        publish(client, made_of((version(client, DOUBLED, last), "n", ())))
    check = gold_check(client)
    assert check.message == "column n derives from bronze.numbers.mail, tagged pii"


def test_rows_of_earlier_loads_keep_their_tags(tmp_path: Path) -> None:
    load = Load(type=LoadType.APPEND)
    client = started(tmp_path, frame(load=load), gold())
    publish(client, from_mail(client))
    publish(client, made_of((version(client), "n", ())))
    assert gold_check(client).outcome is Outcome.FAIL


def test_a_tag_that_is_declared_later_reaches_what_was_built_before(tmp_path: Path) -> None:
    client = started(tmp_path, frame(), gold())
    publish(client, made_of((version(client), "n", ())))
    assert gold_check(client).outcome is Outcome.PASS
    tagged = ColumnDefinition(name="n", type="long", tags=("pii",))
    revise(client, PARENT.model_copy(update={"columns": (tagged, PARENT.columns[1])}))
    assert gold_check(client).outcome is Outcome.FAIL


def test_a_column_under_a_new_name_carries_the_tags_of_what_it_is_made_of(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)
    columns = (*column(), ColumnDefinition(name="amount", type="long"))
    client = started(tmp_path, frame(columns=columns, profile="permissive"), policy=policy)
    plan = opened(client, DOUBLED)
    live = TableSchema(columns=(plan.declared.columns[0], Column(name="amounts", type="long")))
    (mail,) = from_mail(client).columns
    lineage = made_of(
        (version(client), "n", ()),
        columns=(BatchColumn(column="n"), mail.model_copy(update={"column": "amounts"})),
    )
    verdict = client.runs.submit_schema(plan.ticket, live, lineage)
    assert [item.change for item in verdict.differences] == [SchemaChange.RENAME]
    assert plan.under(verdict).masked == ("amounts",)


def test_statistics_and_samples_of_the_column_are_redacted(tmp_path: Path) -> None:
    client = started(tmp_path, frame())
    plan = opened(client, DOUBLED)
    assert plan.masked == ()
    plan = plan.under(client.runs.submit_schema(plan.ticket, plan.declared, from_mail(client)))
    assert (plan.masked, plan.redacted_statistics) == (("n",), ("n",))


def test_versions_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    client = started(tmp_path, frame())
    plan = opened(client, DOUBLED)
    wrong = made_of((version(client, number=7), "mail", ()))
    with pytest.raises(NotApproved, match="does not exist"):
        client.runs.submit_schema(plan.ticket, plan.declared, wrong)


# What a person declares.


def column(**declared: Any) -> tuple[ColumnDefinition, ...]:
    return (ColumnDefinition(name="n", type="long", **declared),)


def test_a_column_that_is_declared_clean_carries_no_tag(tmp_path: Path, shell: Shell) -> None:
    client = started(tmp_path, frame(columns=column(clean="only a count")), gold())
    publish(client, from_mail(client))
    assert gold_check(client).outcome is Outcome.PASS
    assert "declared clean: only a count" in shell("show", DOUBLED, "--project", tmp_path).out


def test_the_decision_names_what_was_declared(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)
    client = started(tmp_path, frame(columns=column(clean="only a count")), policy=policy)
    result = publish(client, from_mail(client))
    assert result.decision is not None
    message = promised(result.decision.ruling.checks).message
    assert message == "no column carries the tag pii; column n is declared clean: only a count"


def test_a_column_is_made_of_what_is_declared(tmp_path: Path) -> None:
    declared = column(derived_from=("bronze.numbers.mail",), reason="its length")
    client = started(tmp_path, frame(columns=declared), gold())
    publish(client, made_of((version(client), "n", ())))
    assert gold_check(client).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ({"derived_from": ("bronze.numbers.mail",)}, "give the reason"),
        ({"reason": "so"}, "which is missing"),
        ({"clean": "so", "derived_from": ("bronze.numbers.mail",)}, "not both"),
        ({"derived_from": ("bronze.numbers.male",), "reason": "so"}, "has no column 'male'"),
        ({"derived_from": ("bronze.number.mail",), "reason": "so"}, "no such dataset"),
    ],
)
def test_declarations_are_checked(tmp_path: Path, declared: Any, problem: str) -> None:
    client = started(tmp_path, frame())
    with pytest.raises(InvalidDefinitions) as refused:
        revise(client, frame(columns=column(**declared)))
    assert problem in str(refused.value.errors[0])


# Unknown inputs.


@pytest.mark.parametrize("outside", ["", "rows created by the program"])
def test_a_policy_says_whether_an_unknown_input_may_be_promoted(
    tmp_path: Path, outside: str
) -> None:
    policy = promise(PolicyType.LINEAGE_PARENT, "inputs known", applies_to_layer=Layer.SILVER)
    client = started(tmp_path, frame(), policy=policy)
    result = publish(client, unknown_lineage(["n"], (version(client),), outside))
    assert result.decision is not None
    check = promised(result.decision.ruling.checks)
    assert check.outcome is (Outcome.FAIL if outside else Outcome.PASS)
    if outside:
        assert check.message == "unknown input: rows created by the program"


def test_a_select_carries_the_tags_of_its_text_and_of_the_plan(tmp_path: Path) -> None:
    select = built(f"SELECT n FROM {NUMBERS}")
    client = started(tmp_path, select, gold())
    assert publish(client, made_of((version(client), "n", ()))).version == 1
    assert gold_check(client).outcome is Outcome.PASS
    assert publish(client, from_mail(client)).version == 2
    assert gold_check(client).message == "column n derives from bronze.numbers.mail, tagged pii"


def test_a_plan_does_not_clear_what_the_text_of_a_select_shows(tmp_path: Path) -> None:
    client = started(tmp_path, built(f"SELECT length(mail) AS n FROM {NUMBERS}"), gold())
    assert publish(client, made_of((version(client), "n", ()))).version == 1
    assert gold_check(client).outcome is Outcome.FAIL


def test_a_column_of_a_select_that_the_plan_does_not_show_is_unknown(tmp_path: Path) -> None:
    client = started(tmp_path, built(f"SELECT n FROM {NUMBERS}"), gold())
    assert publish(client, BatchLineage(columns=(), read=(version(client),))).version == 1
    assert gold_check(client).outcome is Outcome.FAIL


def test_a_select_is_masked_if_text_and_plan_say_so(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii unless masked by [sha2]", **IN_GOLD)
    select = built(f"SELECT length(sha2(mail, 256)) AS n FROM {NUMBERS}")
    client = started(tmp_path, select, gold(), policy=policy)
    assert publish(client, from_mail(client, "sha2")).version == 1
    assert gold_check(client).outcome is Outcome.PASS
    assert publish(client, from_mail(client)).version == 2
    assert gold_check(client).outcome is Outcome.FAIL


def test_rows_with_a_column_by_a_reserved_name_are_refused(tmp_path: Path) -> None:
    """The data plane adds columns by such names, after the lineage was reported."""
    client = started(tmp_path, built(f"SELECT n FROM {NUMBERS}"))
    plan = opened(client, DOUBLED)
    more = (*plan.declared.columns, Column(name="LG_cast_0", type="binary"))
    live = plan.declared.model_copy(update={"columns": more})
    with pytest.raises(LoadFailed, match="a column LG_cast_0: names with lg_ are reserved"):
        client.runs.submit_schema(plan.ticket, live)
