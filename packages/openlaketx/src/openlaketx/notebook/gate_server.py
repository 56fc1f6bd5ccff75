"""Entry point of the process of the gate, started by a program's first connection."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from typing import Any

from lakeguard_sdk.client import Client, connect
from openlaketx.isolation.messages import Link, RunEnded, RunOrder, RunWarning, error_message
from openlaketx.isolation.warm_process import deny_tracing, serve_connections

_PROJECTS_AT_ONCE = 8


class _Projects:
    """The clients of the projects used last."""

    def __init__(self) -> None:
        self._clients: OrderedDict[tuple[str, str | None], Client] = OrderedDict()
        self._changing = threading.Lock()

    def client(self, order: RunOrder) -> Client:
        key = order.url, order.env
        with self._changing:
            if key not in self._clients:
                self._clients[key] = connect(order.url, env=order.env)
            self._clients.move_to_end(key)
            while len(self._clients) > _PROJECTS_AT_ONCE:
                self._clients.popitem(last=False)
            return self._clients[key]


def main(places: list[str]) -> None:
    sys.path += [place for place in places if place not in sys.path]
    deny_tracing()
    projects = _Projects()
    serve_connections(lambda link: _serve(link, projects))


def _serve(link: Link, projects: _Projects) -> None:
    order = link.receive()
    if not isinstance(order, RunOrder):
        return
    try:
        ended = _ended(order, link, projects.client(order))
    except KeyboardInterrupt:
        ended = RunEnded()
    except Exception as error:  # noqa: BLE001 - the program reports it
        ended = RunEnded(error=error_message(error))
    try:
        link.send(ended)
    except OSError:
        return


def _ended(order: RunOrder, link: Link, client: Client) -> RunEnded:
    from openlaketx.engine.locations import note_spark, shares_disks
    from openlaketx.engine.spark.session import spark_session
    from openlaketx.isolation.remote_builder import RemoteBuilder
    from openlaketx.pipeline import run_dataset  # noqa: F401 - loaded before the first run
    from openlaketx.worker import SparkWorker

    if not order.task_id:
        return RunEnded()

    def report(stage: str, facts: dict[str, Any]) -> None:
        words = {"undelivered": "is published, but not delivered", "unprofiled": "was not profiled"}
        if stage in words:
            link.send(RunWarning(text=f"{facts['dataset']} {words[stage]}: {facts['reason']}"))

    note_spark(is_here=shares_disks(client.spark_options))
    worker = SparkWorker(client.for_worker(), lambda: spark_session(client.spark_options), report)
    builder = RemoteBuilder(
        link,
        lake=client.lake,
        project=client.project or client.lake,
        ending=lambda: "closed its connection",
        reader=client.reader,
        interrupted=worker.stop,
    )
    builder.start()
    return RunEnded(result=worker.run_task(order.task_id, builder))


if __name__ == "__main__":
    main(sys.argv[1:])
