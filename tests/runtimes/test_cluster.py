"""A cluster of Spark's own kind, with two workers: the demo comes out as on local cores."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from demo.story import BRONZE, GOLD, SILVER
from tests.runtimes.children import OWN, ROOT, told_by
from tests.runtimes.clusters import running_cluster
from tests.runtimes.tables import tables

pytestmark = pytest.mark.runtimes


def test_the_demo_on_two_workers(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "demo", tmp_path / "demo")
    there, here = tmp_path / "there", tmp_path / "here"
    with running_cluster(tmp_path) as cluster:
        with (tmp_path / "demo" / "lakeguard.toml").open("a", encoding="utf-8") as settings:
            settings.write(cluster.settings)
        assert "6/6  " in told_by(OWN, "-m", "demo", str(there), place=tmp_path)
        cluster.assert_every_worker_worked()
    assert "6/6  " in told_by(OWN, "-m", "demo", str(here))
    names = (*BRONZE, *SILVER, GOLD)
    assert tables(there, names) == tables(here, names)
