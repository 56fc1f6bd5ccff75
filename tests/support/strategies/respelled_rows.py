"""Rows that mean the same as those of an export, with every value in another form."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from lakeguard.registry.rows import Row
from lakeguard.registry.rows.source_text import SourceText, Span
from lakeguard.registry.rows.tables import TABLES
from lakeguard.registry.rows.texts import clean_word
from lakeguard.registry.rows.write_rows import Written, cell_text
from lakeguard.registry.text.characters import flag_of

NOWHERE = SourceText("rows.csv", "-", "CSV")
TRUE = ("TRUE", "true", "1", "y", "Yes", "t", "ENABLED", "Active")
FALSE = ("FALSE", "false", "0", "n", "No", "f", "DISABLED", "Inactive")
FLAGS = {
    "active", "enabled", "dq_enabled", "is_nullable", "source_nullable", "allow_column_drop",
    "allow_type_widen", "allow_type_narrow", "allow_nullable_change", "auto_add_columns",
}  # fmt: skip
ALIASES = {"FAIL": "Error", "WARN": "Warning"}
SEVERITIES = {"severity", "dq_severity", "dq_fail_behavior"}
WORDS = {
    "layer", "schema", "applies_to_layer", "policy_type", "enforcement", "load_type",
    "hash_strategy", "build_type", "origin", "status", "rule_type", *SEVERITIES,
}  # fmt: skip
NAMES = {
    "profile_name", "rule_name", "source_name", "target_name", "job_name", "table_name",
    "schema_compat_profile", "target_type", "zone", "relationship_type", "job_type",
    "applies_to_tag",
}  # fmt: skip
TEXTS = {"description", "owner", "domain", "database", "location", "profile_every"}
JSON = {"columns", "details", "load_settings", "parents", "leave_out", "business_keys", "tags"}
SWITCHES = ("md_jobs", "md_tgt_ctrl")
"""Tables whose status is a flag."""


def spellings(table: str, column: str, text: str) -> list[str]:
    """Texts that mean the same in this column, the text itself first."""
    if column in FLAGS or (column == "status" and table in SWITCHES):
        return [text, *(TRUE if flag_of(text) else FALSE)]
    if column in WORDS:
        alias = [ALIASES[text]] if column in SEVERITIES and text in ALIASES else []
        return [text, text.lower(), text.upper(), text.title(), *alias]
    if column in NAMES:
        names = [text.upper(), text.replace("_", " ").title(), f" {text}", text.replace("_", "-")]
        return [text, *(name for name in names if clean_word(name.strip()) == text)]
    if column in TEXTS:
        return [text, f" {text}", f"{text}  "]
    if column in JSON and text:
        return [text, json.dumps(json.loads(text), indent=1)]
    return [text]


@st.composite
def respelled(draw: st.DrawFn, tables: dict[str, list[Written]]) -> list[Row]:
    found = []
    for table, rows in tables.items():
        for row in rows:
            values: dict[str, str | None] = {}
            for column in TABLES[table]:
                text = cell_text(row.get(column))
                known = [None] if text is None else spellings(table, column, text)
                values[column] = draw(st.sampled_from(known))
            spans = [Span(0, 1)] * len(values)
            found.append(Row(table, values, NOWHERE, Span(0, 1), spans, spans))
    return found
