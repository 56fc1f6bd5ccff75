"""Many writers of one Delta table in each kind of object store: what is acknowledged is there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import DeltaError

from lakeguard_sdk.storage.storage import storage_options
from tests.support.lakes.s3_server import StorePath

WRITERS = 8
APPENDS = 5


def test_every_acknowledged_append_is_in_the_table(each_store: StorePath) -> None:
    table = str(each_store / "numbers")
    options = storage_options(table)

    def append(number: int) -> bool:
        rows = pa.table({"n": pa.array([number], pa.int64())})
        try:
            write_deltalake(table, rows, mode="append", storage_options=options)
        except DeltaError:  # it gave up after losing often enough, and nothing is written
            return False
        return True

    def appends(writer: int) -> list[int]:
        numbers = range(writer * APPENDS, (writer + 1) * APPENDS)
        return [number for number in numbers if append(number)]

    assert append(-1)
    with ThreadPoolExecutor(WRITERS) as pool:
        acknowledged = [number for made in pool.map(appends, range(WRITERS)) for number in made]
    found = DeltaTable(table, storage_options=options).to_pyarrow_table()["n"].to_pylist()
    assert sorted(found) == sorted([-1, *acknowledged])
    assert len(acknowledged) > WRITERS
