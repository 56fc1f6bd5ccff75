"""A rebuild that has rows in its scratch place, and dies there by SIGKILL, or waits to."""

from __future__ import annotations

import os
import signal
from multiprocessing.synchronize import Event

from openlaketx.rebuild import scratch_place


def main(lake: str, location: str, begun: Event, ending: Event) -> None:
    with scratch_place(lake, location) as scratch:
        (scratch.lake / "rows.csv").write_text("somebody's name\n")
        begun.set()
        ending.wait(60)
        os.kill(os.getpid(), signal.SIGKILL)
