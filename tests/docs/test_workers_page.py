"""docs/how-to/workers.md: its jobs can be applied, and what it says of them is so."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from lakeguard.registry.files.job_settings import controls_of
from lakeguard.registry.load_folder import load_folder
from lakeguard.worker.attempt import Attempt
from lakeguard.worker.http_job import call_body
from lakeguard.worker.loop import WorkerEvent
from lakeguard.worker.python_job import PASSED, job_environment
from lakeguard_sdk.core.canonical_json import canonical_json
from lakeguard_sdk.core.enums import TaskKind
from lakeguard_sdk.errors import error_classes
from lakeguard_sdk.expressions.json_values import read_json
from lakeguard_sdk.scheduling.python_job import Job
from tests.support.projects.assignments import attempt_of
from tests.support.projects.definition_folders import write_folder

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "workers.md").read_text("utf-8")
WORDS = set(re.findall(r"`([^`\n]+)`", TEXT))


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_its_jobs_can_be_applied(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"lakeguard.toml": "[env.dev]\n"}
    for text in blocks("yaml"):
        name = text.partition("\n")[0].removeprefix("job: ")
        files[f"definitions/jobs/{name}.yaml"] = text
    jobs = {job.job: job for job in load_folder(write_folder(tmp_path, files)).jobs}
    python, outside = controls_of(jobs["close_books"]), controls_of(jobs["train_model"])
    assert (python.kind, python.call) == (TaskKind.PYTHON, "finance.books:close")
    assert (python.timeout_seconds, outside.timeout_seconds) == (1200, 7200)
    assert (outside.kind, outside.outputs) == (TaskKind.HTTP, ("model",))


def test_all_of_a_job_is_named() -> None:
    (example,) = blocks("python")
    used = {
        node.attr
        for node in ast.walk(ast.parse(example))
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "job"
    }
    named = {word.partition("(")[0] for word in WORDS}
    offered = {name for name in (*vars(Job), *Job.__annotations__) if not name.startswith("_")}
    assert used <= offered
    assert offered <= named


def test_what_a_job_and_the_other_side_are_told_is_named() -> None:
    attempt: Attempt = attempt_of(parameters={"date": "2026-01-31"})
    own = set(job_environment(attempt.assignment, {}))
    assert own <= {*WORDS, *(f"LAKEGUARD_JOB{word}" for word in WORDS)}
    assert set(PASSED) <= WORDS
    body = read_json(call_body(attempt).decode())
    assert canonical_json(body).encode() == call_body(attempt)
    assert isinstance(body, dict)
    assert set(body) <= WORDS
    assert set(WorkerEvent) <= WORDS


def test_its_codes_exist() -> None:
    codes = {kind.code for kind in error_classes()}
    assert set(re.findall(r"LG-[0-9]{4}", TEXT)) <= codes
