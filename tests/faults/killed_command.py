"""``lakeguard`` hit by a signal at a named point: ``… mortal_command SIGINT POINT run NAME``."""

from __future__ import annotations

import signal
import sys

from lakeguard.cli.main import call
from lakeguard_sdk.storage import fault_points

if __name__ == "__main__":
    blow, point = signal.Signals[sys.argv[1]], sys.argv[2]

    def strike(reached: str) -> None:
        if reached == point:
            signal.raise_signal(blow)

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    fault_points.listen(strike)
    sys.exit(call(sys.argv[3:]))
