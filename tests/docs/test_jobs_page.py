"""docs/how-to/jobs.md: its examples are definitions, and it names every setting and every gate."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from lakeguard.cli.main import cli
from lakeguard.registry.files.job_settings import ALIASES, KEYS, read_controls
from lakeguard.registry.files.jobs import read_job
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_documents import read_document
from lakeguard_sdk import errors
from lakeguard_sdk.errors import LaunchRefused
from lakeguard_sdk.scheduling.jobs import CatchUp, JobControls, Overlap

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "jobs.md").read_text("utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def part(heading: str) -> str:
    return PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_are_read_without_a_mistake(text: str) -> None:
    findings = Findings()
    document = read_document("job.yaml", text.encode(), findings)
    assert document is not None
    job = read_job(document, findings)
    assert job is not None, findings.errors()
    reading = read_controls(job)
    assert reading.mistakes == ()
    assert reading.controls.kind is not None


def test_every_setting_is_named_and_no_other() -> None:
    assert len(EXAMPLES) == 3
    rows = re.findall(r"^\| `([^`]+)` \|", part("Settings"), re.MULTILINE)
    assert rows == [*KEYS, *ALIASES]
    for word in (*CatchUp, *Overlap):
        assert f"`{word}`" in part("Settings")


def test_the_defaults_are_those_of_the_program() -> None:
    reported = dict(re.findall(r"^\| `(\w+)` \|.*\| `(\S+)` \|$", part("Settings"), re.MULTILINE))
    usual = JobControls()
    assert reported == {
        "time_zone": "UTC",
        "catch_up": CatchUp.LATEST,
        "overlap": usual.overlap,
        "concurrency": str(usual.concurrency),
        "priority": str(usual.priority),
        "timeout": f"{usual.timeout_seconds // 3600}h",
    }


def test_every_gate_is_named() -> None:
    gates = {
        kind.code
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, LaunchRefused) and kind is not LaunchRefused
    }
    assert set(re.findall(r"^\| `(LG-\d+)` \|", part("Gates"), re.MULTILINE)) == gates


def test_every_command_can_be_parsed() -> None:
    found = re.findall(r"^    lakeguard (.*)$", PAGE, re.MULTILINE)
    assert len(found) == 6
    for line in found:
        name, *arguments = shlex.split(line)
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        command.make_context(name, arguments, resilient_parsing=False)
