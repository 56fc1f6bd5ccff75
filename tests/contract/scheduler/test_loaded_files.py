"""Jobs that start by files, for a dataset that has read some of them already."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.scheduler.triggers.tick import Watch
from lakeguard_sdk.model.definitions import JobDefinition
from lakeguard_sdk.model.evidence import SourceFile, SourcePosition
from tests.contract.scheduler.test_triggers import land
from tests.support.databases.databases import KINDS
from tests.support.projects.planes import NUMBERS
from tests.support.projects.triggered_jobs import Plane, make_plane


@pytest.fixture(params=KINDS)
def plane(request: pytest.FixtureRequest, tmp_path: Path) -> Plane:
    return make_plane(request.param, tmp_path)


def test_files_that_the_published_version_has_read_are_not_new(plane: Plane) -> None:
    """They were loaded before there was a job."""
    read = [land(plane, f"landing/{name}.csv") for name in "ab"]
    facts = [(path.name, path.stat()) for path in read]
    files = tuple(
        SourceFile(
            path=f"landing/{name}",
            size=stat.st_size,
            modified_ms=stat.st_mtime_ns // 1_000_000,
            sha256="0" * 64,
        )
        for name, stat in facts
    )
    plane.publish(position=SourcePosition(files=files))
    load = JobDefinition(job="load", dataset=NUMBERS, config={"on_files": "landing/*.csv"})
    plane.apply(load)
    assert plane.tick().triggered == 0
    land(plane, "landing/a.csv", "changed")
    assert plane.tick().triggered == 1, "the file is another one now"
    plane.watch = Watch()
    assert plane.tick().triggered == 0, "another dispatcher knows it, too"
