"""Child processes that stay warm and serve connections, each in a thread of its own.

The parent passes one end of a socket pair for each connection. A child ends with its parent: when
the control socket closes, it kills itself and its process group.
"""

from __future__ import annotations

import atexit
import ctypes
import importlib.util
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from openlaketx.isolation.messages import Link

_NEW = b"n"
_END_SECONDS = 5.0
_PR_SET_DUMPABLE = 4


class WarmProcess:
    """Started by the first connection, and again by the next one after it ended. Thread-safe."""

    def __init__(self, module: str, flags: Sequence[str], arguments: Sequence[str] = ()) -> None:
        self._command = (sys.executable, *flags, "-m", module, *arguments)
        self._changing = threading.RLock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        atexit.register(self.end)

    def connect(self, environment: Mapping[str, str]) -> Link:
        """A connection that the child serves."""
        ours, theirs = socket.socketpair()
        with theirs, self._changing:
            control = self._running(environment)
            try:
                socket.send_fds(control, [_NEW], [theirs.fileno()])
            except OSError:  # it has just ended
                self._end()
                control = self._running(environment)
                socket.send_fds(control, [_NEW], [theirs.fileno()])
        return Link(ours)

    def ending(self) -> str:
        """How the child ended, in words. Its connection is closed a little before it is gone."""
        process = self._process
        try:
            code = None if process is None else process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        if code is None:
            return "closed its connection"
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"

    def end(self) -> None:
        """End the child and its process group; connections are closed."""
        with self._changing:
            self._end()

    def _running(self, environment: Mapping[str, str]) -> socket.socket:
        if self._process is not None and self._control is not None and self._process.poll() is None:
            return self._control
        self._end()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - the same words every time
                self._command,
                stdin=theirs.fileno(),
                stdout=2,  # standard output is for data
                env=dict(environment),
                start_new_session=True,
            )
        self._control = ours
        return ours

    def _end(self) -> None:
        process, self._process = self._process, None
        control, self._control = self._control, None
        if control is not None:
            control.close()
        if process is None:
            return
        if process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait(_END_SECONDS)


def serve_connections(handle: Callable[[Link], None]) -> None:
    """Runs in the child: call ``handle`` for each connection, until the parent is gone."""
    control = _taken_input()
    while True:
        try:
            word, found, _, _ = socket.recv_fds(control, len(_NEW), 1)
        except OSError:
            break
        if not word:
            break
        link = Link(socket.socket(fileno=found[0]))
        threading.Thread(target=_handled, args=(handle, link), daemon=True).start()
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def spark_places() -> list[str]:
    """Folders of the Spark of this process, which may not be installed as a package. A child
    searches them last, so that they replace nothing that is installed."""
    found = [importlib.util.find_spec(name) for name in ("pyspark", "py4j")]
    origins = [Path(spec.origin) for spec in found if spec is not None and spec.origin]
    return list(dict.fromkeys(str(origin.parents[1]) for origin in origins))


def deny_tracing() -> None:
    """Make this process non-dumpable: others of the same user cannot read or trace it; root still
    can. Linux only, else a no-op."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _handled(handle: Callable[[Link], None], link: Link) -> None:
    try:
        handle(link)
    finally:
        link.close()


def _taken_input() -> socket.socket:
    """The control socket, moved away from standard input, which becomes empty."""
    control = socket.socket(fileno=os.dup(0))
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    return control
