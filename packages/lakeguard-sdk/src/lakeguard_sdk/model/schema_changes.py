"""Classes of schema differences, and the reactions to them."""

from __future__ import annotations

from enum import StrEnum


class SchemaChange(StrEnum):
    """Class of difference from the declared to the found schema."""

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
    """Reaction to a difference."""

    ACCEPT = "ACCEPT"
    """The table adopts the found schema, as far as it differs."""
    ACCEPT_CAST = "ACCEPT_CAST"
    """The table is unchanged; values are cast, and a failing cast fails the run."""
    LEFT_OUT = "LEFT_OUT"
    """The table is unchanged; the column is dropped from the batch."""
    QUARANTINE_ROW = "QUARANTINE_ROW"
    """The table is unchanged; values are cast, and rows with failing casts are quarantined."""
    BLOCK = "BLOCK"
    """Nothing is staged."""


class ColumnOrigin(StrEnum):
    """Origin of a column in a definition."""

    DECLARED = "declared"
    DRIFT = "drift"
    """Found by a run and accepted by its profile, until a person declares or drops it."""
