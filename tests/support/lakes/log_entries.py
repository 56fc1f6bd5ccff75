"""Entries of a Delta log, as tests find and write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def commit_file(log: Path, version: int) -> Path:
    return log / f"{version:020d}.json"


def head_of(log: Path) -> int:
    return max(int(file.stem) for file in log.glob("[0-9]" * 20 + ".json"))


def next_commit(log: Path) -> Path:
    return commit_file(log, head_of(log) + 1)


def foreign_commit(**actions: Any) -> str:
    info = {"timestamp": 1, "operation": "WRITE", "operationParameters": {}}
    found = {"commitInfo": info, **actions}
    return "\n".join(json.dumps({kind: body}) for kind, body in found.items())


def actions_of(log: Path, version: int, kind: str) -> dict[str, Any]:
    lines = commit_file(log, version).read_text().splitlines()
    return next(action[kind] for action in map(json.loads, lines) if kind in action)
