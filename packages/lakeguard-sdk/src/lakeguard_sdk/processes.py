"""Recognising this machine's processes, so that a dead worker need not wait out its lease."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from lakeguard_sdk.run import WorkerIdentity


def this_process(name: str) -> WorkerIdentity:
    pid = os.getpid()
    return WorkerIdentity(
        name=name, host=socket.gethostname(), pid=pid, process_mark=_mark(pid) or ""
    )


def is_gone(worker: WorkerIdentity) -> bool:
    """True only where it is certain: same machine, and no such process or another one by now."""
    if worker.host != socket.gethostname() or not worker.process_mark:
        return False
    mark = _mark(worker.pid)
    return mark is None or mark != worker.process_mark


def _mark(pid: int) -> str | None:
    """Boot and start time of a process: a pid used again has another mark; a zombie has none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else f"{boot}:{fields[19]}"
