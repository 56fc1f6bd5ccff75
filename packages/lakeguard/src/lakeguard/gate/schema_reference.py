"""The reference of differences of schema, out of the table that answers them.

``python -m lakeguard.gate.schema_reference > docs/schema-changes.md``; a test compares.
"""

from __future__ import annotations

import sys

from lakeguard.gate.schema_profiles import BUILT_IN, FLAGS, POSSIBLE
from lakeguard_sdk.schema_words import Reaction, SchemaChange

_MEANS = {
    SchemaChange.ADD_NULLABLE: "a column that is not declared",
    SchemaChange.ADD_REQUIRED: "the same, and its source says that it is never NULL",
    SchemaChange.DROP_NULLABLE: "a declared column is not there",
    SchemaChange.DROP_REQUIRED: "the same, and it is declared `required` or `nullable: false`",
    SchemaChange.RENAME: "one column is gone, and a new one of its type has a name like it",
    SchemaChange.CASE_RENAME: "a name differs in upper and lower case alone",
    SchemaChange.WIDEN: "a type became a wider one, along the arrows below",
    SchemaChange.NARROW: "a type whose every value the declared one holds",
    SchemaChange.DECIMAL_SIZE: "a decimal of which neither size holds the other",
    SchemaChange.TIMEZONE: "`timestamp` and `timestamp_ntz`",
    SchemaChange.INCOMPATIBLE_TYPE: "any other type",
    SchemaChange.RELAX_NULLABILITY: "NULL can be there, and is declared `nullable: false`",
    SchemaChange.TIGHTEN_NULLABILITY: "the source says never NULL, and the definition does not",
    SchemaChange.REORDER: "columns stand in another order",
    SchemaChange.NESTED_ADD: "a field of a struct that is not declared",
    SchemaChange.NESTED_DROP: "a declared field of a struct is not there",
    SchemaChange.NESTED_CASE_RENAME: "the name of a field differs in case alone",
    SchemaChange.NESTED_WIDEN: "a part of a struct, array or map became wider",
    SchemaChange.NESTED_NARROW: "a part of one became narrower",
    SchemaChange.NESTED_TYPE: "a part of one has any other type",
    SchemaChange.KEY_CHANGE: "other keys, or a key that is gone, renamed or wider",
    SchemaChange.PARTITION_CHANGE: "the same of what a table is partitioned by",
    SchemaChange.COMMENT: "a column is described otherwise since the last version",
    SchemaChange.TAG: "a column has other tags since the last version",
}

_DOES = {
    Reaction.ACCEPT: "the table becomes what was found, as far as that changes it: a new column is"
    " added, a type is widened and its files are written again, a column that is gone is NULL in"
    " new rows, a name in another case is read under the declared one",
    Reaction.ACCEPT_CAST: "the table stays; values are cast, and one that cannot be fails the run",
    Reaction.LEFT_OUT: "the table stays, and the column does not get into it; a warning",
    Reaction.QUARANTINE_ROW: "the table stays; values are cast, and rows with one that cannot be"
    " are kept aside and counted; a warning",
    Reaction.BLOCK: "the run is BLOCKED before anything is staged; its schema is kept all the same",
}

_INTRODUCTION = """\
# Changes of schema

<!-- Made by: python -m lakeguard.gate.schema_reference > docs/schema-changes.md -->

Every run compares the schema that it finds with the approved one, which is that of the definition,
before anything is staged. Each difference has a class, and the dataset's profile answers it:

```yaml
schema: {profile: BACKWARD, leave_out: [debug_blob]}
```

Both the schema and every difference are kept, of refused runs as well: `schema_history` and
`schema_change_log`. `lakeguard schema diff DATASET` shows what each profile would say,
`lakeguard schema approve DATASET --reason WHY` declares what was seen.

A `SCHEMA` [policy](policies.md) outranks every profile: what its mode blocks is blocked.
`leave_out` names columns that never get into the table. Names are compared exactly, and fields of
structs like columns. From CSV and JSON lines every plain type is read out of text, so that a text
there is no difference of type.
"""

_TYPES = """\
## How types widen

```
byte → short → integer → long
float → double
decimal(p,s) → decimal(p+a,s+b) with a ≥ b ≥ 0
date → timestamp_ntz
```

A whole number becomes a `decimal` or a `double` only where a person declares it; then narrower
numbers are cast. A table takes `timestamp_ntz` only if it was created with such a column. What a
table is keyed or partitioned by stays as it is.
"""

_DRIFT = """\
## Columns that came with the data

An accepted column, or a wider type, becomes part of the registered definition in the transaction
that publishes it, with `origin: drift`, or `widened_from` and the type that was declared. Files
that lack it do not take it back: `plan` proposes nothing. It is yours once you declare it, and
gone once `leave_out` names it; a load other than FULL cannot drop what is in the table.

A definition that declares a wider type than the table has widens the table with its next run.

## Rows that are kept aside

`<lake>/quarantine/<layer>/<name>/execution_id=<run>` holds them as JSON lines, as they came, each
with `lg_reason`. They are counted in the evidence as rejected. `lakeguard maintain` removes them
`inspection_days` after the run ended; where a policy forbids to keep the batch, they go with it.

## What is not seen

Columns have no default values, lengths of text or collations in definitions, so that a change of
one is none. Whether a column can be NULL is known of Delta sources alone.
"""


def schema_reference() -> str:
    """The page, the same bytes each time for the same table."""
    return "\n".join(
        [_INTRODUCTION, _reactions(), _table(), _TYPES, _flags(), _overrides(), _DRIFT]
    )


def _reactions() -> str:
    rows = [f"| `{reaction}` | {_DOES[reaction]} |" for reaction in Reaction]
    return "\n".join(["## Answers\n", "| answer | means |", "|---|---|", *rows, ""])


def _table() -> str:
    names = list(BUILT_IN)
    head = f"| class | is | {' | '.join(name.upper() for name in names)} |"
    rows = [
        f"| `{change}` | {_MEANS[change]} |"
        f" {' | '.join(BUILT_IN[name][change] for name in names)} |"
        for change in SchemaChange
    ]
    line = "|---|---|" + "---|" * len(names)
    return "\n".join(["## Classes and profiles\n", head, line, *rows, ""])


def _flags() -> str:
    rows = [
        f"| `{flag}` | {', '.join(f'`{change}`: {answer}' for change, answer in opens.items())} |"
        for flag, opens in FLAGS.items()
    ]
    said = (
        "A profile of your own has flags. What no flag opens is blocked, but for REORDER, COMMENT"
        " and TAG.\n"
    )
    return "\n".join(
        ["## Profiles of your own\n", said, "| flag | opens |", "|---|---|", *rows, ""]
    )


def _overrides() -> str:
    said = (
        "`reactions` answer single classes, whatever the flags say: `reactions: {widen: BLOCK}`."
        " Possible are:\n"
    )
    rows = [
        f"| `{change}` | {', '.join(possible)} |"
        for change, possible in POSSIBLE.items()
        if len(possible) > 1
    ]
    return "\n".join([said, "| class | answers |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    sys.stdout.write(schema_reference())
