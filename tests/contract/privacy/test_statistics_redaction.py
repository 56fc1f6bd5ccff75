"""Statistics in evidence and in the log of a table tell no value that nobody may know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType, PolicyType
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.expressions.measures import Aggregate, CountIf
from lakeguard_sdk.model.definitions import ColumnDefinition
from lakeguard_sdk.model.evidence import StagedFile
from lakeguard_sdk.model.table_operations import CompactionPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.lakes.lakes import DeltaLake
from tests.support.lakes.policy_datasets import (
    numbers,
    opened,
    promise,
    revise,
    world,
)
from tests.support.lakes.published_by_hand import compacted_of, evidence_of, run_by_hand
from tests.support.projects.planes import NUMBERS

pytestmark = pytest.mark.usefixtures("each_state")

PATTERN = promise(PolicyType.PII, "forbid pattern '[0-9]{9}' in samples")
APPENDED = numbers(load=LoadType.APPEND)
TAGGED = APPENDED.model_copy(
    update={"columns": (ColumnDefinition(name="n", type="long", tags=("secret",)),)}
)


def column(name: str, data_type: str, *tags: str) -> ColumnDefinition:
    return ColumnDefinition(name=name, type=data_type, tags=tags)


def telling(file: StagedFile, value: int) -> StagedFile:
    """The same file, with statistics that tell the value."""
    stats = json.loads(file.stats) | {"minValues": {"n": value}, "nullCount": {"n": 0}}
    return file.model_copy(update={"stats": json.dumps(stats)})


def kept(folder: Path) -> bytes:
    """All that the State holds."""
    return b"".join(path.read_bytes() for path in folder.rglob("*.db*"))


def test_tags_and_patterns_say_which_columns(tmp_path: Path) -> None:
    nested = column("place", "struct<street:string>")
    columns = (column("n", "long"), column("pay", "long", "x"), column("note", "string"), nested)
    client = world(tmp_path, numbers(columns=columns))
    assert opened(client).redacted_statistics == ("pay",)
    revise(client, policies=(PATTERN,))
    assert opened(client).redacted_statistics == ("note", "pay", "place")


def test_a_text_that_drifts_in_is_unstated_too(tmp_path: Path) -> None:
    client = world(tmp_path, numbers(profile="additive"), policies=(PATTERN,))
    plan = opened(client)
    assert plan.redacted_statistics == ()
    live = TableSchema(columns=(*plan.declared.columns, Column(name="m", type="string")))
    assert plan.under(client.runs.submit_schema(plan.ticket, live)).redacted_statistics == ("m",)


def test_evidence_that_tells_such_a_value_is_refused_and_not_kept(tmp_path: Path) -> None:
    client = world(tmp_path, TAGGED)
    plan = opened(client)
    client.runs.submit_schema(plan.ticket, plan.declared)
    evidence = evidence_of(DeltaLake(), plan, [7654321])
    reported = evidence.model_copy(update={"files": (telling(evidence.files[0], 7654321),)})
    with pytest.raises(NotApproved, match="tell values of column n") as refused:
        client.runs.submit_evidence(plan.ticket, reported)
    assert "7654321" not in str(refused.value)
    assert b"7654321" not in kept(tmp_path)
    assert client.runs.submit_evidence(plan.ticket, evidence).allowed


def test_a_rule_asks_for_no_extremes_of_a_tagged_column(tmp_path: Path) -> None:
    rules = (define_rule(parse_rule("range(n, max=5)"), rule_id=None, severity=None),)
    client = world(tmp_path, TAGGED.model_copy(update={"rules": rules}))
    asked = opened(client).measures
    assert CountIf in map(type, asked)
    assert Aggregate not in map(type, asked)
    revise(client, APPENDED.model_copy(update={"rules": rules}))
    assert Aggregate in map(type, opened(client).measures)


def compaction(client: Client) -> CompactionPlan:
    task_id = client.operations.submit_compaction(NUMBERS, "test")
    plan = client.runs.open_compaction(task_id, this_process("test"))
    assert isinstance(plan, CompactionPlan)
    return plan


def test_a_compaction_is_held_to_the_tags_of_today(tmp_path: Path) -> None:
    client = world(tmp_path, APPENDED)
    for number in (1, 2):
        run_by_hand(client, [number])
    revise(client, TAGGED)
    plan = compaction(client)
    assert plan.redacted_statistics == ("n",)
    compacted = compacted_of(DeltaLake(), plan)
    reported = compacted.model_copy(update={"adds": (telling(compacted.adds[0], 1),)})
    with pytest.raises(NotApproved, match="tell values of column n"):
        client.runs.submit_compaction(plan.ticket, reported)
    intent = client.runs.submit_compaction(plan.ticket, compacted)
    client.runs.complete_move(plan.ticket, DeltaLake().publish(intent))
    assert client.ledger.verify(replay=True).findings == ()
