"""Rules as definitions, over a schema, and all together."""

from __future__ import annotations

import pytest

from lakeguard.gate.grammar.literals import Flag
from lakeguard.gate.grammar.rule import Parameter, Rule
from lakeguard.gate.rule_types.catalog import RULE_TYPES
from lakeguard.gate.rule_types.nulls import NotNull
from lakeguard.gate.rule_types.rule_type import RuleTypes
from lakeguard.gate.rules.compile import (
    compile_rule,
    default_rule_id,
    define_rule,
    measures_for,
)
from lakeguard.gate.rules.parse import GrammarError, parse_rule
from lakeguard_sdk.core.enums import Scope, Severity
from lakeguard_sdk.expressions.measures import RowCount
from lakeguard_sdk.model.definitions import RuleDefinition
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.unit.gate.cases import SCHEMA, refusal, rule


@pytest.mark.parametrize(
    ("text", "rule_id", "rule_type"),
    [
        ("unique(flight_key)", "unique.flight_key", "UNIQUE"),
        ("unique(a, b) scope batch", "unique.a.b", "UNIQUE"),
        ("row_count(min=1)", "row_count", "ROW_COUNT"),
        ("compare(a <= b)", "compare.a.b", "COMPARE"),
        ("NOT_NULL(a)", "not_null.a", "NOT_NULL"),
    ],
)
def test_definitions(text: str, rule_id: str, rule_type: str) -> None:
    parsed = parse_rule(text)
    assert default_rule_id(parsed) == rule_id
    definition = define_rule(parsed, rule_id=None, severity=None)
    assert (definition.rule_id, definition.rule_type) == (rule_id, rule_type)
    assert definition.severity is Severity.FAIL
    assert definition.active
    named = define_rule(parsed, rule_id="mine", severity=Severity.WARN, active=False)
    assert (named.rule_id, named.severity, named.active) == ("mine", Severity.WARN, False)


@pytest.mark.parametrize(
    "senseless",
    [
        Rule(rule_type="uniqe", columns=("a",)),
        Rule(rule_type="not_null"),
        Rule(rule_type="not_null", columns=("a", "b")),
        Rule(rule_type="NOT_NULL", columns=("a",)),
        Rule(rule_type="unique", columns=("a",), scope=Scope.TABLE),
        Rule(
            rule_type="range",
            columns=("a",),
            parameters=(Parameter(name="min", value=Flag(value=True)),),
        ),
        Rule(rule_type="not_null", columns=("a\x00",)),
    ],
)
def test_a_rule_that_the_grammar_cannot_say_is_not_defined(senseless: Rule) -> None:
    with pytest.raises(GrammarError):
        define_rule(senseless, rule_id=None, severity=None)


@pytest.mark.parametrize(
    ("text", "kind", "at", "message"),
    [
        ("not_null(kye)", "column", "kye", "unknown column kye"),
        ("not_null(KEY)", "column", "KEY", "unknown column KEY"),
        ("unique(key, nam)", "column", "nam", "unknown column nam"),
        ("compare(count <= siz)", "column", "siz", "unknown column siz"),
        ("not_null(`no such`)", "column", "`no such`", "unknown column no such"),
        ("range(name, min=1)", "meaning", "name", "use length, in_set or regex"),
        ("range(active, min=1)", "meaning", "active", "active is boolean"),
        ("range(raw, min=1)", "meaning", "raw", "raw is binary"),
        ("range(count, min='2013-01-01')", "meaning", "'2013-01-01'", "write a number"),
        ("range(day, min=1)", "meaning", "1", "1 is not a valid date"),
        ("range(count)", "meaning", "range", "range needs min, max or both"),
        ("range(count, min=5, max=4)", "meaning", "4", "max is less than min"),
        ("range(count, min=0.2, max=0.8)", "meaning", "0.8", "no integer lies between"),
        ("range(day, min='2013-02-01', max='2013-01-01')", "meaning", "'2013-01-01'",
         "no date lies between"),
        ("range(count, min=3e9)", "meaning", "3e9", "out of range for integer"),
        ("range(count, max=-3e9)", "meaning", "-3e9", "out of range for integer"),
        ("range(amount, min=1e7)", "meaning", "1e7", "out of range for decimal(9,2)"),
        ("range(delay, max=1e309)", "meaning", "1e309", "out of range for double"),
        ("range(ratio, max=1e39)", "meaning", "1e39", "out of range for float"),
        ("length(count, min=1)", "meaning", "count", "length needs a string"),
        ("length(name, min=0)", "meaning", "0", "at least 0 characters"),
        ("length(name, min=3, max=2)", "meaning", "2", "max is less than min"),
        ("regex(count, 'a')", "meaning", "count", "regex needs a string"),
        ("in_set(raw, ['a'])", "meaning", "raw", "raw is binary"),
        ("in_set(count, [1, 1.5])", "meaning", "1.5", "no integer equals 1.5"),
        ("in_set(count, ['1'])", "meaning", "'1'", "write a number"),
        ("in_set(day, ['2013-01-01', '2013-13-01'])", "meaning", "'2013-13-01'", "calendar"),
        ("in_set(dep, ['2013-01-01 00:00', '2013-01-01T00:00Z'])", "meaning",
         "'2013-01-01T00:00Z'", "duplicate"),
        ("compare(name <= count)", "meaning", "count", "cannot be compared"),
        ("compare(active < raw)", "meaning", "raw", "cannot be compared"),
        ("compare(size = delay)", "meaning", "delay", "cannot be compared"),
        ("mean(name, min=1)", "meaning", "name", "mean needs numbers"),
        ("mean(day, min=1)", "meaning", "day", "mean needs numbers"),
        ("sum(dep, min=1)", "meaning", "dep", "sum needs numbers"),
        ("max(name, min=1)", "meaning", "name", "numbers, dates or timestamps"),
        ("max(count, min='x')", "meaning", "'x'", "need a number as bound"),
        ("max(day, min=5)", "meaning", "5", "5 is not a valid date"),
        ("max(count, min=5, max=1)", "meaning", "1", "max is less than min"),
        ("row_count(min=0)", "meaning", "0", "there are at least 0 rows"),
        ("row_count(min=2, max=1)", "meaning", "1", "max is less than min"),
    ],
)  # fmt: skip
def test_rules_that_mean_nothing_over_the_schema(
    text: str, kind: str, at: str, message: str
) -> None:
    error = refusal(text)
    assert error.kind == kind
    assert message in error.message
    assert text[error.offset : error.offset + error.length] == at


