"""Definitions as nouns, for tests that need no files."""

from __future__ import annotations

from typing import Any

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    Layer,
    LoadType,
    PolicyType,
    SourceFormat,
)
from lakeguard_sdk.model.definitions import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromSource,
    FromSql,
    PolicyDefinition,
    RuleDefinition,
    SourceDefinition,
)


def rule(text: str, **given: Any) -> RuleDefinition:
    return define_rule(parse_rule(text), **{"rule_id": None, "severity": None, **given})


def source(name: str = "orders", **given: Any) -> SourceDefinition:
    return SourceDefinition(
        **{"source": name, "format": SourceFormat.CSV, "path": "data/*.csv", **given}
    )


def policy(name: str = "no_pii", **given: Any) -> PolicyDefinition:
    usual = {"applies_to_layer": Layer.GOLD, "type": PolicyType.PII, "expression": "forbid tag:pii"}
    return PolicyDefinition(**{"policy": name, **usual, **given})


def dataset(name: str, *parents: str, **given: Any) -> DatasetDefinition:
    """Bronze reads the source ``orders``; the others select from all of their parents."""
    address = DatasetName(name)
    tables = ", ".join(f"{parent} p{i}" for i, parent in enumerate(parents))
    build = FromSql(file=f"sql/{address.name}.sql", text=f"select p0.* from {tables}\n")
    usual: dict[str, Any] = {
        "domain": "shop",
        "owner": "sales",
        "parents": tuple(DatasetName(parent) for parent in parents),
        "build": build if parents else FromSource(source="orders"),
        "load": LoadType.FULL,
        "columns": (
            ColumnDefinition(name="order_id", type="string"),
            ColumnDefinition(name="amount", type="double", tags=("money", "net")),
        ),
        "rules": (rule("unique(order_id)"), rule("range(amount, min=0)")),
    }
    return DatasetDefinition(dataset=address, **{**usual, **given})


def shop(**changed: Any) -> Definitions:
    return Definitions(
        sources=changed.get("sources", (source(),)),
        datasets=changed.get(
            "datasets",
            (
                dataset("gold.revenue", "silver.orders"),
                dataset("silver.orders", "bronze.orders"),
                dataset("bronze.orders"),
            ),
        ),
        policies=changed.get("policies", (policy(),)),
    )
