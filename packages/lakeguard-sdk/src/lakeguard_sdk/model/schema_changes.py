"""How a schema can differ from the approved one, and what can be answered to it."""

from __future__ import annotations

from enum import StrEnum


class SchemaChange(StrEnum):
    """One class of difference; what is approved changes into what was found."""

    ADD_NULLABLE = "ADD_NULLABLE"
    ADD_REQUIRED = "ADD_REQUIRED"
    DROP_NULLABLE = "DROP_NULLABLE"
    DROP_REQUIRED = "DROP_REQUIRED"
    RENAME = "RENAME"
    CASE_RENAME = "CASE_RENAME"
    WIDEN = "WIDEN"
    NARROW = "NARROW"
    DECIMAL_SIZE = "DECIMAL_SIZE"
    TIMEZONE = "TIMEZONE"
    INCOMPATIBLE_TYPE = "INCOMPATIBLE_TYPE"
    RELAX_NULLABILITY = "RELAX_NULLABILITY"
    TIGHTEN_NULLABILITY = "TIGHTEN_NULLABILITY"
    REORDER = "REORDER"
    NESTED_ADD = "NESTED_ADD"
    NESTED_DROP = "NESTED_DROP"
    NESTED_CASE_RENAME = "NESTED_CASE_RENAME"
    NESTED_WIDEN = "NESTED_WIDEN"
    NESTED_NARROW = "NESTED_NARROW"
    NESTED_TYPE = "NESTED_TYPE"
    KEY_CHANGE = "KEY_CHANGE"
    PARTITION_CHANGE = "PARTITION_CHANGE"
    COMMENT = "COMMENT"
    TAG = "TAG"


class Reaction(StrEnum):
    """What is done about a difference."""

    ACCEPT = "ACCEPT"
    """The table becomes what was found, as far as that changes it."""
    ACCEPT_CAST = "ACCEPT_CAST"
    """The table stays; values are cast, and one that cannot be fails the run."""
    LEFT_OUT = "LEFT_OUT"
    """The table stays, and the column does not get into it."""
    QUARANTINE_ROW = "QUARANTINE_ROW"
    """The table stays; values are cast, and rows with one that cannot be go aside."""
    BLOCK = "BLOCK"
    """Nothing is staged."""


class ColumnOrigin(StrEnum):
    """How a column came into a definition."""

    DECLARED = "declared"
    DRIFT = "drift"
    """A run found it and its profile accepted it; it stays until a person declares or drops it."""
