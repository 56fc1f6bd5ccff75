"""A small shop with every way that rows can take: files, SQL, Python, keys, history, nesting."""

from __future__ import annotations

import shutil
from pathlib import Path

from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk import connect

BUILT = ("bronze.orders", "silver.orders", "silver.tiers", "gold.customers")
DAYS = (1, 2)
_SHOP = Path(__file__).with_name("shop")


def make_shop(folder: Path) -> None:
    """All definitions, applied; nothing has landed yet."""
    shutil.copytree(_SHOP, folder)
    (folder / "landed").mkdir()
    registry = connect(folder).registry
    registry.apply(registry.plan(load_folder(folder)))


def land(folder: Path, day: int) -> None:
    name = f"day-{day}.csv"
    shutil.copyfile(folder / "arriving" / name, folder / "landed" / name)
