"""Reports that nobody takes of a job that promises the output ``swept``, and a word of why."""

from __future__ import annotations

from lakeguard_sdk.model.run import Failure
from lakeguard_sdk.scheduling.tasks import Output, TaskReport
from tests.support.projects.running_tasks import BROKEN, DONE

REFUSED: dict[str, tuple[TaskReport, str]] = {
    "nothing": (TaskReport(success=True), "swept"),
    "too much": (
        TaskReport(success=True, outputs={"swept": Output(), "dust": Output()}), "dust",
    ),
    "another": (TaskReport(success=True, outputs={"dust": Output()}), "swept"),
    "an error": (DONE.model_copy(update={"error": BROKEN.error}), "no error"),
    "no error": (TaskReport(success=False), "says why"),
    "a failure's output": (BROKEN.model_copy(update={"outputs": DONE.outputs}), "no outputs"),
    "a code of two words": (
        TaskReport(success=False, error=Failure(code="so bad", message="")), "code",
    ),
    "a large note": (
        TaskReport(success=True, outputs={"swept": Output(notes={"a": "x" * 70_000})}), "bytes",
    ),
    "a secret note": (
        TaskReport(success=True, outputs={"swept": Output(notes={"password": "hunter2"})}),
        "secret",
    ),
    "a number that is none": (
        TaskReport(success=True, outputs={"swept": Output(notes={"a": float("nan")})}), "NaN",
    ),
    "a secret location": (
        TaskReport(
            success=True, outputs={"swept": Output(location="https://a:b@store.example/x")}
        ),
        "secret",
    ),
    "two lines": (TaskReport(success=True, outputs={"swept": Output(location="a\nb")}), "line"),
    "a long location": (
        TaskReport(success=True, outputs={"swept": Output(location="x" * 301)}), "300",
    ),
    "too many rows": (TaskReport(success=True, outputs={"swept": Output(rows=2**63)}), "2**63"),
}  # fmt: skip
