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
    """One measured value; ``bar`` is the most it may be, None if it is only reported."""

    figure: str
    value: float
    unit: str
    bar: float | None = None
    least: bool = False
    """The bar is the least that it may be."""
    note: str = ""
    """What has to be known to judge the figure."""

    @property
    def ok(self) -> bool:
        if self.bar is None:
            return True
        return self.value >= self.bar if self.least else self.value <= self.bar

    def to_data(self) -> dict[str, object]:
        """For programs; what says nothing is left out."""
        whole = {**asdict(self), "value": round(self.value, 3), "ok": self.ok}
        return {key: value for key, value in whole.items() if key not in _SAID or value}


_SAID = ("least", "note")


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
        "figures": [figure.to_data() for figure in figures],
    }
    (folder / f"{name}.json").write_text(json.dumps(content, indent=2) + "\n")


def show(name: str, figures: list[Figure]) -> None:
    width = max(len(figure.figure) for figure in figures)
    print(f"\n{name} ({machine()})")
    for figure in figures:
        print(f"  {figure.figure:<{width}}  {figure.value:>9.3f} {figure.unit}{_judged(figure)}")
    for figure in figures:
        if figure.note:
            print(f"\n  {figure.figure}:\n    {figure.note}")


def _judged(figure: Figure) -> str:
    if figure.bar is None:
        return ""
    side = "at least " if figure.least else ""
    return f"   bar {side}{figure.bar:g}   {'ok' if figure.ok else 'MISSED'}"
