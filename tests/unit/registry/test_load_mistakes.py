"""Errors in loads: fields without effect, and columns of the wrong type."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import (
    SHOP,
    SILVER,
    load,
    mistakes,
)

FILE = "definitions/silver/orders.yaml"
TYPED = SILVER.replace(
    "  amount: {type: double}\n",
    "  amount: {type: double}\n  day: {type: date}\n  at: {type: timestamp}\n"
    "  local: {type: timestamp_ntz}\n  step: {type: long}\n  paid: {type: boolean}\n",
)
CDC = "{type: CDC, keys: [order_id], operation: op, order_by: [step]}"


def case(name: str, given: str, code: str, says: str) -> Case:
    """``said`` is the load, with marks around what is wrong."""
    return Case(name, TYPED, "columns:", f"load: {given}\ncolumns:", code, says)


NEEDS = [
    case("cdc without operation", "{type: «CDC», keys: [order_id], order_by: [step]}", "LG-2004",
         "CDC needs operation"),
    case("cdc without order", "{type: «CDC», keys: [order_id], operation: op}", "LG-2004",
         "CDC needs order_by"),
    case("partition without columns", "«PARTITION»", "LG-2004", "PARTITION needs partition_by"),
    case("hash without keys", "{type: FULL, hash: «KEY_HASH»}", "LG-2004", "KEY_HASH needs keys"),
    case("order without keys", "{type: APPEND, order_by: «[step]»}", "LG-2004", "needs keys"),
    case("lag without watermark", "{type: APPEND, keys: [order_id], lag: «2 days»}", "LG-2004",
         "without a watermark"),
    case("inclusive without watermark",
         "{type: INCREMENTAL, keys: [order_id], inclusive: «true»}", "LG-2004",
         "without a watermark"),
    case("late without watermark", "{type: FULL, late: «skip»}", "LG-2004", "without a watermark"),
]  # fmt: skip
NO_USE = [
    case("operation of another load", "{type: FULL, operation: «op»}", "LG-2004",
         "operation applies to CDC and SCD2 only, not to FULL"),
    case("effective of another load", CDC[:-1] + ", effective: «at»}", "LG-2004",
         "effective applies to SCD2 only"),
    case("soft deletes of another load",
         "{type: SCD2, keys: [order_id], deletes: «soft»}", "LG-2004",
         "deletes: soft applies to SNAPSHOT and CDC only, not to SCD2"),
    case("empty of another load", "{type: FULL, allow_empty: «true»}", "LG-2004",
         "allow_empty applies to SNAPSHOT only"),
]  # fmt: skip
DOUBLED = [
    case("inclusive append", "{type: APPEND, watermark: at, inclusive: «true»}", "LG-2035",
         "rows would be duplicated"),
    case("append with a lag", "{type: APPEND, watermark: at, lag: «2 days»}", "LG-2035", "keys"),
    case("append of rows without watermark",
         "{type: APPEND, watermark: at, null_watermark: «load»}", "LG-2035", "keys"),
]  # fmt: skip
COLUMNS = [
    case("unknown order", "{type: APPEND, keys: [order_id], order_by: [«stp»]}", "LG-2014",
         "did you mean step?"),
    case("unknown effective", "{type: SCD2, keys: [order_id], effective: «since»}", "LG-2014",
         "no column 'since'"),
    case("effective number", "{type: SCD2, keys: [order_id], effective: «step»}", "LG-2004",
         "step is long"),
    case("effective without a zone", "{type: SCD2, keys: [order_id], effective: «local»}",
         "LG-2004", "local is timestamp_ntz"),
    case("watermark flag", "{type: APPEND, watermark: «paid»}", "LG-2004", "paid is boolean"),
    case("key that is not exact", "{type: INCREMENTAL, keys: [order_id, «amount»]}", "LG-2004",
         "amount is double"),
    case("operation that is no text",
         "{type: CDC, keys: [order_id], operation: «paid», order_by: [step]}", "LG-2004",
         "paid is boolean"),
    case("operation like a column",
         "{type: CDC, keys: [order_id], operation: «Paid», order_by: [step]}", "LG-2004",
         "easily confused"),
    case("operation that the load writes",
         "{type: CDC, keys: [order_id], operation: «is_deleted», order_by: [step],"
         " deletes: soft}", "LG-2036", "is_deleted"),
    case("order twice", "{type: APPEND, keys: [order_id], order_by: [step, «step»]}", "LG-2004",
         "duplicate column step"),
]  # fmt: skip
LAGS = [
    case("no lag", "{type: APPEND, keys: [order_id], watermark: at, lag: «two days»}", "LG-2004",
         "invalid lag"),
    case("endless lag",
         "{type: APPEND, keys: [order_id], watermark: at, lag: «999999999999 days»}", "LG-2004",
         "invalid lag"),
    case("number before a time",
         "{type: APPEND, keys: [order_id], watermark: at, lag: «5»}", "LG-2004",
         "write a duration"),
    case("time before a number",
         "{type: APPEND, keys: [order_id], watermark: step, lag: «2 days»}", "LG-2004",
         "write a whole number"),
    case("part of a day", "{type: APPEND, keys: [order_id], watermark: day, lag: «36 hours»}",
         "LG-2004", "whole days"),
    case("lag of a text",
         "{type: APPEND, keys: [order_id], watermark: order_id, lag: «5»}", "LG-2004",
         "order_id is a string"),
]  # fmt: skip
WORDS = [
    case("unknown deletes", CDC[:-1] + ", deletes: «sft»}", "LG-2004", "did you mean soft?"),
    case("unknown late rows", "{type: FULL, late: «drop»}", "LG-2004", "write load or skip"),
    case("unknown null watermark", "{type: FULL, null_watermark: «ignore»}", "LG-2004",
         "refuse, skip or load"),
    case("flag in quotes", "{type: SNAPSHOT, keys: [order_id], allow_empty: «'true'»}", "LG-2004",
         "without quotes"),
    case("order is a list", "{type: APPEND, keys: [order_id], order_by: «step»}", "LG-2004",
         "list"),
]  # fmt: skip


@pytest.mark.parametrize("mistake", [*NEEDS, *NO_USE, *DOUBLED, *COLUMNS, *LAGS, *WORDS], ids=str)
def test_a_mistake_is_told_where_it_stands(mistake: Case, tmp_path: Path) -> None:
    check(mistake, FILE, tmp_path)


@pytest.mark.parametrize(
    ("given", "column"),
    [
        ("{type: FULL, hash: ROW_HASH}", "row_hash"),
        ("{type: FULL, hash: KEY_HASH, keys: [order_id]}", "Key_Hash"),
        ("{type: SCD2, keys: [order_id]}", "valid_to"),
        ("{type: SNAPSHOT, keys: [order_id], deletes: soft}", "deleted_at"),
    ],
)
def test_a_column_that_the_load_writes(given: str, column: str, tmp_path: Path) -> None:
    text = TYPED.replace("columns:", f"load: {given}\ncolumns:\n  {column}: {{type: string}}")
    (error,) = mistakes(tmp_path, {**SHOP, FILE: text})
    assert (error.code, error.place.line) == ("LG-2036", 8)
    assert column in str(error)


@pytest.mark.parametrize(
    "given",
    [
        CDC,
        CDC[:-1] + ", deletes: soft, hash: ROW_HASH, skip_unchanged: true}",
        "{type: SCD2, keys: [order_id], effective: day, operation: op, order_by: [at]}",
        "{type: SNAPSHOT, keys: [order_id], deletes: soft, allow_empty: true}",
        "{type: APPEND, keys: [order_id], watermark: at, lag: 30 minutes, inclusive: true}",
        "{type: INCREMENTAL, keys: [order_id], watermark: step, lag: 100, null_watermark: load}",
        "{type: APPEND, watermark: order_id, null_watermark: skip, late: skip}",
        "{type: APPEND, keys: [order_id], watermark: day, lag: 48 hours}",
        "{type: PARTITION, partition_by: [day]}",
    ],
)
def test_what_fits_together_is_taken(given: str, tmp_path: Path) -> None:
    files = {**SHOP, FILE: TYPED.replace("columns:", f"load: {given}\ncolumns:")}
    assert mistakes(tmp_path, files) == ()


def test_every_field_is_read(tmp_path: Path) -> None:
    text = (
        "{type: CDC, keys: [order_id], hash: ROW_HASH, watermark: at, lag: 2 days,"
        " inclusive: true, null_watermark: skip, late: skip, order_by: [step, at], operation: op,"
        " deletes: soft, skip_unchanged: true, partition_by: [day]}"
    )
    files = {**SHOP, FILE: TYPED.replace("columns:", f"load: {text}\ncolumns:")}
    (found,) = (d.load for d in load(tmp_path, files).datasets if d.dataset == "silver.orders")
    assert found.to_data() == {
        "type": "CDC",
        "keys": ["order_id"],
        "hash": "ROW_HASH",
        "watermark": "at",
        "lag": "2 days",
        "inclusive": True,
        "null_watermark": "skip",
        "late": "skip",
        "order_by": ["step", "at"],
        "operation": "op",
        "effective": "",
        "deletes": "soft",
        "allow_empty": False,
        "skip_unchanged": True,
        "partition_by": ["day"],
    }


def test_a_rule_may_name_what_the_load_writes(tmp_path: Path) -> None:
    rules = "  - not_null(valid_from)\n  - not_null(order_id) where is_current = true\n"
    text = TYPED.replace("columns:", "load: {type: SCD2, keys: [order_id]}\ncolumns:")
    assert mistakes(tmp_path / "good", {**SHOP, FILE: text + rules}) == ()
    (error, *_) = mistakes(tmp_path / "bad", {**SHOP, FILE: TYPED + rules})
    assert error.code == "LG-2014"


@pytest.mark.parametrize(
    ("given", "others"),
    [
        ("{type: CDC, late: drop, hash: NO}", ["keys", "operation", "order_by"]),
        ("{type: CDC, keys: order_id, deletes: sft}", ["operation", "order_by"]),
        ("{type: SCD2, keys: [ordr_id], wrong: 1, effective: step}", ["ordr_id", "step is long"]),
        (
            "{type: APPEND, watermark: [at], inclusive: true, lag: soon}",
            ["duplicated", "invalid lag"],
        ),
        ("{type: PARTITION, partition_by: day, operation: op}", ["operation applies to"]),
    ],
)
def test_a_field_that_cannot_be_read_hides_no_other_mistake(
    given: str, others: list[str], tmp_path: Path
) -> None:
    files = {**SHOP, FILE: TYPED.replace("columns:", f"load: {given}\ncolumns:")}
    described = [str(error) for error in mistakes(tmp_path, files)]
    assert all(any(word in text for text in described) for word in others), described


@pytest.mark.parametrize(
    ("given", "missed"),
    [
        ("{type: INCREMENTAL, keys: order_id}", "needs keys"),
        ("{type: CDC, keys: [order_id], order_by: step, operation: ''}", "needs"),
        ("{type: APPEND, keys: order_id, watermark: at, lag: 2 days}", "duplicated"),
        (
            "{type: INCREMENTAL, keys: [order_id], watermark: [at], late: skip}",
            "without a watermark",
        ),
    ],
)
def test_what_could_not_be_read_is_not_also_missing(
    given: str, missed: str, tmp_path: Path
) -> None:
    files = {**SHOP, FILE: TYPED.replace("columns:", f"load: {given}\ncolumns:")}
    described = [str(error) for error in mistakes(tmp_path, files)]
    assert described
    assert not any(missed in text for text in described), described


def test_a_mistake_elsewhere_hides_none_of_the_load(tmp_path: Path) -> None:
    text = TYPED.replace("owner: sales", "ownr: sales")
    text = text.replace("columns:", "load: {type: CDC, keys: [ordr_id]}\ncolumns:")
    given = " ".join(str(error) for error in mistakes(tmp_path, {**SHOP, FILE: text}))
    for word in ("'ownr'", "needs operation", "needs order_by", "'ordr_id'"):
        assert word in given