def test_the_nearest_column_is_proposed() -> None:
    assert refusal("not_null(KEY)").hint == " did you mean key?"
    assert refusal("not_null(amonut)").hint == " did you mean amount?"
    assert refusal("not_null(zzzzzzzz)").hint == ""
    assert refusal("not_null(kye)").word == "kye"


def test_places_are_places_in_the_authors_text() -> None:
    error = refusal("range(  min = 0.2,max= 0.8 )", column="count")
    assert (error.offset, error.length) == (23, 3)


def stored(expression: str, rule_type: str, severity: Severity = Severity.FAIL) -> RuleDefinition:
    return RuleDefinition(
        rule_id="r", rule_type=rule_type, expression=expression, severity=severity
    )


@pytest.mark.parametrize(
    "definition",
    [
        stored("uniqe(key)", "UNIQE"),
        stored("not_null(key)", "UNIQUE"),
        stored("not_null(key)", "not_null"),
        stored("not_null(key) fail_if > 0", "NOT_NULL", Severity.WARN),
        stored("not_null(key) warn_if > 0", "NOT_NULL", Severity.FAIL),
        stored("", "NOT_NULL"),
    ],
)
def test_a_stored_definition_that_contradicts_itself_does_not_compile(
    definition: RuleDefinition,
) -> None:
    with pytest.raises(GrammarError):
        compile_rule(definition, SCHEMA)
    assert measures_for((definition,), SCHEMA) == (RowCount(),)


def test_measures_are_shared_and_in_one_order() -> None:
    rules = (
        rule("range(count, min=1)"),
        rule("range(count, max=9)"),
        rule("min(count, min=0)"),
        rule("not_null(name)"),
        rule("not_null(name) warn_if > 1%", rule_id="again"),
        rule("unique(key)"),
        rule("not_null(key)", active=False),
    )
    measures = measures_for(rules, SCHEMA)
    assert measures[0] == RowCount()
    assert measures == measures_for(tuple(reversed(rules)), SCHEMA)
    assert len(set(measures)) == len(measures) == 8
    assert RowCount(scope=Scope.TABLE) in measures
    assert measures_for((), SCHEMA) == (RowCount(),)


def test_the_same_rule_means_another_measure_over_another_schema() -> None:
    definition = rule("range(count, max=5)")
    wider = TableSchema(columns=(Column(name="count", type="long"),))
    narrow, wide = (compile_rule(definition, schema).measures for schema in (SCHEMA, wider))
    assert narrow != wide


def test_a_second_claim_to_a_name_is_refused_naming_both() -> None:
    class Impostor(NotNull):
        pass

    with pytest.raises(ValueError, match=r"'not_null' is defined by .*Impostor and by NotNull"):
        RuleTypes((NotNull(), Impostor()))


@pytest.mark.parametrize("rule_type", list(RULE_TYPES), ids=lambda found: str(found.name))
def test_every_example_is_canonical_and_found_in_any_case(rule_type: NotNull) -> None:
    definition = rule(rule_type.example)
    assert definition.expression == rule_type.example
    assert RULE_TYPES.find(rule_type.name.upper()) is rule_type
