"""Micro-batches of ten rows, against the same stream with a bare Delta append; and a stream whose
program is killed again and again, which publishes every row once."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from unittest.mock import patch

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import openlaketx
from bench.figures import SCRATCH, Figure
from lakeguard_sdk import connect, parse_address
from openlaketx.engine.spark.session import spark_session
from openlaketx.notebook.stream import BatchPublisher
from openlaketx.notebook.task_runner import TaskRunner

NAME = "stream"
DATASET = "silver.events"
ROWS, BATCHES, WARM_UP = 10, 40, 10
OVER_BAR_MS = 150.0
SOAK_BATCHES, KILLS, SEED = 200, 20, 7
EVERY = {"processingTime": "100 milliseconds"}
SCHEMA = "n long, word string"


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    try:
        return [*overhead(), *killed()]
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def overhead(batches: int = BATCHES) -> list[Figure]:
    """Milliseconds in the function that Spark calls for each micro-batch, in turns: a file arrives
    for one stream after the other has ended its micro-batch."""
    ours, theirs = _project("ours"), _project("theirs")
    spark = spark_session({}, delta=True)
    guarded, plain = _Timed(), _Timed()
    tx = openlaketx.connect(ours / "lake")
    with _timing_publishes(guarded):
        queries = {
            ours: tx.stream(
                DATASET, _frame(spark, ours), checkpoint=ours / "checkpoint", trigger=EVERY
            ),
            theirs: _bare_query(spark, theirs, plain),
        }
        for number in range(batches + WARM_UP):
            for folder in (ours, theirs) if number % 2 else (theirs, ours):
                _land(folder, number)
                queries[folder].processAllAvailable()
        for query in queries.values():
            query.stop()
    tx.close()
    return _compared(guarded.times[-batches:], plain.times[-batches:])


def _compared(guarded: list[float], plain: list[float]) -> list[Figure]:
    label = f"micro-batch of {ROWS} rows"
    return [
        Figure(f"{label}, over bare, medians", median(guarded) - median(plain), "ms", OVER_BAR_MS),
        Figure(f"{label}, over bare, minima", min(guarded) - min(plain), "ms", OVER_BAR_MS),
        Figure(f"{label}, governed, median", median(guarded), "ms"),
        Figure(f"{label}, governed, minimum", min(guarded), "ms"),
        Figure(f"{label}, bare Delta append, median", median(plain), "ms"),
        Figure(f"{label}, bare Delta append, minimum", min(plain), "ms"),
    ]


class _Timed:
    """The milliseconds of each call."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def measure(self, work: Callable[[], object]) -> None:
        start = time.perf_counter()
        work()
        self.times.append((time.perf_counter() - start) * 1000)


@contextmanager
def _timing_publishes(timed: _Timed) -> Iterator[None]:
    publish = BatchPublisher.publish

    def measured(self: BatchPublisher, frame: DataFrame, batch: int) -> None:
        timed.measure(lambda: publish(self, frame, batch))

    with patch.object(BatchPublisher, "publish", measured):
        yield


def _bare_query(spark: SparkSession, folder: Path, timed: _Timed) -> StreamingQuery:
    def write(frame: DataFrame, batch: int) -> None:
        writer = frame.write.format("delta").mode("append")
        timed.measure(lambda: writer.save(str(folder / "table")))

    stream = _frame(spark, folder).writeStream.foreachBatch(write).trigger(**EVERY)
    return stream.option("checkpointLocation", str(folder / "checkpoint")).start()


def killed(batches: int = SOAK_BATCHES, kills: int = KILLS) -> list[Figure]:
    """A program is killed at any time between its first micro-batches, and started again."""
    folder, luck = _project("killed"), random.Random(SEED)
    for number in range(batches):
        _land(folder, number)
    done = 0
    while done < kills and _killed_once(folder, batches, kills - done, luck):
        done += 1
        print(f"  {done} kills, {_ended(folder)} of {batches} micro-batches", flush=True)
    if _started(folder).wait():
        raise SystemExit("the stream did not go on")
    return _counted(folder, batches, done, kills)


def _counted(folder: Path, batches: int, done: int, kills: int) -> list[Figure]:
    client = connect(folder / "lake")
    found = client.reader.resolve(parse_address(DATASET))
    rows = [row["n"] for row in TaskRunner(client, spark_options={}).rows(found)]
    wrong = len(rows) - len(set(rows)) + len(set(range(batches * ROWS)) - set(rows))
    note = f"{batches} micro-batches of {ROWS} rows, {done} times SIGKILL"
    return [
        Figure("rows lost or repeated under kills", wrong, "rows", 0.0, note=note),
        Figure("kills", done, "kills", float(kills), least=True),
    ]


def _killed_once(folder: Path, batches: int, left: int, luck: random.Random) -> bool:
    """Whether the program was killed: within its share of what remains, at any moment of it. False
    if it came to an end before."""
    before = _ended(folder)
    share = max(1, (batches - before) // (left + 1))
    after, delay = luck.randrange(share), luck.uniform(0.0, 1.0)
    process = _started(folder)
    while _ended(folder) < before + after or not _has_begun(folder, process):
        if process.poll() is not None:
            return False
        time.sleep(0.005)
    time.sleep(delay)
    process.kill()
    return process.wait() == -signal.SIGKILL


def _has_begun(folder: Path, process: subprocess.Popen[bytes]) -> bool:
    """Whether the program has started its query."""
    return (folder / f"begun-{process.pid}").exists()


def _started(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "bench.stream", str(folder)])


def _ended(folder: Path) -> int:
    """How many micro-batches Spark has recorded as ended; it keeps the files of the last only."""
    commits = (folder / "checkpoint" / "commits").glob("*")
    return max((int(file.name) + 1 for file in commits if file.name.isdigit()), default=0)


def _program(folder: Path) -> None:
    """Streams all files into the table."""
    spark = spark_session({"spark.master": "local[1]"})
    tx = openlaketx.connect(folder / "lake")
    once = {"availableNow": True}
    frame = _frame(spark, folder)
    query = tx.stream(DATASET, frame, checkpoint=folder / "checkpoint", trigger=once)
    (folder / f"begun-{os.getpid()}").touch()
    query.awaitTermination()
    tx.close()


def _project(name: str) -> Path:
    folder = SCRATCH / name
    (folder / "lake").mkdir(parents=True)
    (folder / "landing").mkdir()
    (folder / "lake" / "lakeguard.toml").write_text("[env.dev]\n")
    return folder


def _land(folder: Path, number: int) -> None:
    """Written beside the folder first: a stream reads whatever is there."""
    lines = (json.dumps({"n": number * ROWS + row, "word": f"w{row}"}) for row in range(ROWS))
    part = folder / "part"
    part.write_text("\n".join(lines) + "\n")
    part.rename(folder / "landing" / f"{number:05}.json")


def _frame(spark: SparkSession, folder: Path) -> DataFrame:
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return reader.json(str(folder / "landing"))


if __name__ == "__main__":
    _program(Path(sys.argv[1]))
