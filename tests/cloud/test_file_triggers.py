"""Jobs that start by objects of an S3 server, as the dispatcher's listing shows them."""

from __future__ import annotations

from pathlib import Path

from tests.cloud.test_sources import put
from tests.support.lakes.s3_server import StorePath
from tests.support.projects.triggered_jobs import job, make_plane


def test_each_object_starts_the_job_once_and_again_when_it_changed(
    tmp_path: Path, store: StorePath
) -> None:
    plane = make_plane("sqlite", tmp_path)
    plane.context = plane.far_away(str(store))
    plane.apply(job("load", on_files="landing/**/*.csv"))
    for name in ("a.csv", "2026/b.csv", "_SUCCESS.csv", ".hidden.csv", "c.txt"):
        put(store, f"landing/{name}", "n\n1\n")
    assert plane.tick().triggered == 2
    assert plane.tick().triggered == 0
    put(store, "landing/a.csv", "n\n2\n")  # of the same size, in the same second
    assert plane.tick().triggered == 1
    described = sorted(parameters for (parameters,) in plane.tasks("parameters"))
    assert described == [
        '{"set": {"file": "landing/2026/b.csv"}}',
        '{"set": {"file": "landing/a.csv"}}',
        '{"set": {"file": "landing/a.csv"}}',
    ]
