"""Files and rows of governed tables that a run reads past the gate: by path, or from a database."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk.core.enums import Layer, Outcome, PolicyType, RunStatus
from lakeguard_sdk.errors import NotApproved
from lakeguard_sdk.model.lineage import BatchColumn, BatchLineage, unknown_lineage
from tests.contract.privacy.test_batch_lineage import (
    FORBIDDEN,
    OTHER,
    PARENT,
    frame,
    from_mail,
    gold,
    gold_check,
    publish,
    started,
    version,
)
from tests.support.lakes.policy_datasets import DOUBLED, opened, promise, promised, world
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.postgresql_target import served_numbers

pytestmark = pytest.mark.usefixtures("each_state", "turned_clock")


@pytest.mark.parametrize("read", ["numbers/runs", "numbers.files/v1"])
def test_files_of_a_table_read_past_the_gate_are_its_dataset(tmp_path: Path, read: str) -> None:
    client = started(tmp_path, frame(), gold())
    place = str(tmp_path / "bronze" / read)
    lineage = unknown_lineage(["n"], outside=place)
    publish(client, lineage)
    assert client.reader.versions(DOUBLED)[0].inputs == (version(client),)
    assert gold_check(client).outcome is Outcome.FAIL


NOTHING = BatchLineage(columns=(BatchColumn(column="n"),))


def test_files_may_be_those_of_an_earlier_version(tmp_path: Path) -> None:
    client = started(tmp_path, frame(), frame(OTHER), gold(OTHER))
    publish(client, from_mail(client))
    publish(client, NOTHING)
    place = str(tmp_path / "silver" / "doubled")
    publish(client, unknown_lineage(["n"], outside=place), OTHER)
    assert gold_check(client).outcome is Outcome.FAIL


def test_files_may_be_those_of_a_blocked_run(tmp_path: Path) -> None:
    policy = promise(PolicyType.PII, "forbid tag:pii", applies_to_layer=Layer.SILVER)
    client = started(tmp_path, frame(), frame(OTHER), policy=policy)
    publish(client, NOTHING)
    blocked = publish(client, from_mail(client))
    assert blocked.status is RunStatus.BLOCKED
    place = str(tmp_path / "silver" / "doubled" / "runs" / blocked.run_id)
    result = publish(client, unknown_lineage(["n"], outside=place), OTHER)
    assert result.status is RunStatus.BLOCKED


def test_files_of_a_dataset_without_a_version_are_an_unknown_input(tmp_path: Path) -> None:
    policy = promise(PolicyType.LINEAGE_PARENT, "inputs known", applies_to_layer=Layer.SILVER)
    client = started(tmp_path, frame(), frame(OTHER), policy=policy)
    opened(client, DOUBLED)
    place = str(tmp_path / "silver" / "doubled" / "runs")
    result = publish(client, unknown_lineage(["n"], outside=place), OTHER)
    assert result.decision is not None
    assert promised(result.decision.ruling.checks).message == f"unknown input: {place}"


def test_files_of_a_tagged_dataset_without_a_version_are_refused(tmp_path: Path) -> None:
    client = world(tmp_path, PARENT, frame(), gold(), policies=(FORBIDDEN,))
    opened(client, NUMBERS)
    plan, place = opened(client, DOUBLED), str(tmp_path / "bronze" / "numbers" / "runs")
    lineage = unknown_lineage(["n"], outside=place)
    with pytest.raises(NotApproved, match="may hold rows of bronze"):
        client.runs.submit_schema(plan.ticket, plan.declared, lineage)


def test_rows_of_a_database_may_be_those_that_were_delivered_there(tmp_path: Path) -> None:
    (target,) = served_numbers("postgresql://db.example/reports").targets
    served = PARENT.model_copy(update={"target": target.target})
    more = {"targets": (target,), "policies": (FORBIDDEN,)}
    client = world(tmp_path, served, frame(), gold(), **more)
    assert run_by_hand(client, [1]).version == 1
    publish(client, unknown_lineage(["n"], outside="rows of a database"))
    check = gold_check(client)
    assert check.outcome is Outcome.FAIL
    assert "bronze.numbers.mail was read" in check.message
