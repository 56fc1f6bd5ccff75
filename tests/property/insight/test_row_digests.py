"""Many rows digested at once have the digests that each has alone."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lakeguard.insight.verification.row_sides import row_digests
from lakeguard.relay.chain import row_digest
from lakeguard.relay.rows import PlainRow, arrow_schema, payload_maker, to_arrow
from lakeguard.relay.tables import LedgerTable, ledger_tables

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": TEXTS,
    "number": st.integers(-(2**63), 2**63 - 1),
    "flag": st.booleans(),
    "time": st.datetimes().map(lambda at: at.isoformat(timespec="microseconds") + "Z"),
}


@st.composite
def tables_with_rows(draw: st.DrawFn) -> tuple[LedgerTable, list[PlainRow]]:
    table = draw(st.sampled_from(sorted(ledger_tables().values(), key=lambda item: item.name)))
    values = [
        VALUES[table.kind_of(name)] if name == "org_id" else st.none() | VALUES[table.kind_of(name)]
        for name in table.columns
    ]
    return table, draw(st.lists(st.tuples(*values), min_size=1, max_size=5))


@settings(deadline=None)
@given(tables_with_rows())
def test_digests_of_plain_rows(case: tuple[LedgerTable, list[PlainRow]]) -> None:
    """As the State gives them, where times are texts."""
    table, rows = case
    schema = arrow_schema(table)
    columns = {
        name: pa.array(
            values, pa.string() if table.kind_of(name) == "time" else schema.field(name).type
        )
        for name, values in zip(table.columns, zip(*rows, strict=True), strict=True)
    }
    assert row_digests(table, columns) == digests(table, rows)


@settings(deadline=None)
@given(tables_with_rows())
def test_digests_of_what_the_ledger_holds(case: tuple[LedgerTable, list[PlainRow]]) -> None:
    table, rows = case
    payloads = list(map(payload_maker(table), rows))
    data = to_arrow(table, payloads, 1, range(len(rows)))
    (part,) = data.combine_chunks().to_batches()
    found = row_digests(table, {name: part.column(name) for name in table.columns})
    assert found == digests(table, rows)
    sliced = part.slice(1)
    assert row_digests(table, {n: sliced.column(n) for n in table.columns}) == found[1:]


def digests(table: LedgerTable, rows: list[PlainRow]) -> list[bytes]:
    make = payload_maker(table)
    return [row_digest(table.name, make(row)) for row in rows]
