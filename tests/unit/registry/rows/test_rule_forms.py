"""Rules in rows are converted to the rule grammar, or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.registry.rows.rule_forms import expression_text
from lakeguard_sdk.core.enums import Severity
from tests.unit.registry.rows.loads import OBJECT, good, loaded, mistakes, rules_of

CATALOGUE = """
INSERT INTO dq_rule_catalog (rule_name, rule_expression, active) VALUES
    ('WITHIN', 'range({column}, min={low}, max={high})', 1),
    ('RETIRED', 'unique({column})', 0);
"""
QUALITY = (
    "INSERT INTO quality_rules (dataset_id, rule_type, rule_expression, column_name)"
    " VALUES ('bronze.customers', '{}', '{}', {});"
)


def rule_set(
    entries: Any, severity: str = "NULL", behaviour: str = "NULL", enabled: str = "NULL"
) -> str:
    text = json.dumps(entries).replace("'", "''")
    rows = OBJECT.replace("owner, domain)", "owner, domain, dq_fail_behavior, dq_enabled)")
    rows = rows.replace("'sales', 'shop')", f"'sales', 'shop', {behaviour}, {enabled})")
    return CATALOGUE + rows + (
        "INSERT INTO source_object_columns"
        " (source_object_id, column_name, data_type, dq_rule_set, dq_severity)"
        f" VALUES (7, 'Total', 'int', '{text}', {severity});"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "expression", "column", "text"),
    [
        ("NOT_NULL", "amount", "NULL", "not_null(amount)"),
        ("NOT_NULL", "amount IS NOT NULL", "NULL", "not_null(amount)"),
        ("not_null", "", "'amount'", "not_null(amount)"),
        ("UNIQUE", "(customer_id, amount)", "NULL", "unique(customer_id, amount)"),
        ("RANGE", "amount between 0 and 10", "NULL", "range(amount, min=0, max=10)"),
        ("RANGE", "amount >= -1.5", "NULL", "range(amount, min=-1.5)"),
        ("RANGE", "amount <= 10 AND amount >= 0", "NULL", "range(amount, min=0, max=10)"),
        ("RANGE", "amount, min=0, max=10", "NULL", "range(amount, min=0, max=10)"),
        ("RANGE", "min=0,max=10", "'amount'", "range(amount, min=0, max=10)"),
        ("RANGE", "range(amount, min=0) fail_if > 1%", "NULL", "range(amount, min=0) fail_if > 1%"),
        ("VALID_VALUES", "customer_id in (''a'', ''b'')", "NULL",
         "in_set(customer_id, values=['a', 'b'])"),
        ("MAX_LENGTH", "customer_id, max=5", "NULL", "length(customer_id, max=5)"),
        ("ROW_COUNT", "min=1", "NULL", "row_count(min=1)"),
        ("POSITIVE", "", "'amount'", "gt(amount, value=0)"),
        ("NOT_BLANK", "customer_id", "NULL", "sql_row(length(trim(customer_id)) > 0)"),
        ("SQL_ROW", "amount * 2 > 1", "NULL", "sql_row(amount * 2 > 1)"),
        ("EXPRESSION", "length(customer_id) > 2 or amount > 1", "NULL",
         "sql_row(length(customer_id) > 2 or amount > 1)"),
        ("EXPRESSION", "(amount > 1) or (amount is null)", "NULL",
         "sql_row(amount > 1 or amount is null)"),
        ("SQL_AGG", "sum(amount) / count(*), min=1", "NULL",
         "sql_agg(sum(amount) / count(*), min=1)"),
    ],
)  # fmt: skip
def test_expressions(kind: str, expression: str, column: str, text: str) -> None:
    rules = rules_of(good(OBJECT + QUALITY.format(kind, expression, column)))
    assert text in [rule.expression for rule in rules.values()]


@pytest.mark.parametrize(
    ("kind", "expression", "code"),
    [
        ("UNIQE", "amount", "LG-2013"),
        ("UNIQUE", "range(amount, min=0)", "LG-2015"),
        ("UNIQUE", "nothing", "LG-2014"),
        ("RANGE", "amount > 0 or 1=1", "LG-2012"),
        ("RANGE", "customer_id between 0 and 1", "LG-2015"),
    ],
)
def test_expressions_that_say_nothing_are_refused(kind: str, expression: str, code: str) -> None:
    reported = mistakes(OBJECT + QUALITY.format(kind, expression, "NULL"))
    assert [given[:7] for given in reported] == [code]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"rule": "NOT_NULL"}, "not_null(total)"),
        ({"rule": "VALID_VALUES", "values": [1, 2]}, "in_set(total, values=[1, 2])"),
        ({"rule": "RANGE_CHECK", "min": 0, "max": 1.50}, "range(total, min=0, max=1.5)"),
        ({"rule": "RANGE_CHECK", "min": 0, "max": None}, "range(total, min=0)"),
        ({"rule": "POSITIVE"}, "gt(total, value=0)"),
        ({"rule": "multiple_of", "of": 5}, "sql_row(total % 5 = 0)"),
        ("positive", "gt(total, value=0)"),
        ("multiple_of(of=5)", "sql_row(total % 5 = 0)"),
        ({"rule": "within", "low": 1, "high": 2}, "range(total, min=1, max=2)"),
        ("unique", "unique(total)"),
        ("range(min=1)", "range(total, min=1)"),
    ],
)
def test_entries_of_a_rule_set(entry: Any, text: str) -> None:
    rules = rules_of(good(rule_set([entry])))
    assert [rule.expression for rule in rules.values()] == [text]


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({"rule": "MAX_LENGHT", "max": 1}, "LG-2013"),
        ({"rule": "MAX_LENGTH", "max": 5}, "LG-2015"),  # of a number
        ({"rule": "RANGE_CHECK", "minimum": 0}, "LG-2015"),
        ({"rule": "WITHIN", "low": 1}, "LG-2015"),
        ({"rule": "WITHIN", "low": 1, "high": 2, "x": 3}, "LG-2015"),
        ({"rule": "RETIRED"}, "LG-2015"),
        ({"rule": "PRIMARY_KEY"}, "LG-2015"),  # several rules
        ({"rule": "MULTIPLE_OF"}, "LG-2015"),
        ({"name": "NOT_NULL"}, "LG-2015"),
        (7, "LG-2015"),
        ("uniqe", "LG-2013"),
        ({"rule": "VALID_VALUES", "values": [None]}, "LG-2015"),
    ],
)
def test_an_entry_that_cannot_be_read_is_never_passed_over(entry: Any, code: str) -> None:
    assert [given[:7] for given in mistakes(rule_set([entry]))] == [code]


@pytest.mark.parametrize("text", ["[", '{"rule": "A", "rule": "B"}', "NOT_NULL"])
def test_a_rule_set_is_json(text: str) -> None:
    rows = rule_set([]).replace("'[]'", f"'{text}'")
    assert mistakes(rows)[0].startswith("LG-2004")


@pytest.mark.parametrize("column", [None, "WARN", "FAIL"])
@pytest.mark.parametrize("behaviour", [None, "WARN", "FAIL"])
def test_a_rule_fails_where_column_or_source_says_so(
    column: str | None, behaviour: str | None
) -> None:
    given = [f"'{word}'" if word else "NULL" for word in (column, behaviour)]
    (rule,) = rules_of(good(rule_set(["unique"], *given))).values()
    assert (rule.severity is Severity.FAIL) == ("FAIL" in (column, behaviour))


def test_limits_of_a_rule_say_its_severity() -> None:
    (rule,) = rules_of(good(rule_set(["range(min=0) fail_if > 1%"], "'WARN'"))).values()
    assert rule.severity is Severity.FAIL


def test_rules_of_an_object_that_is_not_checked_are_kept_and_not_active() -> None:
    (rule,) = rules_of(good(rule_set(["unique"], enabled="0"))).values()
    assert not rule.active


def test_null_forbidden_is_not_softened() -> None:
    rows = rule_set([{"rule": "NOT_NULL"}], "'WARN'").replace(
        "data_type, dq_rule_set", "is_nullable, data_type, dq_rule_set"
    )
    rows = rows.replace("'Total', 'int'", "'Total', 0, 'int'")
    (rule,) = rules_of(good(rows)).values()
    assert rule.severity is Severity.FAIL


def test_a_rule_set_lists_the_rules_of_its_column() -> None:
    first = good(rule_set([{"rule": "RANGE_CHECK", "min": 0}, "unique"]))
    assert set(rules_of(first)) == {"range.total", "unique.total"}
    row = (
        "INSERT INTO source_object_columns (source_object_id, column_name, dq_rule_set)"
        " VALUES (7, 'Total', '{}');"
    )
    now = rules_of(good(row.format('[{"rule": "RANGE_CHECK", "min": 5}]'), first))
    assert {rule.expression for rule in now.values()} == {"range(total, min=5)"}


def test_a_wrong_type_is_told_at_the_type() -> None:
    row = QUALITY.format("UNIQE", "amount", "NULL")
    (reported,) = loaded(OBJECT + "\n" + row)[1]
    assert reported.startswith(f"{OBJECT.count(chr(10)) + 2}:{row.index(chr(39) + 'UNIQE') + 1} ")


@pytest.mark.parametrize(
    ("rule_type", "expression", "text"),
    [
        ("POSITIVE", "amount", "gt(amount, value=0)"),
        ("Not_Blank", "(name)", "sql_row(length(trim(name)) > 0)"),
        ("MULTIPLE_OF", "multiple_of(amount, of=5)", "sql_row(amount % 5 = 0)"),
        ("REQUIRED_IF", "name, when=amount > 0", "sql_row(name is not null) where amount > 0"),
    ],
)
def test_types_of_rows_may_be_rules_of_the_catalogue(
    rule_type: str, expression: str, text: str
) -> None:
    assert expression_text(rule_type, expression) == text


def test_a_type_that_stands_for_several_rules_is_refused() -> None:
    with pytest.raises(GrammarError, match="expands to several rules"):
        expression_text("PRIMARY_KEY", "id, day")
    with pytest.raises(GrammarError, match="did you mean positive"):
        expression_text("POSITVE", "amount")
