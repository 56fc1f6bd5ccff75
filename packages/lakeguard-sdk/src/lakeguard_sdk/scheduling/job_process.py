"""Entry point of a Python job's process, started by a worker.

Standard input is a socket to the worker: the order comes in, the report goes back. If it closes,
the worker is gone, and the process kills itself and its process group.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lakeguard_sdk.errors import JobFailed, JobRequestedRetry, JobUnusable
from lakeguard_sdk.scheduling.python_job import (
    Job,
    JobOrder,
    Retry,
    job_of,
)
from lakeguard_sdk.scheduling.tasks import TaskReport

DONE = '{"error":null,"outputs":{},"success":true}'
"""The report of a success without outputs, for which pydantic need not be set up."""


def main() -> None:
    link = _taken_link()
    with link.makefile("rb") as lines:
        order = _order(lines.readline())
    threading.Thread(target=_end_with, args=(link,), daemon=True).start()
    report = called(order)
    with suppress(OSError, ValueError):  # the job may have closed it
        sys.stdout.flush()
    link.sendall(report.encode() + b"\n")


def _order(line: bytes) -> JobOrder:
    """As the worker wrote it, without validation: the validators take longer to build than all else
    that a small job does."""
    return JobOrder.model_construct(**json.loads(line))


def _taken_link() -> socket.socket:
    """The socket, moved away from standard input; the job reads an empty input."""
    link = socket.socket(fileno=os.dup(0))
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return link


def _end_with(link: socket.socket) -> None:
    with suppress(OSError):
        link.recv(1)
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def called(order: JobOrder) -> str:
    """The report of the call as JSON; a traceback goes to the log."""
    job = job_of(order)
    try:
        _callable(order)(job)
        return TaskReport(success=True, outputs=job.outputs).to_json() if job.outputs else DONE
    except JobUnusable as error:
        return TaskReport.failed(error).to_json()
    except Retry as error:
        traceback.print_exc()
        again = JobRequestedRetry(job=order.job, reason=_line(error) or "no reason given")
        return TaskReport.failed(again).to_json()
    except BaseException as error:  # noqa: BLE001 - every error is reported
        traceback.print_exc()
        line = _line(error)
        reason = f"{type(error).__name__}: {line}" if line else type(error).__name__
        return TaskReport.failed(JobFailed(job=order.job, reason=reason)).to_json()


def _callable(order: JobOrder) -> Callable[[Job], Any]:
    """The function that the order names; the project's own modules come first."""
    sys.path.insert(0, order.project)
    module, _, name = order.call.partition(":")
    try:
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # noqa: BLE001 - a module may raise anything while it is loaded
        traceback.print_exc()
        reason = f"{order.call}: {type(error).__name__}: {_line(error)}"
        raise JobUnusable(job=order.job, reason=reason) from None
    if not callable(found):
        raise JobUnusable(job=order.job, reason=f"{order.call} is not callable")
    return found


def _line(error: BaseException) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")


if __name__ == "__main__":
    main()
