"""Deliveries to an object store that meet: the manifest names one whole version, the newest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import pytest

from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.ports import Reader
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.storage.storage import join, storage_for
from openlaketx.deliver.file_sets import FileSet, deliver_files
from tests.support.lakes.plans import schema
from tests.support.lakes.published_tables import PublishedTable
from tests.support.lakes.s3_server import StorePath


class Delivered:
    """A published table in a folder, and its deliveries to a store."""

    def __init__(self, folder: Path, store: StorePath) -> None:
        self.table = PublishedTable(folder, schema(n="long"))
        self.location = str(store / "bronze" / "orders")

    def deliver(self) -> FileSet | None:
        plan = self.table.plan(TargetFormat.CSV).model_copy(update={"location": self.location})
        return deliver_files(plan, cast(Reader, self.table))

    def named(self) -> FileSet:
        """What the manifest names, and has."""
        root = f"{self.location}.files"
        found = FileSet.from_json(storage_for(root).read_bytes(join(root, "manifest.json")))
        for file in found.files:
            assert storage_for(root).sha256(join(root, file.path)) == file.sha256
        return found


@pytest.fixture
def delivered(tmp_path: Path, store: StorePath) -> Delivered:
    made = Delivered(tmp_path, store)
    made.table.publish([{"n": 1}])
    return made


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """After the files of a delivery are written, before its manifest is."""
    stop = fault_points.listen(lambda point: act() if point == "deliver.written" else None)
    try:
        yield
    finally:
        stop()


def test_a_late_delivery_does_not_go_back_to_its_version(delivered: Delivered) -> None:
    def overtake() -> None:
        if delivered.table.published == 1:
            delivered.table.publish([{"n": 2}])
            assert delivered.deliver() is not None

    with meanwhile(overtake):
        assert delivered.deliver() is None, "another has delivered what is published now"
    assert delivered.named().version == 2


def test_deliveries_of_one_version_do_not_write_the_same_files(delivered: Delivered) -> None:
    """The order of rows, and with it the bytes, may differ."""
    others: list[FileSet | None] = []

    def overtake() -> None:
        if not others:
            others.append(None)
            others.append(delivered.deliver())

    with meanwhile(overtake):
        assert delivered.deliver() is None
    assert delivered.named() == others[1]
    root = f"{delivered.location}.files"
    assert len([f for f in storage_for(root).files_under(root) if f.path.endswith(".csv")]) == 2
