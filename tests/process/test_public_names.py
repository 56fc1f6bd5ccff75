"""What a notebook or a build may rely on; and that looking at it starts nothing."""

from __future__ import annotations

import subprocess
import sys

import openlaketx
from openlaketx import run


def test_the_public_names_are_these() -> None:
    assert sorted(openlaketx.__all__) == ["Connection", "PublishResult", "connect", "run"]
    calls = [name for name in vars(openlaketx.Connection) if not name.startswith("_")]
    assert sorted(calls) == ["close", "publish", "read", "register", "run", "stream", "version_of"]
    assert callable(run.note)


def test_importing_it_needs_no_spark() -> None:
    heavy = "{name.partition('.')[0] for name in sys.modules} & {'pyspark', 'duckdb', 'deltalake'}"
    result = subprocess.run(
        [sys.executable, "-c", f"import sys, openlaketx; print({heavy})"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert result.stdout == "set()\n"
