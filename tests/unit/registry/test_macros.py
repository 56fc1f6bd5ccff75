"""Catalogue rules expand to valid rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.rules.compile import compile_text
from lakeguard.registry.files.rule_catalog import template_problem
from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.macros import Macros, built_in_rules
from lakeguard_sdk.core.enums import Outcome, Severity
from lakeguard_sdk.model.definitions import CatalogueRule
from tests.support.projects.definition_folders import mistakes, write_folder
from tests.unit.gate.cases import SCHEMA, judged, row

USES = {
    "not_empty(name)": ["length(name, min=1)"],
    "not_blank(name)": ["sql_row(length(trim(name)) > 0)"],
    "trimmed(name)": ["sql_row(trim(name) = name)"],
    "required_if(name, when=active = true)": ["sql_row(name is not null) where active = true"],
    "at_least_one_not_null(name, key)": ["sql_row(name is not null or key is not null)"],
    "exactly_one_not_null(name, amount)": [
        "sql_row(if(name is null, 0, 1) + if(amount is null, 0, 1) = 1)"
    ],
    "positive(amount)": ["gt(amount, value=0)"],
    "non_negative(amount) fail_if > 1%": ["ge(amount, value=0) fail_if > 1%"],
    "multiple_of(count, of=5)": ["sql_row(count % 5 = 0)"],
    "decimal_places(amount, most=1)": ["sql_row(round(amount, 1) = amount)"],
    "finite(delay)": ["sql_row(is_finite(delay))"],
    "upper_case(name)": ["sql_row(upper(name) = name)"],
    "lower_case(name)": ["sql_row(lower(name) = name)"],
    "charset(name, pattern='[A-Z]*')": ["regex(name, pattern='[A-Z]*')"],
    "weekday(day, days=(0, 1))": ["sql_row(weekday(day) in (0, 1))"],
    "near(count, other=size, tolerance=2)": ["sql_row(abs(count - size) <= 2)"],
    "sum_equals(count, size, total=10)": ["sql_row(count + size = 10)"],
    "conditional(if=count > 0, then=size > 0)": ["sql_row(size > 0) where count > 0"],
    "latitude(delay)": ["range(delay, min=-90, max=90)"],
    "longitude(delay)": ["range(delay, min=-180, max=180)"],
    "lat_lon(lat=delay, lon=ratio)": [
        "range(delay, min=-90, max=90)",
        "range(ratio, min=-180, max=180)",
    ],
    "primary_key(key, day)": ["not_null(key)", "not_null(day)", "unique(key, day)"],
    "primary_key(key) scope batch where count > 0": None,
    "unique_within(key, within=day)": ["unique(key, day)"],
    "cardinality(key, max=3)": ["distinct(key, max=3)"],
    "superseded_by_latest(key, current=active = true)": ["unique(key) where active = true"],
    "scd2_no_overlap(key, start=dep, end=arr)": ["no_overlap(dep, arr) by key"],
    "scd2_no_gap(key, start=dep, end=arr)": ["no_interval_gap(dep, arr) by key"],
    "distinct_count(key, min=1, max=3)": ["distinct(key, min=1, max=3)"],
    "duplicate_ratio(key, max=1%)": ["unique(key) fail_if > 1%"],
    "median(delay, max=3)": ["quantile(delay, q=0.5, max=3)"],
    "stddev(delay, max=3)": ["deviation(delay, max=3)"],
    "constant(key)": ["distinct(key, max=1)"],
    "not_constant(key)": ["distinct(key, min=2)"],
    "value_share(name, value='x', max=20%)": ["not_in_set(name, values=['x']) fail_if > 20%"],
    "sequential(count)": ["gaps(count, step=1)", "unique(count)"],
    "no_gaps(day, period=1d) by key": ["gaps(day, step=1d) by key"],
    "event_order(dep, other=arr)": ["compare(dep <= arr)"],
    "event_lag(dep, other=arr, days=2)": ["sql_row(days_between(dep, arr) <= 2)"],
    "late_ratio(dep, other=arr, days=2, max=5%)": [
        "sql_row(days_between(dep, arr) <= 2) fail_if > 5%"
    ],
    "new_values(name, most=0)": ["set_drift(name, new=0)"],
    "change_vs_last(max=20%)": ["row_count(change=20%)"],
    "anomaly(k=4)": ["row_count(band='mad', k=4)"],
}
SHAPES = {
    "ascii": ("plain text", "Grüße"),
    "format_email": ("ada@example.org", "ada@example"),
    "format_url": ("https://example.org/a?b", "example.org"),
    "format_uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567"),
    "format_ipv4": ("192.168.0.1", "256.1.1.1"),
    "format_ipv6": ("2001:db8:0:0:0:0:0:1", "2001:db8"),
    "format_cidr": ("10.0.0.0/8", "10.0.0.0/33"),
    "format_phone": ("+491701234567", "0170"),
    "format_iban": ("DE89370400440532013000", "DE88370400440532013000"),
    "format_card": ("4111111111111111", "4111111111111112"),
    "format_country": ("DE", "Germany"),
    "format_currency": ("EUR", "eur"),
    "format_language": ("de-AT", "German"),
    "format_mac": ("00:1B:44:11:3A:B7", "00-1B"),
}
CALLS = {**USES, **{f"{name}(name)": None for name in SHAPES}}


def texts(call: str, column: str | None = None) -> list[str]:
    found = Macros().expand(call, column)
    assert found is not None, call
    return [item.text for item in found]


@pytest.mark.parametrize("call", [call for call, reported in USES.items() if reported is not None])
def test_what_a_rule_stands_for(call: str) -> None:
    assert texts(call) == USES[call]


@pytest.mark.parametrize("call", [call for call in CALLS if "scope" not in call])
def test_it_stands_for_rules_that_mean_something(call: str) -> None:
    for text in texts(call):
        assert compile_text(text, SCHEMA).check is not None


def test_every_built_in_rule_is_tried() -> None:
    assert {call.partition("(")[0] for call in CALLS} == set(built_in_rules())
    for name, rule in built_in_rules().items():
        assert template_problem(rule.expression) is None, name
        assert rule.description.endswith("."), name


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name: str) -> None:
    (text,) = texts(f"{name}(name)")
    good, bad = SHAPES[name]
    assert judged(text, [row(name=good)]).outcome is Outcome.PASS
    assert judged(text, [row(name=bad)]).outcome is Outcome.FAIL


def test_under_a_column_it_is_left_out() -> None:
    assert texts("positive", "amount") == ["gt(amount, value=0)"]
    assert texts("not_blank() where count > 0", "order id") == [
        "sql_row(length(trim(`order id`)) > 0) where count > 0"
    ]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        ("positive()", "positive needs a column"),
        ("lat_lon(name, lat=delay, lon=ratio)", "lat_lon takes no column"),
        ("multiple_of(count)", "multiple_of needs of"),
        ("multiple_of(count, off=5)", "multiple_of needs of"),
        ("multiple_of(count, of=5, off=5)", "has no parameter 'off'; did you mean of?"),
        ("multiple_of(of=5, count)", "columns must come before named parameters"),
        ("positive(amount", "unbalanced parentheses"),
    ],
)
def test_what_is_missing_or_unknown_is_refused(call: str, problem: str) -> None:
    with pytest.raises(GrammarError, match=problem.replace("?", "[?]")):
        Macros().expand(call, None)


def test_types_of_rules_are_never_hidden_and_unknown_names_are_none() -> None:
    mine = {
        "unique": CatalogueRule(rule="unique", expression="not_null({column})"),
        "positive": CatalogueRule(rule="positive", expression="ge({column}, value=1)"),
        "old": CatalogueRule(rule="old", expression="not_null({column})", active=False),
    }
    macros = Macros(mine)
    assert macros.expand("unique(key)", None) is None
    assert macros.expand("positiv(amount)", None) is None
    (own,) = macros.expand("positive(amount)", None) or []
    assert own.text == "ge(amount, value=1)"
    with pytest.raises(GrammarError, match="old is inactive"):
        macros.expand("old(key)", None)


def test_names_and_severities_come_from_the_catalogue() -> None:
    warning = CatalogueRule(rule="soft", expression="not_null({column})", severity=Severity.WARN)
    (found,) = Macros({"soft": warning}).expand("soft(`order id`)", None) or []
    assert (found.rule_id, found.severity) == ("soft.order id", Severity.WARN)
    (limited,) = Macros({"soft": warning}).expand("soft(key) fail_if > 3", None) or []
    assert limited.severity is None
    several = Macros().expand("primary_key(key, day)", None) or []
    assert [item.rule_id for item in several] == [
        "primary_key.key.day.1", "primary_key.key.day.2", "primary_key.key.day.3"
    ]  # fmt: skip


DATASET = """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
columns:
  id: {type: long, rules: ["within(low=1, high=9)"]}
  amount: {type: "decimal(9,2)", rules: [positive, {rule: non_negative, id: mine}]}
