"""Source files in an object store: found by one listing, known by their tags, inspected."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import SourceNotInspectable
from lakeguard_sdk.model.evidence import SourcePosition
from lakeguard_sdk.storage.object_names import matching_objects
from lakeguard_sdk.storage.storage import join, register_store, storage_for, storage_options
from lakeguard_sdk.storage.store_options import StoreOptions
from openlaketx.extract.files.manifest import Selection, select_files
from openlaketx.source_inspection.inspect_source import inspect_source
from openlaketx.source_inspection.store_copies import store_copies
from tests.cloud.shops import Shop
from tests.support.fakes.source_history import SourceHistory
from tests.support.fakes.store_proxy import StoreProxy, store_proxy
from tests.support.lakes.s3_server import S3Server, StorePath


def put(root: StorePath, name: str, content: str) -> str:
    place = join(str(root), name)
    storage_for(place).replace(place, content.encode())
    return place


def selected(root: StorePath, before: SourcePosition | None = None) -> Selection:
    return select_files(
        source="orders",
        dataset="bronze.orders",
        pattern="in/*.csv",
        root=str(root),
        load=LoadType.INCREMENTAL,
        known=SourceHistory(before).known if before else None,
        storage=storage_for(str(root)),
    )


def test_an_object_written_again_in_the_same_second_is_read_again(store: StorePath) -> None:
    """Times of a store are whole seconds; the size is the same too."""
    put(store, "in/a.csv", "n\n1\n")
    first = selected(store).position
    assert selected(store, first).files == ()
    put(store, "in/a.csv", "n\n2\n")
    known = first.files[0]
    found = selected(store, first).files
    assert [file.path for file in found] == ["in/a.csv"]
    assert found[0].size == known.size
    assert found[0].etag != known.etag


def test_an_object_written_again_with_the_same_content_is_not(store: StorePath) -> None:
    put(store, "in/a.csv", "n\n1\n")
    first = selected(store).position
    put(store, "in/a.csv", "n\n1\n")
    assert selected(store, first).files == ()


@pytest.fixture
def proxy(s3_server: S3Server) -> Iterator[StoreProxy]:
    with store_proxy(s3_server.endpoint) as made:
        yield made


def test_files_are_found_by_listings_alone(proxy: StoreProxy, s3_server: S3Server) -> None:
    root = s3_server.new_bucket(f"listed-{id(proxy)}")
    given = s3_server.options
    for number in range(25):
        put(root, f"in/{number:02}.csv", f"n\n{number}\n")
    options = StoreOptions(proxy.endpoint, given.region, given.access_key, given.secret_key)
    register_store(str(root), options)
    assert len(matching_objects(str(root), "in/*.csv")) == 25
    assert proxy.requests == {"GET": 1}


def test_a_source_is_added_from_a_bucket(
    tmp_path: Path, s3_server: S3Server, store: StorePath
) -> None:
    shop = Shop(tmp_path, s3_server, store)
    put(store, "exports/visits-2026-01-05.csv", "visit_id,seconds\n1,20\n2,31\n")
    shop.type(f"lakeguard source add visits {shop.lake}/exports/visits-*.csv")
    source = (shop.folder / "definitions" / "sources" / "visits.yaml").read_text()
    assert "path: exports/visits-*.csv" in source
    shop.type("lakeguard apply")
    assert "PROMOTED  bronze.visits v1   2 rows" in shop.type("lakeguard run bronze.visits")


@pytest.mark.parametrize("name", ["a.jsonl", "rows"])
def test_lines_of_a_store_are_inspected(name: str, store: StorePath) -> None:
    place = put(store, f"in/{name}", '{"n": 1}\n{"n": 2}\n')
    found = inspect_source(place, str(store))
    assert (found.rows, found.whole, found.keys) == (2, True, ("n",))
    assert [(column.name, column.type) for column in found.columns] == [("n", "integer")]


def test_a_table_of_a_store_is_adopted_where_it_is(
    tmp_path: Path, s3_server: S3Server, store: StorePath
) -> None:
    shop = Shop(tmp_path, s3_server, store / "lake")
    place = str(store / "elsewhere" / "visits")
    rows = pa.table({"visit_id": [1, 2, 3], "day": ["mo", "mo", "tu"]})
    options = storage_options(place)
    write_deltalake(place, rows, partition_by=["day"], storage_options=options)
    files = DeltaTable(place, storage_options=options).file_uris()
    assert "silver.visits v1" in shop.type(f"lakeguard adopt silver.visits {place}")
    table = DeltaTable(place, storage_options=options)
    assert table.file_uris() == files
    assert table.version() == 1
    shop.type("lakeguard verify --replay")
    again = shop.type(f"lakeguard adopt silver.visits {place}", code=2)
    assert again == ""


def test_a_large_text_is_copied_up_to_a_line_end(store: StorePath) -> None:
    place = put(store, "in/a.csv", "n\n" + "12345\n" * 100)
    with store_copies(place, beginning=100) as copies:
        copied = Path(copies.of(place)).read_text()
        assert not copies.is_whole
    assert copied == "n\n" + "12345\n" * 16


def test_errors_name_the_object_and_not_its_copy(store: StorePath) -> None:
    place = put(store, "in/a.csv", "n,n\n1,2\n")
    with pytest.raises(SourceNotInspectable, match=r"a\.csv") as refused:
        inspect_source(place, str(store))
    assert str(refused.value).startswith(place)
    with pytest.raises(SourceNotInspectable, match="no file matches"):
        inspect_source(join(str(store), "in/*.tsv"), str(store))
