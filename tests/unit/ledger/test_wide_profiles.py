"""Reading a profile looks at every row of it a few times, however many columns there are."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from lakeguard.ledger.profiles import _metrics, _profile
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.profile import ColumnProfile

AT = datetime(2026, 1, 1, tzinfo=UTC)


class Looked:
    """A row that counts how often its column is asked for."""

    times = 0

    def __init__(self, column: str, metric: dict[str, Any]) -> None:
        self._column = column
        self.version, self.sample_size, self.profiled_at = 1, 10, AT
        self.metric_name, self.metric_value = metric["metric_name"], metric["metric_value"]
        self.metric_params = metric["metric_params"]

    @property
    def column_name(self) -> str:
        Looked.times += 1
        return self._column


def test_a_wide_profile_is_read_in_one_go() -> None:
    columns = [
        ColumnProfile(column=f"c{number}", type="long", nulls=number, least=1, greatest=number + 1)
        for number in range(300)
    ]
    rows: list[Any] = [
        Looked(column.column, metric)
        for ordinal, column in reversed(list(enumerate(columns)))
        for metric in _metrics(column, {"engine": "x", "ordinal": ordinal})
    ]
    found = _profile(DatasetName("bronze.numbers"), rows)
    assert found.columns == tuple(columns)
    assert Looked.times <= 3 * len(rows)
    assert json.loads(rows[0].metric_params)["ordinal"] == 299
