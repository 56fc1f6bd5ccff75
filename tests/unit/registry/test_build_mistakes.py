"""Errors in name, build, load and parents of a dataset: code, place and message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import BRONZE, GOLD, SILVER

MISTAKES = [
    Case(
        "no build",
        SILVER,
        SILVER[: SILVER.index("columns:")],
        "«dataset»: silver.orders\nowner: sales\ndomain: shop\n",
        "LG-2003",
        "source or build",
    ),
    Case(
        "both builds",
        BRONZE,
        "source: orders",
        "source: orders\n«build»: {sql: sql/orders.sql}",
        "LG-2004",
        "not both",
    ),
    Case(
        "load without its keys",
        SILVER,
        "columns:",
        "load: {type: «INCREMENTAL»}\ncolumns:",
        "LG-2004",
        "INCREMENTAL needs keys",
    ),
    Case(
        "short load without its keys",
        SILVER,
        "columns:",
        "load: «SCD2»\ncolumns:",
        "LG-2004",
        "SCD2 needs keys",
    ),
    Case(
        "key that is no column",
        SILVER,
        "columns:",
        "load: {type: CDC, keys: [«order_ix»]}\ncolumns:",
        "LG-2014",
        "did you mean order_id?",
    ),
    Case(
        "watermark that is no column",
        SILVER,
        "columns:",
        "load: {type: FULL, watermark: «at»}\ncolumns:",
        "LG-2014",
        "no column 'at'",
    ),
    Case(
        "partition that is no column",
        SILVER,
        "columns:",
        "load: {type: PARTITION, partition_by: [amount, «day»]}\ncolumns:",
        "LG-2014",
        "no column 'day'",
    ),
    Case(
        "key stands twice",
        SILVER,
        "columns:",
        "load: {type: INCREMENTAL, keys: [order_id, «order_id»]}\ncolumns:",
        "LG-2004",
        "duplicate",
    ),
    Case(
        "unknown load key",
        SILVER,
        "columns:",
        "load: {type: FULL, «key»: [order_id]}\ncolumns:",
        "LG-2002",
        "did you mean keys?",
    ),
    Case(
        "unknown hash",
        SILVER,
        "columns:",
        "load: {type: FULL, hash: «ROWHASH»}\ncolumns:",
        "LG-2004",
        "did you mean ROW_HASH?",
    ),
    Case(
        "unknown short load",
        SILVER,
        "columns:",
        "load: «FUL»\ncolumns:",
        "LG-2004",
        "did you mean FULL?",
    ),
    Case(
        "unknown schema key",
        SILVER,
        "columns:",
        "schema: {«profil»: BACKWARD}\ncolumns:",
        "LG-2002",
        "did you mean profile?",
    ),
    Case(
        "odd profile",
        SILVER,
        "columns:",
        "schema: {profile: «back-ward»}\ncolumns:",
        "LG-2020",
        "back-ward",
    ),
    Case(
        "odd former name",
        SILVER,
        "columns:",
        "renamed_from: «orders»\ncolumns:",
        "LG-2004",
        "layer.name",
    ),
    Case(
        "odd target",
        SILVER,
        "columns:",
        "target: «Raw»\ncolumns:",
        "LG-2020",
        "'Raw'",
    ),
    Case(
        "source without its name",
        BRONZE,
        "source: orders",
        "source: {«object»: a.csv}",
        "LG-2003",
        "'name'",
    ),
    Case(
        "unknown key of a source",
        BRONZE,
        "source: orders",
        "source: {name: orders, «objekt»: a.csv}",
        "LG-2002",
        "did you mean object?",
    ),
    Case(
        "detail that is a list",
        SILVER,
        "columns:",
        "details: {cores: «[1]»}\ncolumns:",
        "LG-2004",
        "single value",
    ),
    Case(
        "unknown load",
        SILVER,
        "columns:",
        "load: {type: «full»}\ncolumns:",
        "LG-2004",
        "did you mean FULL?",
    ),
    Case("parents are a list", SILVER, "[bronze.orders]", "«bronze.orders»", "LG-2004", "list"),
    Case(
        "twice the parent",
        SILVER,
        "[bronze.orders]",
        "[bronze.orders, «bronze.orders»]",
        "LG-2004",
        "duplicate",
    ),
    Case("parent without layer", SILVER, "[bronze.orders]", "[«orders»]", "LG-2004", "layer.name"),
    Case(
        "parent of no layer",
        SILVER,
        "[bronze.orders]",
        "[«bronz.orders»]",
        "LG-2004",
        "did you mean bronze?",
    ),
    Case(
        "parent above", SILVER, "[bronze.orders]", "[bronze.orders, «gold.revenue»]", "LG-2011", ""
    ),
    Case(
        "silver reads no source",
        SILVER,
        "parents: [bronze.orders]\nbuild: {sql: sql/orders.sql}",
        "source: «orders»",
        "LG-2004",
        "only bronze",
    ),
    Case(
        "a source has no parents",
        BRONZE,
        "source: orders",
        "source: orders\nparents: «[bronze.x]»",
        "LG-2004",
        "cannot have parents",
    ),
    Case(
        "gold without silver", GOLD, "[silver.orders]", "«[gold.other]»", "LG-2009", "at least one"
    ),
    Case(
        "gold from bronze",
        GOLD,
        "[silver.orders]",
        "[silver.orders, «bronze.orders»]",
        "LG-2009",
        "bronze",
    ),
    Case(
        "gold from a source",
        GOLD,
        "parents: [silver.orders]\nbuild: {sql: sql/revenue.sql}",
        "parents: [silver.orders]\nsource: «orders»",
        "LG-2009",
        "source",
    ),
    Case(
        "own parent",
        SILVER,
        "[bronze.orders]",
        "[bronze.orders, «silver.orders»]",
        "LG-2010",
        "silver.orders → silver.orders",
    ),
    Case(
        "unread parent",
        SILVER,
        "[bronze.orders]",
        "[bronze.orders, «bronze.other»]",
        "LG-2019",
        "does not read bronze.other",
    ),
    Case(
        "sql outside", SILVER, "sql/orders.sql", "«../orders.sql»", "LG-2004", "inside the project"
    ),
    Case("absolute sql", SILVER, "sql/orders.sql", "«/etc/passwd.sql»", "LG-2004", "inside"),
    Case("sql of another kind", SILVER, "sql/orders.sql", "«sql/orders.txt»", "LG-2004", ".sql"),
    Case(
        "missing sql",
        SILVER,
        "sql/orders.sql",
        "«sql/order.sql»",
        "LG-2007",
        "did you mean sql/orders.sql?",
    ),
    Case(
        "name and place",
        SILVER,
        "silver.orders",
        "«silver.order»",
        "LG-2004",
        "the file name implies silver.orders",
    ),
    Case("odd name", SILVER, "silver.orders", "«silver.Orders»", "LG-2020", "'Orders'"),
    Case("odd source name", BRONZE, "source: orders", "source: «Or-ders»", "LG-2020", ""),
]
FILES = {BRONZE: "bronze/orders", SILVER: "silver/orders", GOLD: "gold/revenue"}


@pytest.mark.parametrize("case", MISTAKES, ids=str)
def test_a_mistake_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    check(case, f"definitions/{FILES[case.good]}.yaml", tmp_path)
