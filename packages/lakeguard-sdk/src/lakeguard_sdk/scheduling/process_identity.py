"""Detects dead local processes, so that their leases need not expire first."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from lakeguard_sdk.model.run import WorkerIdentity

PROCESSES = Path("/proc")


def this_process(name: str) -> WorkerIdentity:
    pid = os.getpid()
    return WorkerIdentity(name=name, host=socket.gethostname(), pid=pid, process_mark=_mark(pid))


def is_gone(worker: WorkerIdentity) -> bool:
    """True only if certain: same machine, and the process ended or its pid was reused."""
    here = _place()
    if worker.host != socket.gethostname() or not worker.process_mark.startswith(f"{here} "):
        return False
    return not _may_live(worker.pid) or _mark(worker.pid) not in ("", worker.process_mark)


def _place() -> str:
    """Boot id and pid namespace."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return "unknown"


def _mark(pid: int) -> str:
    """Changes when a pid is reused; empty for a dead or invisible process."""
    fields = _fields(pid)
    return "" if fields is None or _is_dead(fields) else f"{_place()} {fields[19]}"


def _may_live(pid: int) -> bool:
    """Whether the process may exist: some systems hide processes of other users in /proc."""
    fields = _fields(pid)
    if fields is not None:
        return not _is_dead(fields)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _fields(pid: int) -> list[str] | None:
    """The fields of ``/proc/PID/stat``; None if unreadable."""
    try:
        return (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _is_dead(fields: list[str]) -> bool:
    return fields[0] in "ZX"
