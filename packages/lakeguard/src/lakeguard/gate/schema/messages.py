"""A difference of schema as a sentence."""

from __future__ import annotations

from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange

REACTION_WORDS = {
    Reaction.ACCEPT: "accepted",
    Reaction.ACCEPT_CAST: "cast, or the run fails",
    Reaction.LEFT_OUT: "left out",
    Reaction.QUARANTINE_ROW: "rows that cannot be cast are quarantined",
    Reaction.BLOCK: "not accepted",
}

_SENTENCES = {
    SchemaChange.ADD_NULLABLE: "column {column} ({found}) is not declared",
    SchemaChange.ADD_REQUIRED: "column {column} ({found}, never NULL) is not declared",
    SchemaChange.DROP_NULLABLE: "column {column} ({declared}) is missing",
    SchemaChange.DROP_REQUIRED: "column {column} ({declared}) is missing, and required",
    SchemaChange.RENAME: "column {column} ({declared}) is missing, and {other} may be its new name",
    SchemaChange.CASE_RENAME: "column {column} is called {other}",
    SchemaChange.RELAX_NULLABILITY: "column {column} may be NULL, declared nullable: false",
    SchemaChange.TIGHTEN_NULLABILITY: "column {column} is never NULL, declared nullable",
    SchemaChange.REORDER: "column {column} stands elsewhere",
    SchemaChange.NESTED_ADD: "field {column} ({found}) is not declared",
    SchemaChange.NESTED_DROP: "field {column} ({declared}) is missing",
    SchemaChange.NESTED_CASE_RENAME: "field {column} is spelled in another case",
    SchemaChange.COMMENT: "column {column} is described otherwise",
    SchemaChange.TAG: "column {column} has other tags: {found}, before {declared}",
}
_TYPE = "column {column} is {found}, declared {declared}"
_CLAUSES = {
    SchemaChange.WIDEN: ", which is wider",
    SchemaChange.NARROW: ", which is narrower",
    SchemaChange.NESTED_WIDEN: ", which is wider",
    SchemaChange.NESTED_NARROW: ", which is narrower",
    SchemaChange.TIMEZONE: ": one has a time zone",
    SchemaChange.KEY_CHANGE: ", and the table is keyed by it",
    SchemaChange.PARTITION_CHANGE: ", and the table is partitioned by it",
}


def change_text(item: SchemaReaction) -> str:
    """What differs, and what else than the profile answered it."""
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
