"""Loads by key against delta-spark's MERGE: the same rows, the same session, in turns."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
from pyspark.sql import SparkSession

from bench.accounts import (
    COLUMNS,
    HISTORY_RULES,
    RULES,
    all_ids,
    clustered_ids,
    scattered_ids,
    write_accounts,
)
from bench.figures import SCRATCH, Figure
from bench.turns import governed, in_turns, submitted
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.core.dataset_name import parse_address
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import create_worker

ROWS = 20_000_000
ROUNDS = 3
DATASET = DatasetName("bronze.accounts")
_HISTORY = {"valid_from": "timestamp", "valid_to": "timestamp", "is_current": "boolean"}


@dataclass
class Sides:
    """The same table twice: governed, and plain Delta beside it."""

    folder: Path
    client: Client
    spark: SparkSession
    bare: str
    history: bool
    landed: int = 0

    def land(self, file: Path) -> None:
        self.landed += 1
        (self.folder / "landing").mkdir(exist_ok=True)
        file.rename(self.folder / "landing" / f"{self.landed:04d}.parquet")

    @property
    def newest(self) -> str:
        return str(self.folder / "landing" / f"{self.landed:04d}.parquet")

    def governed(self) -> float:
        worker = create_worker(self.client.for_worker(), spark_options={})
        return governed(worker, submitted(self.client, DATASET))

    def merged(self) -> float:
        start = time.perf_counter()
        self.spark.read.parquet(self.newest).createOrReplaceTempView("batch")
        for statement in self._history() if self.history else self._upsert():
            self.spark.sql(statement)
        return time.perf_counter() - start

    def _upsert(self) -> list[str]:
        return [
            f"MERGE INTO delta.`{self.bare}` t USING batch s ON t.id = s.id"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        ]

    def _history(self) -> list[str]:
        """Close what changed, then insert the new states."""
        attributes = [name for name in COLUMNS if name not in ("id", "changed_at")]
        differs = " OR ".join(f"NOT (t.{name} <=> s.{name})" for name in attributes)
        names = ", ".join([*COLUMNS, *_HISTORY])
        values = ", ".join([*(f"s.{name}" for name in COLUMNS), "s.changed_at", "NULL", "true"])
        return [
            f"MERGE INTO delta.`{self.bare}` t USING batch s ON t.id = s.id AND t.is_current"
            f" WHEN MATCHED AND ({differs}) THEN UPDATE SET valid_to = s.changed_at,"
            " is_current = false",
            f"MERGE INTO delta.`{self.bare}` t USING batch s ON t.id = s.id AND t.is_current"
            f" WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({values})",
        ]

    def create_bare(self) -> None:
        frame = self.spark.read.parquet(self.newest)
        if self.history:
            frame = frame.selectExpr(
                "*",
                "changed_at AS valid_from",
                "cast(NULL AS timestamp) AS valid_to",
                "true AS is_current",
            )
        frame.write.format("delta").save(self.bare)

    def agree(self) -> None:
        """Both hold the same rows, or the comparison is of nothing."""
        found = self.client.reader.resolve(parse_address(DATASET))
        sums = [_digest(found.location, found.commit), _digest(self.bare, None)]
        if sums[0] != sums[1]:
            raise SystemExit(f"the two tables differ: {sums}")


def merge_figures(rows: int = ROWS, rounds: int = ROUNDS) -> list[Figure]:
    """Upserts anywhere, upserts next to each other, and history."""
    cases: list[tuple[str, bool, Callable[[int, int], str], float]] = [
        ("merge of 1 % + 1 %, scattered keys / MERGE", False, scattered_ids, 1.0),
        ("merge of 1 % + 1 %, clustered keys / MERGE", False, clustered_ids, 0.5),
        ("SCD2 of 1 % + 1 %, scattered keys / two-step MERGE", True, scattered_ids, 1.0),
    ]
    figures = []
    for label, history, ids, bar in cases:
        figures.append(_case(f"{label}, {rows / 1e6:g} M rows", rows, rounds, history, ids, bar))
    return figures


def _case(
    label: str,
    rows: int,
    rounds: int,
    history: bool,
    ids: Callable[[int, int], str],
    bar: float,
) -> Figure:
    sides = _sides(history)
    file = SCRATCH / "batch.parquet"
    write_accounts(file, all_ids(rows), 0)
    sides.land(file)
    first = sides.governed()
    sides.create_bare()
    print(f"  {label}: first load {first:.1f} s", flush=True)
    ratios = []
    for number in range(1, rounds + 2):
        write_accounts(file, ids(rows, number), number)
        sides.land(file)
        ours, merge = in_turns(number, sides.governed, sides.merged)
        sides.agree()
        kind = "warm-up" if number == 1 else f"round {number - 1}/{rounds}"
        print(f"    {kind}: governed {ours:.1f} s, MERGE {merge:.1f} s", flush=True)
        if number > 1:
            ratios.append(ours / merge)
    shutil.rmtree(sides.folder, ignore_errors=True)
    return Figure(label, statistics.median(ratios), "x", bar)


def _sides(history: bool) -> Sides:
    folder = SCRATCH / "merges"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("bronze", "sources"):
        (folder / "definitions" / name).mkdir(parents=True)
    (folder / "lakeguard.toml").write_text("[env.dev]\n")
    (folder / "definitions" / "sources" / "accounts.yaml").write_text(
        "source: accounts\nformat: parquet\npath: landing/*.parquet\n"
    )
    load = (
        "{type: SCD2, keys: [id], effective: changed_at}"
        if history
        else "{type: INCREMENTAL, keys: [id]}"
    )
    columns = "".join(f"  {name}: {{type: '{kind}'}}\n" for name, kind in COLUMNS.items())
    rules = "".join(f'  - "{rule}"\n' for rule in (HISTORY_RULES if history else RULES))
    (folder / "definitions" / "bronze" / "accounts.yaml").write_text(
        f"dataset: {DATASET}\nowner: bench\ndomain: shop\nsource: accounts\nload: {load}\n"
        f"columns:\n{columns}rules:\n{rules}"
    )
    client = connect(folder)
    client.registry.apply(client.registry.plan(load_folder(folder)))
    spark = spark_session({}, delta=True).newSession()
    spark.conf.set("spark.sql.runSQLOnFiles", "true")  # MERGE names its table by path
    return Sides(folder, client, spark, str(folder / "bare"), history)


def _digest(location: str, commit: int | None) -> tuple[object, ...]:
    """Rows, and sums over their columns that no order changes."""
    files = [f"{location}/{path}" for path in live_files(open_table(location, commit))]
    with duckdb.connect() as connection:
        row = connection.execute(
            "SELECT count(*), sum(id), sum(balance), sum(visits), min(changed_at), max(changed_at),"
            " sum(hash(id, status, note, changed_at)::HUGEINT) FROM read_parquet($files)",
            {"files": files},
        ).fetchone()
    return row or ()
