"""``lakeguard`` in a process that dies at a named point: ``… mortal_command POINT run DATASET``."""

from __future__ import annotations

import os
import signal
import sys

from lakeguard.cli.main import call
from lakeguard_sdk import faultpoints

if __name__ == "__main__":
    point = sys.argv[1]

    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    faultpoints.listen(die)
    sys.exit(call(sys.argv[2:]))
