"""Figures against their bars, printed and kept."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
SCRATCH = Path(__file__).parent / "scratch"


@dataclass(frozen=True)
class Figure:
    """One measured value; ``bar`` is the most it may be, None where it is only told."""

    figure: str
    value: float
    unit: str
    bar: float | None = None

    @property
    def ok(self) -> bool:
        return self.bar is None or self.value <= self.bar


def machine() -> str:
    """What a reader needs to judge the figures; nothing that names the machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [f"{package} {version(package)}" for package in ("pyspark", "deltalake", "duckdb")]
    return (
        f"{len(os.sched_getaffinity(0))} cores, {memory:.0f} GB, {platform.system()},"
        f" Python {platform.python_version()}, {', '.join(parts)}"
    )


def keep(name: str, figures: list[Figure], folder: Path = RESULTS) -> None:
    """Writes ``results/<name>.json``."""
    folder.mkdir(exist_ok=True)
    content = {
        "name": name,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "figures": [
            {**asdict(figure), "value": round(figure.value, 3), "ok": figure.ok}
            for figure in figures
        ],
    }
    (folder / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n")


def show(name: str, figures: list[Figure]) -> None:
    width = max(len(figure.figure) for figure in figures)
    print(f"\n{name} ({machine()})")
    for figure in figures:
        bar = (
            ""
            if figure.bar is None
            else f"   bar {figure.bar:g}   {'ok' if figure.ok else 'MISSED'}"
        )
        print(f"  {figure.figure:<{width}}  {figure.value:>9.3f} {figure.unit}{bar}")
