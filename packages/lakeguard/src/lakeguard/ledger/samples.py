"""Samples of failing rows: kept once for a run, and read again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from lakeguard.state import facts
from lakeguard.state.tables import rule_samples
from lakeguard_sdk.canonical import canonical_json
from lakeguard_sdk.sample import RowSample


def record_samples(
    connection: Connection, org_id: str, run_id: str, samples: Iterable[RowSample], at: datetime
) -> None:
    rows = [
        {
            "run_id": run_id,
            "rule_id": sample.rule_id,
            "org_id": org_id,
            "sample_columns": canonical_json(sample.columns),
            "sample_rows": canonical_json(sample.rows),
            "masked_columns": canonical_json(sample.masked),
            "taken_at": at,
        }
        for sample in samples
    ]
    facts.record(connection, rule_samples, rows, at)


def samples_of_run(connection: Connection, org_id: str, run_id: str) -> tuple[RowSample, ...]:
    """By rule."""
    kept = rule_samples.c
    rows = connection.execute(
        select(rule_samples)
        .where(kept.org_id == org_id, kept.run_id == run_id)
        .order_by(kept.rule_id)
    )
    return tuple(sorted(map(_sample, rows), key=lambda sample: sample.rule_id))


def _sample(row: Row[Any]) -> RowSample:
    return RowSample(
        rule_id=row.rule_id,
        columns=json.loads(row.sample_columns),
        rows=json.loads(row.sample_rows),
        masked=json.loads(row.masked_columns),
    )
