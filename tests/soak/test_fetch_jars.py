"""The fetch itself, from Maven Central into an empty cache."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from openlaketx.engine.spark import jars

pytestmark = pytest.mark.soak

FETCH = [sys.executable, "-m", "openlaketx.engine.spark.jars"]


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEGUARD_CACHE", str(tmp_path / "cache"))


def test_a_fetch_leaves_the_locked_jars_and_nothing_else() -> None:
    fetched = jars.fetch()
    assert fetched == jars.verify() == jars.delta_jars()
    assert sorted(jars.jar_folder().parent.rglob("*.*")) == sorted([fetched[0].parent, *fetched])


def test_a_damaged_jar_is_fetched_again() -> None:
    damaged = jars.fetch()[0]
    damaged.write_bytes(bytes(damaged.stat().st_size))
    assert jars.delta_jars()
    jars.fetch()
    assert jars.verify()


def test_two_at_once_both_get_a_whole_cache() -> None:
    both = [subprocess.Popen(FETCH, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = [process.communicate()[0].splitlines() for process in both]
    assert printed == [[str(path) for path in jars.verify()]] * 2


def test_a_killed_fetch_leaves_no_half_cache() -> None:
    with subprocess.Popen(FETCH, stdout=subprocess.DEVNULL, start_new_session=True) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=1.5)
        os.killpg(process.pid, signal.SIGKILL)
    assert not jars.jar_folder().exists()
    assert jars.fetch() == jars.verify()
    assert list(jars.jar_folder().parent.iterdir()) == [jars.jar_folder()]
