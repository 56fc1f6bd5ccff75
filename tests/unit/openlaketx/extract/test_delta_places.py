"""A Delta source is no way into a governed table, of this lake or another."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from deltalake import CommitProperties, Transaction, write_deltalake

from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.delta_log import PUBLISH_APP
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.engine.delta_table import is_governed
from openlaketx.extract import extract
from tests.support.lakes.plans import plan, schema

ROWS = pa.table({"id": [1, 2]})


def write(place: Path, *, governed: bool) -> None:
    marks = [Transaction(PUBLISH_APP, 1)] if governed else []
    write_deltalake(place, ROWS, commit_properties=CommitProperties(app_transactions=marks))


def refusal(lake: Path, path: str) -> str:
    build = SourceBuild(source="s", format=SourceFormat.DELTA, path=path)
    made = plan(lake, build, schema(id="long"), load=LoadType.FULL)
    with pytest.raises(SourceUnreadable) as refused:
        extract(made, lambda: cast(Any, None), str(lake), LocalStorage())
    return str(refused.value)


def test_a_table_of_the_lake_is_a_parent_not_a_source(tmp_path: Path) -> None:
    write(tmp_path / "silver/p", governed=True)
    (tmp_path / "in").symlink_to(tmp_path / "silver/p")
    for path in ("silver/p", "in", f"file://{tmp_path}/silver/p"):
        assert "`parents: [silver.p]`" in refusal(tmp_path, path)


def test_a_governed_table_elsewhere_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "other/t", governed=True)
    write(tmp_path / "plain/t", governed=False)
    (tmp_path / "lake").mkdir()
    assert "LakeGuard governs" in refusal(tmp_path / "lake", f"{tmp_path}/other/t")
    assert is_governed(str(tmp_path / "other/t"))
    assert not is_governed(str(tmp_path / "plain/t"))


def test_a_linked_file_of_a_governed_table_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "silver/p", governed=True)
    write(tmp_path / "in", governed=False)
    (own,) = (tmp_path / "in").glob("*.parquet")
    (other,) = (tmp_path / "silver/p").glob("*.parquet")
    own.unlink()
    own.symlink_to(other)
    assert "`parents: [silver.p]`" in refusal(tmp_path, "in")
