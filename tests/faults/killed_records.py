"""Processes that store records: one dies by SIGKILL at a named point, others go on until they are
done, or until the disk is full."""

from __future__ import annotations

import os
import resource
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from lakeguard.records.files.local_log import LocalLog
from lakeguard.records.files.log import RecordLog
from lakeguard.records.files.object_log import ObjectLog
from lakeguard.records.files.repository import FilesRepository
from lakeguard_sdk.errors import RecordsUnavailable
from lakeguard_sdk.records.record import MetadataRecord
from lakeguard_sdk.storage import fault_points
from lakeguard_sdk.testing.record_samples import TENANT, volume

SEGMENT_BYTES = 4000
LOGS = ("segments", "objects")


def opened(root: str, kind: str) -> FilesRepository:
    place = Path(root, "log")
    log: RecordLog = LocalLog(place, SEGMENT_BYTES)
    if kind == "objects":
        log = ObjectLog(str(place))
    return FilesRepository(root, TENANT, log)


def batch(writer: str, number: int) -> list[MetadataRecord]:
    return [volume(f"{writer}-{number}-{n}", number) for n in range(number % 4 + 1)]


def acknowledge(root: str, writer: str, number: int) -> None:
    """Survives the process."""
    with Path(root, f"acknowledged-{writer}").open("a") as file:
        file.write(f"{number}\n")


def die_at(root: str, kind: str, point: str, time: int) -> None:
    """Stores batches and saves the index until it reaches the point for the so-manieth time."""
    times = count(1)

    def die(reached: str) -> None:
        if reached == point and next(times) == time:
            os.kill(os.getpid(), signal.SIGKILL)

    fault_points.listen(die)
    repository = opened(root, kind)
    for number in range(12):
        repository.bulk_store(batch("one", number))
        acknowledge(root, "one", number)
        repository.save_index()
    repository.rebuild_index()


def store_all(root: str, kind: str, writer: str, batches: int) -> None:
    """Four threads store; a batch is acknowledged after it was stored."""
    repository = opened(root, kind)

    def store(number: int) -> None:
        repository.bulk_store([*batch(writer, number), *batch("both", number)])
        acknowledge(root, writer, number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(store, range(batches)))
    repository.close()


def fill_the_disk(root: str, kind: str) -> None:
    """Stores until a file may not grow, and once more when it may again."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    repository = opened(root, kind)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, resource.RLIM_INFINITY))
    refused = 0
    for number in range(12):
        try:
            repository.bulk_store(batch("one", number))
            acknowledge(root, "one", number)
        except RecordsUnavailable:
            refused += 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert refused
    repository.bulk_store(batch("later", 3))
    acknowledge(root, "later", 3)
    os._exit(7)
