"""Typed CSV and JSON Lines through the gate, against Spark's typed read and a Delta append."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
from pyspark.sql import DataFrame

from bench.figures import SCRATCH, Figure
from bench.orders import CHANCE, COLUMNS, RULES, select_orders
from bench.orders_project import make_project
from bench.orders_rig import OrdersRig
from openlaketx.conform import typed_texts
from openlaketx.engine.spark.session import spark_session
from openlaketx.worker import create_worker

NAME = "text_sources"
ROWS = int(os.environ.get("BENCH_ROWS", "1500000"))
"""Fewer for a quick look."""
PAIRS = 7
WARM_UP = 3
BAR = 1.2
SPARK_BAR = 1.5
SPARK_JSON = (
    "On Spark alone, every value of a JSON line is read as its text, so that no spelling of a"
    " number is lost, and then cast; Spark's own read parses it into its type at once."
)
TEXTS = ("order_id", "email", "status", "country", "comment")
TYPED = (
    *("customer_id", "quantity", "unit_price", "discount"),
    *("amount", "ordered_at", "order_date", "gift"),
)
LEFT_OUT = frozenset(COLUMNS) - {*TEXTS, *TYPED}
KINDS = {name: kind for name, kind in COLUMNS.items() if name not in LEFT_OUT}
TEXT_RULES = (
    *(rule for rule in RULES if not any(name in rule for name in LEFT_OUT)),
    "not_null(ordered_at)",
    "not_future(order_date)",
    "regex(country, pattern='[A-Z]{2}')",
)
_TIME = "TIMESTAMPFORMAT '%Y-%m-%dT%H:%M:%SZ'"
FORMS = {
    "unquoted CSV": ("csv", f"FORMAT csv, HEADER, {_TIME}"),
    "quoted CSV": ("csv", f"FORMAT csv, HEADER, {_TIME}, FORCE_QUOTE ({', '.join(TEXTS)})"),
    "JSON Lines": ("jsonl", f"FORMAT json, {_TIME}"),
}


@dataclass
class Rig(OrdersRig):
    """Spark reads the texts with their types."""

    form: str

    def read(self, *files: Path) -> DataFrame:
        listed = ", ".join(f"{name} {kind}" for name, kind in KINDS.items())
        reader = self.spark.read.schema(listed).option("mode", "FAILFAST")
        places = [str(file) for file in files]
        return reader.json(places) if self.form == "jsonl" else reader.csv(places, header=True)


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    try:
        figures = []
        for label, (form, written) in FORMS.items():
            file = SCRATCH / f"{label.replace(' ', '-')}.{form}"
            _write(file, written)
            figures += _ratios(label, form, file, BAR)
            with _only_spark():
                figures += _ratios(f"{label}, Spark alone", form, file, SPARK_BAR)
        return figures
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)


def _write(file: Path, form: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    connection = duckdb.connect()
    try:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(CHANCE)
        query = f"SELECT {', '.join(KINDS)} FROM ({select_orders(0, ROWS)})"
        connection.execute(f"COPY ({query}) TO '{file}' ({form})")
    finally:
        connection.close()
    print(f"{NAME}: {file.name}: {ROWS:,} rows, {file.stat().st_size / 1e6:.0f} MB", flush=True)


@contextmanager
def _only_spark() -> Iterator[None]:
    """As on a cluster."""
    before = typed_texts.is_local
    typed_texts.is_local = lambda session: False
    try:
        yield
    finally:
        typed_texts.is_local = before


def _ratios(label: str, form: str, file: Path, bar: float) -> list[Figure]:
    folder = SCRATCH / label.replace(" ", "-").replace(",", "")
    client = make_project(folder, TEXT_RULES, form, KINDS)
    worker = create_worker(client.for_worker(), spark_options={})
    rig = Rig(folder, client, worker, spark_session({}, delta=True), form)
    pairs = rig.pairs(file, label, PAIRS, WARM_UP)
    shutil.rmtree(folder, ignore_errors=True)
    ours, theirs = zip(*pairs, strict=True)
    ratios = {kind: pick(ours) / pick(theirs) for kind, pick in _PICKS.items()}
    print(f"  {label}: " + ", ".join(f"{kind} {found:.2f}x" for kind, found in ratios.items()))
    note = SPARK_JSON if (form, bar) == ("jsonl", SPARK_BAR) else ""
    name = f"{label}: guarded run / Spark's read and append"
    return [
        Figure(name, max(ratios.values()), "x", bar, note=note),
        Figure(f"{label}: ratio of medians", ratios["medians"], "x"),
        Figure(f"{label}: ratio of minima", ratios["minima"], "x"),
        Figure(f"{label}: guarded run", statistics.median(ours), "s"),
        Figure(f"{label}: Spark's read and append", statistics.median(theirs), "s"),
    ]


_PICKS: dict[str, Callable[[tuple[float, ...]], float]] = {
    "medians": statistics.median,
    "minima": min,
}