rules:
  - primary_key(id)
"""


def rules_of(folder: Path, expression: str) -> dict[str, str]:
    write_folder(
        folder,
        {
            "lakeguard.toml": "[env.dev]\n",
            "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
            "definitions/rules/within.yaml": f"rule: within\nexpression: {expression}\n",
            "definitions/bronze/orders.yaml": DATASET,
        },
    )
    (dataset,) = load_folder(folder).datasets
    return {rule.rule_id: rule.expression for rule in dataset.rules}


def test_files_name_rules_of_the_catalogue(tmp_path: Path) -> None:
    (tmp_path / ".lakeguard").mkdir()
    found = rules_of(tmp_path, "range({column}, min={low}, max={high})")
    assert found == {
        "within.id": "range(id, min=1, max=9)",
        "positive.amount": "gt(amount, value=0)",
        "mine": "ge(amount, value=0)",
        "primary_key.id.1": "not_null(id)",
        "primary_key.id.2": "unique(id)",
    }
    again = rules_of(tmp_path, "not_range({column}, min={low}, max={high})")
    assert again["within.id"] == "not_range(id, min=1, max=9)", "no reading outlives the catalogue"


def test_a_name_that_is_nearly_one_of_the_catalogue(tmp_path: Path) -> None:
    wrong = DATASET.replace("primary_key(id)", "format_emial(id)\n  - withn(id)\n  - uniqe(id)")
    files = {
        "lakeguard.toml": "[env.dev]\n",
        "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
        "definitions/rules/within.yaml": "rule: within\nexpression: not_null({column})\n",
        "definitions/bronze/orders.yaml": wrong,
    }
    described = [str(error) for error in mistakes(tmp_path, files) if error.code == "LG-2013"]
    for name in ("format_email", "within", "unique"):
        assert any(f"did you mean {name}?" in text for text in described), described
