"""Quarantined and accepted rows together are the rows of the batch, each once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.errors import StagingFailed
from lakeguard_sdk.model.run import SchemaReaction, SchemaVerdict
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange
from openlaketx.conform import as_accepted
from openlaketx.extract import Batch
from tests.support.lakes.plans import DATASET, csv, plan, schema

pytestmark = pytest.mark.spark
DECLARED, LIVE = schema(id="long", code="long"), schema(id="long", code="string")
CODE_IS_TEXT = SchemaReaction(
    column="code",
    change=SchemaChange.INCOMPATIBLE_TYPE,
    found="string",
    declared="long",
    reaction=Reaction.QUARANTINE_ROW,
)
BY_CHANCE = (
    "SELECT id, if(reflect('java.util.UUID', 'randomUUID') < '8', 'x', '1') AS code FROM range(400)"
)


def test_rows_that_are_made_anew_each_time_are_in_one_part(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.sql(BY_CHANCE)
    batch = Batch(
        frame, LIVE, (), None, lambda error: StagingFailed(dataset=str(DATASET), reason=str(error)),
        lambda: None,
    )  # fmt: skip
    verdict = SchemaVerdict(accepted=True, differences=(CODE_IS_TEXT,))
    accepted = as_accepted(batch, verdict, plan(tmp_path, csv(), DECLARED), str(tmp_path))
    files = tmp_path.glob("quarantine/bronze/orders/execution_id=run_1/*.json")
    lines = [line for file in files for line in file.read_text().splitlines()]
    quarantined = [json.loads(line)["id"] for line in lines]
    let_in = [row["id"] for row in accepted.frame.collect()]
    assert sorted(quarantined + let_in) == list(range(400))
    assert accepted.rejected == len(quarantined)
    assert quarantined
    assert let_in
