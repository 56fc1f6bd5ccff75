"""Recognising this machine's processes, so that a dead worker need not wait out its lease."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from lakeguard_sdk.run import WorkerIdentity


def this_process(name: str) -> WorkerIdentity:
    pid = os.getpid()
    return WorkerIdentity(name=name, host=socket.gethostname(), pid=pid, process_mark=_mark(pid))


def is_gone(worker: WorkerIdentity) -> bool:
    """True only where it is certain: same machine, and no such process or another one by now."""
    here = _place()
    if worker.host != socket.gethostname() or not worker.process_mark.startswith(f"{here} "):
        return False
    return _mark(worker.pid) != worker.process_mark


def _place() -> str:
    """This boot of the machine and the space in which process numbers count."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return "unknown"


def _mark(pid: int) -> str:
    """A number used again has another mark; a process that is no more has none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else f"{_place()} {fields[19]}"
