"""Any rows of known tables give definitions or errors, never a crash."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.registry.rows import NOW, Row, Value
from lakeguard.registry.rows.assemble import assemble
from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard.registry.rows.tables import TABLES
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk.model.definitions import Definitions
from tests.support.examples import examples
from tests.support.projects.definitions import shop

NOWHERE = SourceText("rows.csv", "x", "CSV")
LIKELY = (
    "1", "2", "orders", "bronze.orders", "silver.orders", "bronze", "gold", "csv", "x/y", "",
    "true", "DISABLED", "FAIL", "NOT_NULL", "RANGE", "amount", "amount between 0 and 1", "[]", "{}",
    '["amount"]', "amount, order_id", '[{"name": "amount", "type": "double"}]', "DEFAULT", "int",
    '[{"rule": "RANGE_CHECK", "min": 0}]', '["unique", 7, {"rule": []}]', '{"rule": "NOT_NULL"}',
    "select * from bronze.orders", "sql/x.sql", "../x.sql", "INCREMENTAL", "PII", "forbid tag:pii",
    "status#ActiveConfig", "format", "partition_by", "env:X", "[" * 5000, "\ud800", "a\0b", "ds_",
)  # fmt: skip
VALUES: st.SearchStrategy[Value] = st.one_of(
    st.sampled_from(LIKELY),
    st.text(max_size=6),
    st.integers(-1, 3),
    st.booleans(),
    st.none(),
    st.just(NOW),
    st.sampled_from((Decimal("1.50"), Decimal("2.0"), Decimal("1e999"))),
)


@st.composite
def rows(draw: st.DrawFn) -> Row:
    table = draw(st.sampled_from(sorted(TABLES)))
    names = draw(st.lists(st.sampled_from(TABLES[table]), min_size=1, max_size=12, unique=True))
    key = TABLES[table][0]
    values = {key: draw(VALUES), **{name: draw(VALUES) for name in names}}
    spans = [Span(0, 1)] * len(values)
    return Row(table, values, NOWHERE, Span(0, 1), spans, spans)


@given(st.lists(rows(), max_size=12), st.sampled_from((Definitions(), shop())))
@examples(250)
def test_any_rows(found: list[Row], registered: Definitions) -> None:
    findings = Findings()
    assemble(found, registered, findings)
    assert all(str(error) and error.to_data() for error in findings.errors())
