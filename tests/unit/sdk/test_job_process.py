"""What the call of a job in Python comes to, in the words of its report."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

import pytest

from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.job_process import DONE, called
from lakeguard_sdk.scheduling.python_job import JobOrder
from lakeguard_sdk.scheduling.tasks import TaskReport
from tests.support.projects.assignments import write_job

_numbers = count(1)


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


def failure(folder: Path, body: str, call: str = ":main") -> Failure:
    module = f"called_{next(_numbers)}"
    write_job(folder, body, module)
    order = JobOrder(
        job="nightly",
        task_id="task_1",
        run_id="run_1",
        attempt=1,
        call=f"{module}{call}" if call.startswith(":") else call,
        project=str(folder),
    )
    report = TaskReport.from_json(called(order))
    assert not report.success
    assert report.error is not None
    return report.error


@pytest.mark.parametrize(
    ("body", "code", "message", "retryable"),
    [
        ("raise ValueError('no rows\\nfurther')", "LG-5651", "ValueError: no rows", False),
        ("raise Retry('not yet')", "LG-5652", "requested a retry: not yet", True),
        ("raise Retry()", "LG-5652", "no reason given", True),
        ("raise SystemExit(3)", "LG-5651", "SystemExit: 3", False),
        ("raise KeyboardInterrupt", "LG-5651", "KeyboardInterrupt", False),
        ("job.output('Not A Word')", "LG-5651", "BadName: 'Not A Word'", False),
        ("job.output('sum', rows=-1)", "LG-5651", "ValidationError", False),
        ("job.output('sum', notes={'at': object()})", "LG-5651", "Error", False),
        ("job.secret('key')", "LG-5651", "KeyError: 'key'", False),
        ("raise ImportError('inside')", "LG-5651", "ImportError: inside", False),
    ],
)
def test_what_is_raised_is_told_in_one_line(
    tmp_path: Path, body: str, code: str, message: str, retryable: bool
) -> None:
    error = failure(tmp_path, body)
    assert (error.code, error.retryable) == (code, retryable)
    assert message in error.message
    assert "\n" not in error.message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("nowhere:main", "ModuleNotFoundError: No module named 'nowhere'"),
        (":other", "AttributeError"),
        (":__name__", "is not callable"),
    ],
)
def test_what_cannot_be_called_is_not_tried_again(tmp_path: Path, call: str, message: str) -> None:
    error = failure(tmp_path, "pass", call)
    assert (error.code, error.retryable) == ("LG-5653", False)
    assert message in error.message


def test_a_success_without_outputs_is_reported_as_any_other(tmp_path: Path) -> None:
    assert TaskReport(success=True).to_json() == DONE
    write_job(tmp_path, "pass", "called_plainly")
    order = {"job": "nightly", "task_id": "task_1", "run_id": "run_1", "attempt": 1}
    given = JobOrder(**order, call="called_plainly:main", project=str(tmp_path))
    assert called(given) == DONE
