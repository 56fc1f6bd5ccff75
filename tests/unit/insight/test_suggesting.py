"""Drafts of rules from profiles that are written by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lakeguard.gate.rules.compile import define_rule
from lakeguard.gate.rules.parse import parse_rule
from lakeguard.insight.suggestions import (
    Earlier,
    OtherKey,
    ProfileFacts,
    Suggestion,
    VersionResult,
    drafts,
    ranked,
    suggestion,
    tried,
)
from lakeguard.insight.suggestions.texts import shape_of
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.model.profile import ColumnProfile, Frequent
from lakeguard_sdk.types.schema import Column, TableSchema

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
ROWS = 1_000


def column(name: str, data_type: str, **given: Any) -> ColumnProfile:
    return ColumnProfile.model_validate({"column": name, "type": data_type, "nulls": 1, **given})


def often(*values: str, rows: int = ROWS - 1) -> tuple[Frequent, ...]:
    each, rest = divmod(rows, len(values))
    return tuple(
        Frequent(value=value, rows=each + (rest if at == 0 else 0))
        for at, value in enumerate(values)
    )


def seen(*columns: ColumnProfile, **known: Any) -> ProfileFacts:
    schema = TableSchema(columns=tuple(Column(name=c.column, type=c.type) for c in columns))
    given = {"schema": schema, "rows": ROWS, "columns": columns, "at": NOW, **known}
    return ProfileFacts.model_validate(given)


def rules(*columns: ColumnProfile, **known: Any) -> list[str]:
    """Those that mean something, without the number of rows, which is always there."""
    found = seen(*columns, **known)
    texts = [trial.draft.rule for trial in tried(drafts(found), found.table_schema)]
    return [text for text in texts if not text.startswith("row_count")]


@pytest.mark.parametrize(
    ("data_type", "least", "greatest", "rule"),
    [
        ("integer", 17, 4983, "range(x, min=0, max=7500)"),
        ("integer", -10, 10, "range(x, min=-20, max=20)"),
        ("integer", -90, -10, "range(x, min=-130, max=0)"),
        ("double", 0.5, 0.75, "range(x, min=0.37, max=0.88)"),
        ("decimal(9,2)", "1.00", "1.05", "range(x, min=0.97, max=1.08)"),
        ("byte", -100, 100, None),
        ("byte", 0, 100, "range(x, min=0)"),
        ("decimal(38,0)", f"-{'9' * 38}", "9" * 38, None),
        ("integer", 7, 7, "gt(x, value=0)"),
        ("integer", 0, 0, "ge(x, value=0)"),
        ("integer", -7, -7, None),
        ("double", "-Infinity", 3, None),
        ("double", 3, "NaN", None),
    ],
)
def test_bounds_of_numbers(data_type: str, least: Any, greatest: Any, rule: str | None) -> None:
    """Half of the spread to either side, not across zero, and within what the type can hold."""
    found = rules(column("x", data_type, least=least, greatest=greatest, distinct=400))
    assert found == ([] if rule is None else [rule])


def test_whole_numbers_that_all_come_need_no_margin() -> None:
    month = column("month", "integer", least=1, greatest=12, distinct=12)
    assert rules(month) == ["range(month, min=1, max=12)"]
    assert rules(month.model_copy(update={"distinct": 6})) == ["range(month, min=0, max=18)"]


def test_few_values_are_listed() -> None:
    origin = column("origin", "string", distinct=3, top=often("EWR", "JFK", "LGA"))
    assert rules(origin) == ["in_set(origin, values=['EWR', 'JFK', 'LGA'])"]
    numbers = column("size", "long", distinct=2, least=5, greatest=70, top=often("70", "5"))
    assert rules(numbers) == ["in_set(size, values=[5, 70])"]


@pytest.mark.parametrize(
    "top",
    [
        often("EWR"),
        often("EWR", "JFK", rows=ROWS - 2),
        often("EWR", "a\nb"),
        often("EWR", ""),
        often(*(f"v{n}" for n in range(13))),
    ],
)
def test_a_list_that_says_too_little_is_none(top: tuple[Frequent, ...]) -> None:
    assert not any("in_set" in rule for rule in rules(column("x", "string", top=top)))


@pytest.mark.parametrize(
    ("patterns", "shape"),
    [
        (["AA-999", "AA-9999"], "[A-Z]{2}-[0-9]{3,4}"),
        (["A99999", "A999AA", "A9999A"], "[A-Z][0-9]{3,5}[A-Z]{0,2}"),
        (["AAA"], "[A-Z]{3}"),
        (["9A", "AA", "A9"], "(?:[0-9][A-Z]|[A-Z]{1,2}[0-9]?)"),
        (["9.9"], "[0-9]\\x2E[0-9]"),
        (["aaa", "aaaa"], None),
        (["Aaaa"], None),
        (["", "9"], None),
        (["é9"], None),
        (["9a", "a9", "A-", "-A"], None),
        (["9" * 60], None),
        ([], None),
    ],
)
def test_shapes(patterns: list[str], shape: str | None) -> None:
    assert shape_of(patterns) == shape


def test_kinds_of_texts_are_told_by_values_patterns_or_length() -> None:
    mails = often(*(f"u{n}@example.org" for n in range(6)), rows=60)
    assert rules(column("x", "string", distinct=900, top=mails)) == ["format(x, kind='email')"]
    alike = (Frequent(value="a99@aaa.aa", rows=40),)
    assert rules(column("x", "string", distinct=900, patterns=alike)) == ["format(x, kind='email')"]
    alone = column("x", "string", distinct=900, lengths=(36, 36, 36.0))
    assert rules(alone) == ["format(x, kind='uuid')"]
    assert "format" not in str(rules(alone.model_copy(update={"distinct": 4})))


def test_other_texts_have_a_length_and_no_blanks_around_them() -> None:
    found = rules(column("x", "string", distinct=900, lengths=(2, 30, 9.5)))
    assert found == ["length(x, min=1, max=60)", "sql_row(trim(x) = x)"]
    assert rules(column("x", "string", distinct=900, lengths=(0, 9_999, 9.5))) == [
        "sql_row(trim(x) = x)"
    ]


def test_times() -> None:
    past = column("day", "date", least="2026-01-01", greatest="2026-11-16", distinct=300)
    assert rules(past) == ["range(day, min='2025-07-01')", "not_future(day)"]
    ahead = past.model_copy(update={"greatest": "2026-11-17"})
    assert rules(ahead) == ["range(day, min='2025-07-01')"]
    first = column("at", "timestamp", least="0001-01-01T00:00:00Z", greatest="2020-01-01T00:00:00Z")
    assert rules(first) == ["not_future(at)"]


def versions(*ages: int, rows: int = 100) -> tuple[Earlier, ...]:
    """Published a day after another, with a newest value that was so many hours old."""
    published = [NOW - timedelta(days=day) for day in range(len(ages))]
    return tuple(
        Earlier(
            version=len(ages) - at,
            at=moment,
            rows=rows + at,
            greatest={"at": f"{moment - timedelta(hours=age):%Y-%m-%dT%H:%M:%SZ}"},
        )
        for at, (moment, age) in enumerate(zip(published, ages, strict=True))
    )


@pytest.mark.parametrize(
    ("ages", "limit"),
    [((2, 5, 1), "10h"), ((30, 40, 2), "4d"), ((2, 5), None), ((2, 5, 9_999), None)],
)
def test_freshness_comes_from_several_versions(ages: tuple[int, ...], limit: str | None) -> None:
    last = column("at", "timestamp", least="2026-01-01T00:00:00Z", greatest="2026-11-16T10:00:00Z")
    found = [rule for rule in rules(last, versions=versions(*ages)) if "freshness" in rule]
    assert found == ([f"freshness(at, max='{limit}')"] if limit else [])


def test_the_number_of_rows_comes_from_several_versions() -> None:
    assert [draft.rule for draft in drafts(seen(versions=versions(1, 1)))] == ["row_count(min=1)"]
    assert [draft.rule for draft in drafts(seen(versions=versions(1, 1, 1)))] == [
        "row_count(min=50)"
    ]
    assert drafts(seen(rows=0)) == []


def test_gaps_come_from_several_versions() -> None:
    note = column("note", "boolean", nulls=300)
    assert rules(note, versions=versions(1, 1, 1)) == ["null_drift(note, max=5%)"]
    assert rules(note, versions=versions(1, 1)) == []
    full = note.model_copy(update={"nulls": 950})
    assert rules(full, versions=versions(1, 1, 1)) == []
    known = define_rule(parse_rule("completeness(note, min=5%)"), rule_id=None, severity=None)
    assert rules(note, versions=versions(1, 1, 1), rules=(known,)) == []


def test_keys() -> None:
    number = column("order_id", "long", nulls=0, distinct=990, least=1, greatest=1000)
    assert rules(number) == ["not_null(order_id)", "gt(order_id, value=0)", "unique(order_id)"]
    few = number.model_copy(update={"distinct": 700})
    assert "unique(order_id)" not in rules(few)
    assert "unique(order_id)" not in rules(number.model_copy(update={"nulls": 1}))
    pair = (column("a", "boolean", nulls=0), column("b", "boolean", nulls=0))
    assert rules(*pair, keys=(("a", "b"),)) == ["not_null(a)", "not_null(b)", "unique(a, b)"]


def test_references() -> None:
    other = OtherKey(dataset=DatasetName("silver.codes"), column="code", type="string")
    text = "foreign_key(code -> silver.codes(code))"
    assert text in rules(column("code", "string", distinct=9), others=(other,))
    assert text not in rules(column("code", "binary"), others=(other,))
    key = column("code", "string", nulls=0, distinct=ROWS)
    assert text not in rules(key, others=(other,))


@pytest.mark.parametrize(
    ("data_type", "given"),
    [
        ("string", {"top": often("secret", "hidden"), "lengths": (6, 6, 6.0)}),
        ("integer", {"least": 17, "greatest": 4983}),
        ("date", {"least": "2026-01-01", "greatest": "2026-01-02"}),
    ],
)
def test_of_a_column_that_may_not_be_told_no_value_is(data_type: str, given: Any) -> None:
    """Even if a profile told too much."""
    found = column("x", data_type, nulls=0, distinct=ROWS, masked=True, **given)
    assert rules(found) == ["not_null(x)", "unique(x)"]


def test_what_is_said_is_not_suggested_again() -> None:
    size = column("size", "integer", nulls=0, least=17, greatest=4983, distinct=400)
    assert rules(size) == ["not_null(size)", "range(size, min=0, max=7500)"]
    for text, left in {
        "not_null(size)": ["range(size, min=0, max=7500)"],
        "completeness(size, min=5%)": ["range(size, min=0, max=7500)"],
        "in_set(size, values=[1])": ["not_null(size)"],
        "foreign_key(size -> silver.sizes(size))": ["not_null(size)"],
        "range(other, min=0)": ["not_null(size)", "range(size, min=0, max=7500)"],
    }.items():
        known = define_rule(parse_rule(text), rule_id=None, severity=None)
        assert rules(size, rules=(known,)) == left, text


def held(*outcomes: Outcome) -> list[VersionResult]:
    return [
        VersionResult(version=9 - at, outcome=reported, message="")
        for at, reported in enumerate(outcomes)
    ]


def test_more_rows_make_it_likelier_and_versions_that_break_it_less() -> None:
    (draft,) = drafts(seen(versions=()))
    assert suggestion(draft).confidence == 0.89
    fewer = draft.model_copy(update={"support": 10})
    assert suggestion(fewer).confidence == 0.45
    half = suggestion(draft, held(Outcome.PASS, Outcome.FAIL, Outcome.ERROR))
    assert half.confidence == 0.45
    compared = suggestion(draft, held(Outcome.PASS, Outcome.FAIL, Outcome.NOT_EVALUATED))
    assert compared.confidence == half.confidence
    assert ranked([half, suggestion(draft)]) == [suggestion(draft)]


def test_the_likeliest_comes_first() -> None:
    (draft,) = drafts(seen())
    weak: Suggestion = suggestion(draft.model_copy(update={"strength": 0.1}))
    assert ranked([weak, suggestion(draft)], 0.0) == [suggestion(draft), weak]


def test_one_value_is_one() -> None:
    found = drafts(seen(column("x", "integer", least=7, greatest=7, distinct=1), rows=2))
    (draft,) = (item for item in found if item.rule == "gt(x, value=0)")
    assert draft.why == "1 value is greater than 0, the least is 7"
