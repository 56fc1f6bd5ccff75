"""A process with an open door that dies by SIGKILL at a named point."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.connection import Connection

from lakeguard.http import parse_place
from lakeguard_sdk import connect
from lakeguard_sdk.storage import fault_points
from tests.support.fakes.http_clients import serve


def main(folder: str, point: str, expected: Connection) -> None:
    """Tells the port that it listens at, and waits for its death."""

    def die(reached: str) -> None:
        if reached == point:
            os.kill(os.getpid(), signal.SIGKILL)

    client = connect(folder)
    fault_points.listen(die)
    with serve(client, parse_place("127.0.0.1:0")) as inbox:
        expected.send(inbox.place)
        threading.Event().wait()
