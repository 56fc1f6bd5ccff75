"""Spark's aggregates."""

from __future__ import annotations

from openlaketx.measure.comparison_types import WIDEST
from openlaketx.measure.forms import Forms
from openlaketx.measure.spark_dialect import SPARK


class SparkForms(Forms):
    dialect = SPARK

    def days(self, value: str) -> str:
        return f"datediff({value}, DATE'1970-01-01')"

    def micros(self, value: str) -> str:
        return f"unix_micros(CAST({value} AS TIMESTAMP))"

    def whole_sum(self, value: str) -> str:
        return f"sum(CAST({value} AS DECIMAL({WIDEST},0)))"

    def careful_sum(self, value: str) -> str:
        return f"sum({value})"

    def quantile(self, value: str, q: str) -> str:
        return f"percentile({value}, {q})"

    def is_infinite(self, value: str) -> str:
        return f"(abs({value}) = CAST('Infinity' AS DOUBLE))"


SPARK_FORMS = SparkForms()
