"""Errors in the keys, columns and rules of a dataset: code, place and message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import BRONZE, SILVER

MISTAKES = [
    Case("unknown key", BRONZE, "owner:", "«ownr»:", "LG-2002", "did you mean owner?"),
    Case(
        "key of another place",
        BRONZE,
        "owner:",
        "«partition_by»: [id]\nowner:",
        "LG-2002",
        "it belongs under load",
    ),
    Case(
        "unknown column key", BRONZE, "required", "«requird»", "LG-2002", "did you mean required?"
    ),
    Case(
        "no owner",
        BRONZE,
        "dataset: bronze.orders\nowner: sales",
        "«dataset»: bronze.orders",
        "LG-2003",
        "'owner' is required",
    ),
    Case("empty domain", BRONZE, "domain: shop", "«domain»:", "LG-2003", "'domain'"),
    Case(
        "no columns",
        BRONZE,
        BRONZE[BRONZE.index("columns:") :],
        "«columns»: {}\n",
        "LG-2003",
        "'columns'",
    ),
    Case("no column type", BRONZE, "type: string, required", "«required»", "LG-2003", "'type'"),
    Case(
        "column without mapping",
        BRONZE,
        "{type: string, required: true}",
        "«string»",
        "LG-2004",
        "write a mapping",
    ),
    Case(
        "flag in quotes",
        BRONZE,
        "required: true",
        'required: «"true"»',
        "LG-2004",
        "without quotes",
    ),
    Case(
        "yes is not true", BRONZE, "required: true", "required: «yes»", "LG-2004", "true or false"
    ),
    Case(
        "duplicate key",
        BRONZE,
        "domain: shop",
        "domain: shop\n«owner»: other",
        "LG-2005",
        "duplicate key 'owner'",
    ),
    Case("duplicate column", BRONZE, "", "  «amount»: {type: long}\n", "LG-2005", "'amount'"),
    Case("unknown rule type", SILVER, "unique(", "«uniqe»(", "LG-2013", "did you mean unique?"),
    Case("rule syntax", BRONZE, "range(min=0)", "range(min=0 «fail»", "LG-2012", ""),
    Case(
        "unknown column",
        SILVER,
        "unique(order_id)",
        "unique(«order_idd»)",
        "LG-2014",
        "did you mean order_id?",
    ),
    Case("senseless rule", BRONZE, "range(min=0)", "range(min=5, max=«1»)", "LG-2015", ""),
    Case(
        "severity against limits",
        SILVER,
        "- unique(order_id)",
        "- {rule: «unique(order_id) fail_if > 5», severity: WARN}",
        "LG-2015",
        "contradicts",
    ),
    Case(
        "claimed rule id",
        SILVER,
        "- unique(order_id)",
        "- unique(order_id)\n  - «unique(order_id) scope batch»",
        "LG-2016",
        "duplicate rule id",
    ),
    Case(
        "required and not_null",
        BRONZE,
        "required: true",
        "required: true, rules: [«not_null»]",
        "LG-2016",
        "duplicate rule id",
    ),
    Case(
        "odd rule id",
        SILVER,
        "- unique(order_id)",
        "- {rule: unique(order_id), id: «A b»}",
        "LG-2004",
        "id",
    ),
    Case(
        "unknown severity",
        SILVER,
        "- unique(order_id)",
        "- {rule: unique(order_id), severity: «WARNING»}",
        "LG-2004",
        "did you mean WARN?",
    ),
    Case(
        "rule cut by a comma",
        BRONZE,
        '["range(min=0)"]',
        "[range(min=0«,» max=1)]",
        "LG-2012",
        "quote the whole rule",
    ),
    Case("rule is a list", SILVER, "- unique(order_id)", "- «[unique]»", "LG-2004", "write a rule"),
    Case(
        "unknown type", BRONZE, "type: double", "type: «doubel»", "LG-2018", "did you mean double?"
    ),
    Case(
        "type cut by a comma",
        BRONZE,
        "{type: double,",
        "{type: «decimal(10»,2), description: x,",
        "LG-2018",
        'quote it: "decimal(10,2)"',
    ),
    Case(
        "nested type cut by a comma",
        BRONZE,
        "{type: double,",
        "{type: «map<string»,array<int>>, description: x,",
        "LG-2018",
        'quote it: "map<string,array<int>>"',
    ),
    Case(
        "unknown type in a nested one",
        BRONZE,
        "type: double",
        'type: «"struct<a: array<strng>>"»',
        "LG-2018",
        "unknown type 'strng'; did you mean string?",
    ),
    Case(
        "nested type that does not end",
        BRONZE,
        "type: double",
        'type: «"array<string"»',
        "LG-2018",
        "unexpected end",
    ),
    Case(
        "rule on a nested column",
        BRONZE,
        '{type: double, rules: ["range(min=0)"]}',
        '{type: array<double>, rules: ["«range»(min=0)"]}',
        "LG-2015",
        "completeness, map_keys, not_null, null and null_drift",
    ),
    Case(
        "field that cannot be seen",
        SILVER,
        "  amount: {type: double}",
        '  «amount»: {type: "struct<`a\\u200bb`: int>"}',
        "LG-2004",
        "printable, without U+200B ZERO WIDTH SPACE",
    ),
    Case(
        "column that cannot be seen",
        SILVER,
        "  amount:",
        '  «"am\\u00a0ount"»:',
        "LG-2004",
        "U+00A0 NO-BREAK SPACE; rename the column at its origin",
    ),
    Case(
        "column that is called as a field",
        SILVER,
        "  amount: {type: double}",
        '  amount: {type: "struct<net: double>"}\n  «amount.net»: {type: double}',
        "LG-2004",
        "'amount.net' and field 'amount.net' are easily confused",
    ),
    Case(
        "fields alike",
        SILVER,
        "  amount: {type: double}",
        '  «amount»: {type: "struct<a: struct<b: int>, `a.b`: int>"}',
        "LG-2004",
        "field 'amount.a.b' and field 'amount.a.b' are easily confused",
    ),
    Case("odd tag", SILVER, "{type: double}", "{type: double, tags: [«PII»]}", "LG-2020", ""),
    Case(
        "twice the tag",
        SILVER,
        "{type: double}",
        "{type: double, tags: [pii, «pii»]}",
        "LG-2004",
        "duplicate tag pii",
    ),
    Case("odd column", SILVER, "  amount:", '  «" amount"»:', "LG-2004", "space"),
    Case("columns alike", SILVER, "  amount:", "  «Order_ID»:", "LG-2004", "easily confused"),
    Case(
        "columns alike in Unicode",
        SILVER,
        "  amount:",
        "  straße: {type: string}\n  «STRASSE»:",
        "LG-2004",
        "easily confused",
    ),
    Case("reserved column", SILVER, "  amount:", "  «Lg_cast_0»:", "LG-2004", "lg_ are reserved"),
    Case("long column", SILVER, "  amount:", f"  «{'a' * 300}»:", "LG-2004", "255"),
    Case(
        "secret anywhere",
        BRONZE,
        "domain: shop",
        "domain: shop\ndescription: «see AKIAABCDEFGHIJKLMNOP»",
        "LG-2021",
        "looks like a secret",
    ),
]


@pytest.mark.parametrize("case", MISTAKES, ids=str)
def test_a_mistake_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    layer = "bronze" if case.good is BRONZE else "silver"
    check(case, f"definitions/{layer}/orders.yaml", tmp_path)
