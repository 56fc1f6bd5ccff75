"""DuckDB's aggregates."""

from __future__ import annotations

from openlaketx.measure.duckdb_dialect import DUCKDB
from openlaketx.measure.forms import Forms


class DuckdbForms(Forms):
    dialect = DUCKDB

    def days(self, value: str) -> str:
        return f"date_diff('day', DATE '1970-01-01', {value})"

    def micros(self, value: str) -> str:
        return f"epoch_us({value})"

    def whole_sum(self, value: str) -> str:
        return f"sum({value})"

    def careful_sum(self, value: str) -> str:
        return f"fsum({value})"

    def quantile(self, value: str, q: str) -> str:
        return f"quantile_cont({value}, {q})"

    def is_infinite(self, value: str) -> str:
        return f"isinf({value})"


DUCKDB_FORMS = DuckdbForms()
