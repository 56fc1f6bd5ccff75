"""``python -m bench [name]``: exit 1 where a bar is missed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import (
    deciding,
    guarded_write,
    large_ingest,
    loads,
    memory,
    object_store,
    records,
    registry,
    scale,
    startup,
    stream,
    text_sources,
)
from bench.dispatch import benchmark as dispatch
from bench.figures import Figure, keep, show
from bench.service import benchmark as service

BENCHMARKS: dict[str, Callable[[], list[Figure]]] = {
    deciding.NAME: deciding.run,
    dispatch.NAME: dispatch.run,
    guarded_write.NAME: guarded_write.run,
    large_ingest.NAME: large_ingest.run,
    loads.NAME: loads.run,
    memory.NAME: memory.run,
    object_store.NAME: object_store.run,
    records.NAME: records.run,
    registry.NAME: registry.run,
    scale.NAME: scale.run,
    service.NAME: service.run,
    startup.NAME: startup.run,
    stream.NAME: stream.run,
    text_sources.NAME: text_sources.run,
}


def main(arguments: list[str]) -> int:
    names = arguments or list(BENCHMARKS)
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"there is no benchmark {unknown[0]!r}; there is: {', '.join(BENCHMARKS)}")
        return 2
    missed = False
    for name in names:
        figures = BENCHMARKS[name]()
        show(name, figures)
        keep(name, figures)
        missed = missed or not all(figure.ok for figure in figures)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
