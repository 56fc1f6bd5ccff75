"""Schema differences as sentences."""

from __future__ import annotations

from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange

REACTION_WORDS = {
    Reaction.ACCEPT: "accepted",
    Reaction.ACCEPT_CAST: "cast; the run fails if a value does not fit",
    Reaction.LEFT_OUT: "omitted",
    Reaction.QUARANTINE_ROW: "rows that cannot be cast are quarantined",
    Reaction.BLOCK: "blocked",
}

_SENTENCES = {
    SchemaChange.ADD_NULLABLE: "column {column} ({found}) is not declared",
    SchemaChange.ADD_REQUIRED: "column {column} ({found}, never NULL) is not declared",
    SchemaChange.DROP_NULLABLE: "column {column} ({declared}) is missing",
    SchemaChange.DROP_REQUIRED: "column {column} ({declared}) is missing, and required",
    SchemaChange.RENAME: "column {column} ({declared}) is missing, and {other} may be its new name",
    SchemaChange.CASE_RENAME: "column {column} is named {other}",
    SchemaChange.RELAX_NULLABILITY: "column {column} may be NULL, declared nullable: false",
    SchemaChange.TIGHTEN_NULLABILITY: "column {column} is never NULL, declared nullable",
    SchemaChange.REORDER: "column {column} has another position",
    SchemaChange.NESTED_ADD: "field {column} ({found}) is not declared",
    SchemaChange.NESTED_DROP: "field {column} ({declared}) is missing",
    SchemaChange.NESTED_CASE_RENAME: "field {column} is spelled with different case",
    SchemaChange.COMMENT: "column {column} has a different description",
    SchemaChange.TAG: "column {column} has different tags: {found}, before {declared}",
}
_TYPE = "column {column} is {found}, declared {declared}"
_CLAUSES = {
    SchemaChange.WIDEN: ", which is wider",
    SchemaChange.NARROW: ", which is narrower",
    SchemaChange.NESTED_WIDEN: ", which is wider",
    SchemaChange.NESTED_NARROW: ", which is narrower",
    SchemaChange.TIMEZONE: ": only one has a time zone",
    SchemaChange.KEY_CHANGE: ", and it is a key of the table",
    SchemaChange.PARTITION_CHANGE: ", and it partitions the table",
}


def change_text(item: SchemaReaction) -> str:
    """The difference, and the reason if it was not the profile that decided."""
    return f"{_sentence(item)} ({item.why})" if item.why else _sentence(item)


def _sentence(item: SchemaReaction) -> str:
    if not item.column:
        noun = "keys" if item.change is SchemaChange.KEY_CHANGE else "partitions"
        return f"the {noun} are {item.found or 'none'}, before {item.declared or 'none'}"
    sentence = _SENTENCES.get(item.change, _TYPE + _CLAUSES.get(item.change, ""))
    return sentence.format(**_words(item))


def _words(item: SchemaReaction) -> dict[str, str]:
    return {
        "column": item.column,
        "found": item.found or ("missing" if item.column else "none"),
        "declared": item.declared or "none",
        "other": item.other,
    }
