"""A project with one dataset: bronze orders, appended from files, under twelve rules."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from bench.orders import COLUMNS, RULES
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import Client, DatasetName, connect

DATASET = DatasetName("bronze.orders")


def make_project(
    folder: Path,
    rules: tuple[str, ...] = RULES,
    form: str = "parquet",
    kinds: Mapping[str, str] = COLUMNS,
    *,
    settings: str = "",
    path: str = "",
) -> Client:
    """The control plane of a fresh project, everything applied."""
    (folder / "definitions" / "bronze").mkdir(parents=True)
    (folder / "definitions" / "sources").mkdir()
    (folder / "lakeguard.toml").write_text(f"[env.dev]\n{settings}")
    (folder / "definitions" / "sources" / "orders.yaml").write_text(
        f"source: orders\nformat: {form}\npath: {path or f'landing/*.{form}'}\n"
    )
    columns = "".join(f"  {name}: {{type: '{kind}'}}\n" for name, kind in kinds.items())
    listed = "".join(f'  - "{rule}"\n' for rule in rules)
    (folder / "definitions" / "bronze" / "orders.yaml").write_text(
        f"dataset: {DATASET}\nowner: bench\ndomain: shop\nsource: orders\nload: {{type: APPEND}}\n"
        f"columns:\n{columns}rules:\n{listed}"
    )
    client = connect(folder)
    client.registry.apply(client.registry.plan(load_folder(folder)))
    return client


def land(folder: Path, file: Path, number: int) -> Path:
    """The same rows as a new file."""
    landed = folder / "landing" / f"orders-{number:04d}{file.suffix}"
    landed.parent.mkdir(exist_ok=True)
    shutil.copyfile(file, landed)
    return landed
