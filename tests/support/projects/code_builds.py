"""A project with a Python build, whose code tests replace."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from lakeguard_sdk import Client
from lakeguard_sdk.model.run import RunResult
from tests.support.projects.folders import applied, apply_again, run

NAME = "silver.made"
DEFINITION = """\
dataset: silver.made
owner: tests
domain: tests
parents: [bronze.raw]
build: {python: jobs/made.py:build}
load: {type: FULL}
columns:
  n: {type: long, rules: ["range(min=0)", "not_null"]}
"""
RAW = """\
dataset: bronze.raw
owner: tests
domain: tests
source: raw
load: {type: FULL}
columns: {n: {type: long}}
"""
SOURCE = "source: raw\nformat: csv\npath: in/*.csv\n"
HONEST = "def build(spark, inputs):\n    return inputs['bronze.raw'].where('n >= 0')\n"


def code_project(folder: Path, **more: str) -> Client:
    """The project, with more files in ``jobs``; ``bronze.raw`` is published."""
    files: dict[str, str | bytes] = {
        "in/raw.csv": "n\n1\n2\n-5\n",
        "definitions/sources/raw.yaml": SOURCE,
        "definitions/bronze/raw.yaml": RAW,
        "definitions/silver/made.yaml": DEFINITION,
        "jobs/made.py": HONEST,
        **{f"jobs/{name}.py": text for name, text in more.items()},
    }
    made = applied(folder, files)
    assert run(made, "bronze.raw").version == 1
    return made


def run_code(client: Client, text: str) -> RunResult:
    folder = Path(client.project)
    (folder / "jobs" / "made.py").write_text(dedent(text).lstrip())
    apply_again(client, folder)
    return run(client, NAME)
