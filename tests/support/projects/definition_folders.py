"""Folders of definitions for tests, and the mistakes that reading them brings to light."""

from __future__ import annotations

from pathlib import Path

from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk.errors import DefinitionError, InvalidDefinitions
from lakeguard_sdk.model.definitions import Definitions

SOURCE = "source: orders\nformat: csv\npath: data/*.csv\n"
BRONZE = """\
dataset: bronze.orders
owner: sales
domain: shop
source: orders
columns:
  order_id: {type: string, required: true}
  amount: {type: double, rules: ["range(min=0)"]}
"""
SILVER = """\
dataset: silver.orders
owner: sales
domain: shop
parents: [bronze.orders]
build: {sql: sql/orders.sql}
columns:
  order_id: {type: string}
  amount: {type: double}
rules:
  - unique(order_id)
"""
GOLD = """\
dataset: gold.revenue
owner: sales
domain: shop
parents: [silver.orders]
build: {sql: sql/revenue.sql}
columns:
  amount: {type: double}
"""
POLICY = "policy: no_pii\napplies_to: gold\ntype: PII\nexpression: forbid tag:pii\n"
SHOP = {
    "definitions/sources/orders.yaml": SOURCE,
    "definitions/bronze/orders.yaml": BRONZE,
    "definitions/silver/orders.yaml": SILVER,
    "definitions/gold/revenue.yaml": GOLD,
    "definitions/policies/no_pii.yaml": POLICY,
    "sql/orders.sql": "select order_id, amount from bronze.orders\n",
    "sql/revenue.sql": "select sum(amount) as amount from silver.orders\n",
}


def write_folder(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def load(folder: Path, files: dict[str, str | bytes]) -> Definitions:
    return load_folder(write_folder(folder, files))


def mistakes(folder: Path, files: dict[str, str | bytes]) -> tuple[DefinitionError, ...]:
    """What is wrong with the files; nothing, if they load."""
    try:
        load(folder, files)
    except InvalidDefinitions as invalid:
        return invalid.errors
    return ()


def places_and_codes(errors: tuple[DefinitionError, ...]) -> list[str]:
    """``file:line:column code`` of each."""
    return [f"{error.place} {error.code}" for error in errors]
