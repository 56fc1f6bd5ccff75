"""Recognising this machine's processes, so that a dead worker need not wait out its lease."""

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
    """True only where it is certain: same machine, and no such process or another one by now."""
    here = _place()
    if worker.host != socket.gethostname() or not worker.process_mark.startswith(f"{here} "):
        return False
    return not _may_live(worker.pid) or _mark(worker.pid) not in ("", worker.process_mark)


def _place() -> str:
    """This boot of the machine and the space in which process numbers count."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return "unknown"


def _mark(pid: int) -> str:
    """A number used again has another mark; a process that is no more, or not to be seen, has
    none."""
    fields = _fields(pid)
    return "" if fields is None or _is_dead(fields) else f"{_place()} {fields[19]}"


def _may_live(pid: int) -> bool:
    """Whether there may be a process of that number: some systems show those of other users to
    nobody, and yet know of them."""
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
    """What the system tells of a process; None where it tells nothing."""
    try:
        return (PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _is_dead(fields: list[str]) -> bool:
    return fields[0] in "ZX"
