"""``python -m tests.runtimes.json_lines FOLDER``: what becomes of a source of JSON lines."""

from __future__ import annotations

import sys
from pathlib import Path

import openlaketx
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import connect
from tests.runtimes.program import session

_DEFINITION = """dataset: bronze.prices
owner: tests
domain: shop
source: prices
load: FULL
columns: {price: {type: string}}
"""


def main(folder: Path) -> str:
    """The code and the message of the run's failure."""
    for place in ("definitions/sources", "definitions/bronze"):
        (folder / place).mkdir(parents=True)
    (folder / "lakeguard.toml").write_text("[env.dev]\n")
    source = "source: prices\nformat: jsonl\npath: prices.jsonl\n"
    (folder / "definitions/sources/prices.yaml").write_text(source)
    (folder / "definitions/bronze/prices.yaml").write_text(_DEFINITION)
    (folder / "prices.jsonl").write_text('{"price": 1.10}\n')
    registry = connect(folder).registry
    registry.apply(registry.plan(load_folder(folder)))
    failed = openlaketx.connect(folder).run("bronze.prices", session("local[1]")).run.error
    return f"{failed.code} {failed.message}" if failed else "published"


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))  # noqa: T201
