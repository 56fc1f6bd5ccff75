"""Whatever the table: no suggestion is violated by it, and each fails on its own mutation."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from lakeguard.gate.rules.compile import compile_text
from lakeguard.insight.suggestions import (
    Earlier,
    OtherKey,
    drafts,
    ranked,
    suggestion,
    tried,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.property.measure.questions import SCHEMA, values
from tests.property.measure.staging import write_rows
from tests.support.cases.suggestions import Rows, seen_in
from tests.support.examples import examples

NOW = datetime(2026, 11, 16, tzinfo=UTC)
OTHER = DatasetName("silver.other")
MICRO = 10**6
TYPES = {
    **{column.name: column.type for column in SCHEMA.columns},
    "short": "short",
    "one digit": "decimal(1,0)",
    "fraction": "decimal(38,38)",
    "bytes": "binary",
    "list": "array<integer>",
    "id": "long",
    "code": "string",
    "mail": "string",
    "number": "integer",
    "month": "integer",
    "ratio": "double",
    "seen_at": "timestamp",
    "on": "date",
}
TABLE = TableSchema(columns=tuple(Column(name=n, type=t) for n, t in TYPES.items()))
AT_LENGTH: dict[str, Any] = {
    "suppress_health_check": list(HealthCheck),
    # an example takes a second: making a bad one smaller would take an hour
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
}
SIZES = (0, 1, 2, 9, 41, 60, 250)
SHAPES = ("[A-Z]{2}-[0-9]{3,5}", "N[0-9]{1,4}[A-Z]?", "[a-z ]{0,9}", "[0-9]{4}/[0-9]{2}")


def pools() -> st.SearchStrategy[dict[str, list[Any]]]:
    """For each column the values that come in it, over and over: strange ones and usual ones."""
    usual: dict[str, st.SearchStrategy[Any]] = {
        "code": st.sampled_from(SHAPES).flatmap(lambda shape: st.from_regex(shape, fullmatch=True)),
        "mail": st.integers(0, 99).map(lambda number: f"u{number}@example.org"),
        "number": st.integers(-1000, 100_000),
        "month": st.integers(1, 6),
        "ratio": st.floats(-1e6, 1e6),
        "seen_at": st.integers(1, 9).map(lambda h: _micros(NOW - timedelta(hours=h))),
        "on": st.integers(15_000, 20_000),
        "one digit": st.integers(-9, 9).map(Decimal),
        "fraction": st.integers(-999, 999).map(lambda units: Decimal(units).scaleb(-38)),
        "bytes": st.binary(max_size=3),
        "list": st.lists(st.integers(0, 9), max_size=2),
    }
    one = {}
    for name, data_type in TYPES.items():
        found = usual[name] if name in usual else values(data_type)
        some = st.lists(found, min_size=1, max_size=14)
        one[name] = some | some.map(lambda pool: [*pool, None])
    return st.fixed_dictionaries(one)


def _micros(at: datetime) -> int:
    return int(at.timestamp()) * MICRO


def filled(pool: dict[str, list[Any]], size: int) -> list[dict[str, Any]]:
    rows = [{name: found[at % len(found)] for name, found in pool.items()} for at in range(size)]
    return [{**row, "id": at} for at, row in enumerate(rows)]


def check(pool: dict[str, list[Any]], size: int) -> set[str]:
    """The types of rules that were suggested."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.parquet")
        write_rows(file, filled(pool, size), TABLE)
        rows = Rows(file, TABLE, {OTHER: file})
        newest = next(c.greatest for c in rows.profiles() if c.column == "seen_at")
        seen = seen_in(
            rows,
            NOW,
            keys=(("id",),),
            others=(OtherKey(dataset=OTHER, column="code", type="string"),),
            versions=tuple(
                Earlier(version=n, at=NOW, rows=size, greatest={"seen_at": newest})
                for n in (3, 2, 1)
            ),
        )
        trials = tried(drafts(seen), TABLE)
        kept = [
            trial
            for trial, reported in zip(trials, rows.held(trials, NOW, rows), strict=True)
            if reported.outcome is Outcome.PASS
        ]
        for at, trial in enumerate(kept):
            compile_text(trial.draft.rule, TABLE)
            changed = rows.changed(trial.draft.mutation, Path(folder, f"{at}.parquet"))
            (reported,) = changed.held([trial], NOW, rows)
            assert reported.outcome in (Outcome.FAIL, Outcome.WARN), (trial.draft, reported)
        texts = [item.rule for item in ranked(suggestion(trial.draft) for trial in kept)]
        assert len(texts) == len(set(texts))
    return {trial.compiled.rule.rule_type for trial in kept}


@given(pool=pools(), size=st.sampled_from(SIZES))
@examples(6, quick=3, **AT_LENGTH)
def test_suggestions_hold_and_can_fail(pool: dict[str, list[Any]], size: int) -> None:
    check(pool, size)


def test_usual_rows_suggest_rules_of_every_type() -> None:
    """So that the properties above are about something."""
    pool: dict[str, list[Any]] = {name: [None] for name in TYPES}
    pool |= {
        "s": ["red", "green"],
        "code": [f"AB-{n}" for n in range(100, 130)],
        "mail": [f"u{n}@example.org" for n in range(20)],
        "number": [*(n * n for n in range(40)), None],
        "month": [1, 2, 3, 4],
        "ratio": [0.5],
        "seen_at": [_micros(NOW - timedelta(hours=3))],
    }
    assert check(pool, 250) == {
        *("not_null", "unique", "row_count", "in_set", "regex", "format", "range", "ge", "gt"),
        *("sql_row", "not_future", "freshness", "foreign_key", "null_drift"),
    }
