"""Mistakes in name, build, load and parents of a dataset: code, place and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worlds.definition_folders import BRONZE, GOLD, SILVER
from tests.worlds.marked_mistakes import Case, check

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
        "schema profile",
        SILVER,
        "columns:",
        "«schema»: {profile: BACKWARD}\ncolumns:",
        "LG-2004",
        "not available yet",
    ),
    Case(
        "rename",
        SILVER,
        "columns:",
        "«renamed_from»: silver.o\ncolumns:",
        "LG-2004",
        "not available yet",
    ),
    Case(
        "python build",
        SILVER,
        "{sql: sql/orders.sql}",
        "{«python»: a:b}",
        "LG-2004",
        "not available yet",
    ),
    Case(
        "later load",
        SILVER,
        "columns:",
        "load: {type: «INCREMENTAL»}\ncolumns:",
        "LG-2004",
        "not available yet",
    ),
    Case(
        "later load key",
        SILVER,
        "columns:",
        "load: {type: FULL, «keys»: [order_id]}\ncolumns:",
        "LG-2004",
        "not available yet",
    ),
    Case(
        "unknown load",
        SILVER,
        "columns:",
        "load: {type: «full»}\ncolumns:",
        "LG-2004",
        "did you mean FULL?",
    ),
    Case(
        "load without mapping",
        SILVER,
        "columns:",
        "load: «FULL»\ncolumns:",
        "LG-2004",
        "{type: FULL}",
    ),
    Case("parents are a list", SILVER, "[bronze.orders]", "«bronze.orders»", "LG-2004", "list"),
    Case(
        "twice the parent",
        SILVER,
        "[bronze.orders]",
        "[bronze.orders, «bronze.orders»]",
        "LG-2004",
        "stands twice",
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
        "no parents",
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
        "the file's place says silver.orders",
    ),
    Case("odd name", SILVER, "silver.orders", "«silver.Orders»", "LG-2020", "'Orders'"),
    Case("odd source name", BRONZE, "source: orders", "source: «Or-ders»", "LG-2020", ""),
]
FILES = {BRONZE: "bronze/orders", SILVER: "silver/orders", GOLD: "gold/revenue"}


@pytest.mark.parametrize("case", MISTAKES, ids=str)
def test_a_mistake_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    check(case, f"definitions/{FILES[case.good]}.yaml", tmp_path)
