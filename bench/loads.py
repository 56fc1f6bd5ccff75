"""Every way in which a batch becomes part of a table, against the usual way."""

from __future__ import annotations

import shutil

from bench.appends import append_figures
from bench.figures import SCRATCH, Figure
from bench.merges import merge_figures

NAME = "loads"


def run() -> list[Figure]:
    shutil.rmtree(SCRATCH, ignore_errors=True)
    try:
        print(f"{NAME}: merges, history, appends", flush=True)
        return [*merge_figures(), *append_figures()]
    finally:
        shutil.rmtree(SCRATCH, ignore_errors=True)
