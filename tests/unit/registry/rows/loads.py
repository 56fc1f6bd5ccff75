"""Loads INSERT rows over registered definitions and returns the errors."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from lakeguard.registry.rows import read_rows
from lakeguard.registry.rows.assemble import assemble
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk.model.definitions import DatasetDefinition, Definitions, RuleDefinition

NONE = Definitions()
SOURCE = """
INSERT INTO md_src_ctrl (source_id, source_name, enabled) VALUES (1, 'CRM Export', 'Y');
INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES
    (1, 'format', 'CSV'), (1, 'path', 'in/*.csv');
"""
OBJECT = (
    SOURCE
    + """
INSERT INTO source_objects (source_object_id, source_system_id, object_name, layer, owner, domain)
    VALUES (7, '1', 'Customers', 'BRONZE', 'sales', 'shop');
INSERT INTO source_object_columns (source_object_id, column_name, ordinal_position, data_type)
    VALUES (7, 'Customer ID#', 1, 'varchar(20)'), (7, 'Amount', 2, 'double');
"""
)


def loaded(
    text: str, registered: Definitions = NONE, name: str = "rows.sql"
) -> tuple[Definitions, list[str]]:
    """What the rows come to, and the mistakes as ``line:column code words``."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, "utf-8")
        findings = Findings()
        found = assemble(read_rows([path], findings), registered, findings)
    described = [f"{e.place.line}:{e.place.column} {e.code} {e}" for e in findings.errors()]
    return found, described


def good(text: str, registered: Definitions = NONE) -> Definitions:
    found, reported = loaded(text, registered)
    assert reported == []
    return found


def mistakes(text: str, registered: Definitions = NONE) -> list[str]:
    return [given.partition(" ")[2] for given in loaded(text, registered)[1]]


def only_dataset(found: Definitions) -> DatasetDefinition:
    (dataset,) = found.datasets
    return dataset


def rules_of(found: Definitions) -> dict[str, RuleDefinition]:
    return {rule.rule_id: rule for rule in only_dataset(found).rules}
