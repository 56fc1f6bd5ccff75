"""Texts nested 10,000 deep or 100,000 long give an error with a code and a place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakeguard.gate.evaluation.stability import read_spread
from lakeguard.gate.typecheck.scalars import NotAValue
from lakeguard.registry.sql.sql_builds import check_sql
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.errors import NoteRefused
from lakeguard_sdk.model.delta_log import parse_commit
from lakeguard_sdk.model.evidence import checked_notes
from lakeguard_sdk.types.schema import TableSchema
from tests.support.projects.definition_folders import BRONZE, POLICY, SHOP, SILVER, mistakes
from tests.unit.registry.rows import row_files

DEEP, LONG = 10_000, 100_000
FITS = 700
"""Repetitions that stay below the length of a rule, so that its depth is what is refused."""


def nested(opened: str, inner: str, closed: str, times: int = DEEP) -> str:
    return opened * times + inner + closed * times


def chain(item: str, by: str, times: int = LONG) -> str:
    return by.join([item] * times)


CONDITIONS = {
    "parentheses": lambda n: nested("(", "amount > 1", ")", n),
    "not": lambda n: nested("not ", "amount > 1", "", n),
    "and": lambda n: chain("amount > 1", " and ", n),
    "or": lambda n: chain("amount > 1", " or ", n),
    "sum": lambda n: chain("amount", " + ", n) + " > 1",
    "functions": lambda n: nested("abs(", "amount", ")", n) + " > 1",
    "if": lambda n: nested("if(amount > 1, ", "1", ", 2)", n) + " > 1",
    "fields": lambda n: "amount" + ".a" * n + " > 1",
    "lists": lambda n: "[" * n,
}


@pytest.mark.parametrize("times", [FITS, DEEP])
@pytest.mark.parametrize("kind", CONDITIONS)
def test_rules(tmp_path: Path, kind: str, times: int) -> None:
    text = SILVER + f"  - 'not_null(amount) where {CONDITIONS[kind](times)}'\n"
    (error,) = mistakes(tmp_path, {**SHOP, "definitions/silver/orders.yaml": text})
    assert error.code in ("LG-2012", "LG-2014")
    assert str(error.place).startswith("definitions/silver/orders.yaml:11:")


@pytest.mark.parametrize("times", [FITS, DEEP])
def test_patterns(tmp_path: Path, times: int) -> None:
    pattern = nested("(", "a", ")", times)
    text = SILVER + f"  - \"regex(order_id, '{pattern}')\"\n"
    (error,) = mistakes(tmp_path, {**SHOP, "definitions/silver/orders.yaml": text})
    assert error.code.startswith("LG-201")
    assert str(error.place).startswith("definitions/silver/orders.yaml:11:")


@pytest.mark.parametrize("type_", ["PII", "SLA", "OWNERSHIP", "CHANGE_FREEZE", "NAMING", "SCHEMA"])
@pytest.mark.parametrize(
    "text",
    [nested("(", "a", ")", FITS), nested("not ", "a", ""), "[" * FITS, chain("a", " or ")],
    ids=["parentheses", "not", "lists", "or"],
)
def test_policies(tmp_path: Path, type_: str, text: str) -> None:
    policy = POLICY.replace("PII", type_).replace("forbid tag:pii", f"'{text}'")
    (error,) = mistakes(tmp_path, {**SHOP, "definitions/policies/no_pii.yaml": policy})
    assert error.code == "LG-2017"
    assert str(error.place).startswith("definitions/policies/no_pii.yaml:4:")


@pytest.mark.parametrize(
    "yaml",
    [
        nested("[", "", "]"),
        nested("{a: ", "", "}"),
        "- " * DEEP,
        "? " * DEEP,
        "\n".join(" " * depth + "a:" for depth in range(1_000)),
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
        "a: &a [*a]\n",
        "---\n" * LONG,
        "dataset: " + "x" * (10 * LONG),
        BRONZE + "details: {a: " + nested("[", "", "]") + "}\n",
        BRONZE.replace("double", "'" + nested("array<", "long", ">") + "'"),
        BRONZE.replace("double", "'" + nested("struct<a: ", "long", ">", FITS) + "'"),
        BRONZE.replace("double", "'" + "map<string, " * FITS + "'"),
    ],
    ids=range(13),
)
def test_yaml(tmp_path: Path, yaml: str) -> None:
    file = "definitions/bronze/orders.yaml"
    errors = mistakes(tmp_path, {**SHOP, file: yaml})
    assert any(str(error.place).startswith(f"{file}:") for error in errors)
    assert all(error.code.startswith("LG-20") for error in errors)


SQL = {
    "parentheses": f"select {nested('(', 'a', ')')}",
    "case": f"select {nested('case when a then ', 'a', ' end', FITS)}",
    "functions": f"select {nested('abs(', 'a', ')')}",
    "not": f"select {nested('not ', 'a', '')}",
    "minus": f"select {nested('- ', 'a', '')}",
    "types": f"select cast(a as {nested('array<', 'int', '>')})",
    "fields of types": f"select cast(a as {nested('struct<a: ', 'int', '>')})",
    "indexes": f"select {nested('a[', '1', ']')}",
    "sum": f"select {chain('a', ' + ', DEEP)}",
    "casts": f"select a{'::int' * DEEP}",
    "is null": f"select a{' is null' * DEEP}",
    "and": f"select a where {chain('a > 1', ' and ')}",
    "unions": chain("select a from bronze.x", " union all ", 1_000),
    "joins": f"select a from bronze.x {chain('join bronze.x', ' ', DEEP)}",
    "subqueries": f"select * from {nested('(select * from ', 'bronze.x', ')', 5_000)}",
    "common tables": "with a as (" * DEEP,
    "windows": "select sum(a) over (" * DEEP,
    "max recursion": "with recursive t(n) max recursion level 99999 as (select 1) select n from t",
}


@pytest.mark.parametrize("kind", SQL)
def test_sql(kind: str) -> None:
    text = SQL[kind]
    text = text if "bronze.x" in text else text.replace(" where", " from bronze.x where", 1)
    text = text if "from" in text else f"{text} from bronze.x"
    problems = check_sql(text, frozenset({DatasetName("bronze.x")}))
    assert len(problems) == 1
    assert 0 <= problems[0].offset < len(text)


def test_chains_below_the_limit_are_accepted() -> None:
    for text in (
        f"select {chain('a', ' + ', 400)} as b from bronze.x",
        f"select a from bronze.x where {chain('a > 1', ' or ', 2_000)}",
        chain("select a from bronze.x", " union all ", 300),
    ):
        assert check_sql(text, frozenset({DatasetName("bronze.x")})) == ()


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("t.sql", f"INSERT INTO t (v) VALUES ({nested('(', '1', ')')});"),
        ("t.sql", f"INSERT INTO t (v) VALUES ({nested('CAST(', '1', ' AS int)')});"),
        ("t.sql", f"INSERT INTO t (v) VALUES ({'- ' * DEEP}1);"),
        ("t.json", '{"t": [{"v": ' + nested("[", "", "]") + "}]}"),
        ("t.json", nested('{"t": ', "1", "}")),
        ("t.jsonl", '{"v": ' + nested('{"a": ', "1", "}") + "}"),
    ],
    ids=range(6),
)
def test_rows(file: str, text: str) -> None:
    for mistake in row_files.mistakes(file, text):
        assert re.match(r"1:\d+ LG-\d{4} ", mistake)


def test_evidence() -> None:
    with pytest.raises(NotAValue):
        read_spread(nested("[", "", "]", LONG), "double")
    with pytest.raises(NoteRefused, match="nested too deeply"):
        checked_notes({"a": json_of_depth(DEEP)})


def json_of_depth(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def test_logs_of_delta_tables() -> None:
    deep = nested("[", "", "]", LONG)
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_commit(0, f'{{"add": {deep}}}'.encode())
    with pytest.raises(ValueError, match="nested too deeply"):
        TableSchema.from_delta_json(f'{{"fields": {deep}}}')
    array = nested('{"type":"array","elementType":', '"long"', ',"containsNull":true}', 100)
    schema = '{"fields": [{"name": "a", "type": ' + array + "}]}"
    with pytest.raises(ValueError, match="array"):
        TableSchema.from_delta_json(schema)
