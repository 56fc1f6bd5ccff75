from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.scheduling.event_patterns import matches, pattern_problems

EVENT = {
    "source": "shop.orders",
    "region": "eu-1",
    "resources": ["arn:one", "arn:rule/two"],
    "detail": {
        "state": "Paid",
        "sum": 12.5,
        "test": False,
        "note": None,
        "lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}],
    },
}


@pytest.mark.parametrize(
    ("pattern", "is_match"),
    [
        ({"source": ["shop.orders"]}, True),
        ({"source": ["shop.orders", "other"], "region": ["eu-1"]}, True),
        ({"source": ["shop.orders"], "region": ["us-1"]}, False),
        ({"source": ["SHOP.orders"]}, False),
        ({"source": [{"equals-ignore-case": "SHOP.orders"}]}, True),
        ({"source": [{"prefix": "shop."}]}, True),
        ({"source": [{"suffix": "shop."}]}, False),
        ({"resources": [{"suffix": "/two"}]}, True),
        ({"resources": ["arn:three"]}, False),
        ({"detail": {"sum": [{"numeric": [">", 12, "<=", 12.5]}]}}, True),
        ({"detail": {"sum": [{"numeric": ["=", 12]}]}}, False),
        ({"detail": {"state": [{"numeric": [">", 0]}]}}, False),
        ({"detail": {"test": [False]}}, True),
        ({"detail": {"test": [0]}}, False),
        ({"detail": {"note": [None]}}, True),
        ({"detail": {"gone": [None]}}, False),
        ({"detail": {"gone": [{"exists": False}]}}, True),
        ({"detail": {"note": [{"exists": True}]}}, True),
        ({"nothing": {"here": [{"exists": False}]}}, True),
        ({"detail": {"state": [{"anything-but": "Open"}]}}, True),
        ({"detail": {"state": [{"anything-but": ["Open", "Paid"]}]}}, False),
        ({"detail": {"state": [{"anything-but": {"prefix": "Pa"}}]}}, False),
        ({"detail": {"gone": [{"anything-but": "Open"}]}}, False),
        ({"detail": {"lines": {"sku": ["a"], "n": [1]}}}, True),
        ({"detail": {"lines": {"sku": ["a"], "n": [2]}}}, False),
        ({"detail": {"state": {"deep": ["x"]}}}, False),
        ({"$or": [{"region": ["us-1"]}, {"detail": {"test": [False]}}]}, True),
        ({"$or": [{"region": ["us-1"]}, {"source": ["x"]}]}, False),
        ({"source": ["x"], "$or": [{"region": ["eu-1"]}, {"source": ["x"]}]}, False),
    ],
)
def test_an_event_matches_where_every_key_does(pattern: dict[str, Any], is_match: bool) -> None:
    assert pattern_problems(pattern) == []
    assert matches(pattern, EVENT) is is_match


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ({}, "the pattern needs keys"),
        ([], "the pattern needs keys"),
        ({"source": "x"}, "source needs a list"),
        ({"source": []}, "source needs a list"),
        ({"detail": {}}, "detail needs keys"),
        ({"detail": {"a": [{"wildcard": "x*"}]}}, "'wildcard' is no operator (prefix,"),
        ({"a": [{"prefix": "x", "suffix": "y"}]}, "one operator"),
        ({"a": [["x"]]}, "an entry is a value"),
        ({"a": [{"prefix": 1}]}, "prefix needs a text"),
        ({"a": [{"prefix": ""}]}, "prefix needs a text"),
        ({"a": [{"exists": "yes"}]}, "exists needs true or false"),
        ({"a": [{"numeric": [">"]}]}, "numeric needs one or two bounds"),
        ({"a": [{"numeric": ["!", 1]}]}, "numeric needs one or two bounds"),
        ({"a": [{"numeric": [">", True]}]}, "numeric needs one or two bounds"),
        ({"a": [{"anything-but": []}]}, "anything-but needs a value"),
        ({"a": [{"anything-but": {"numeric": [">", 1]}}]}, "anything-but needs a value"),
        ({"$or": [{"a": [1]}]}, "$or needs a list of two"),
        ({"$or": [{"a": [1]}, {"b": "x"}]}, "$or.b needs a list"),
        ({"a": [1] * 1_001}, "more than 1,000 entries"),
    ],
)
def test_what_cannot_be_matched_is_told(pattern: Any, text: str) -> None:
    problems = pattern_problems(pattern)
    assert any(text in problem for problem in problems), problems


def test_a_pattern_of_any_depth_is_told_and_not_followed() -> None:
    pattern: dict[str, Any] = {"a": [1]}
    for _ in range(500):
        pattern = {"a": pattern}
    assert any("levels deep" in problem for problem in pattern_problems(pattern))


PLAIN = st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["", "a", "ab", "b"])
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)
EVENTS = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)
OPERATORS = st.one_of(
    st.sampled_from(["a", "b"]).map(lambda text: {"prefix": text}),
    st.sampled_from(["a", "b"]).map(lambda text: {"suffix": text}),
    st.booleans().map(lambda said: {"exists": said}),
    st.integers(-9, 9).map(lambda bound: {"numeric": ["<", bound]}),
    PLAIN.map(lambda value: {"anything-but": value}),
)
PATTERNS = st.recursive(
    st.dictionaries(
        st.sampled_from("abc"), st.lists(PLAIN | OPERATORS, min_size=1, max_size=3), min_size=1
    ),
    lambda inner: (
        st.dictionaries(st.sampled_from("abc"), inner, min_size=1)
        | st.tuples(inner, inner).map(lambda two: {"$or": list(two)})
    ),
    max_leaves=4,
)


@given(pattern=PATTERNS, event=EVENTS)
def test_a_pattern_without_problems_can_be_asked_of_any_event(
    pattern: dict[str, Any], event: dict[str, Any]
) -> None:
    assert pattern_problems(pattern) == []
    assert matches(pattern, event) in (True, False)


@given(left=PATTERNS, right=PATTERNS, event=EVENTS)
def test_either_of_two_will_do(
    left: dict[str, Any], right: dict[str, Any], event: dict[str, Any]
) -> None:
    either = matches({"$or": [left, right]}, event)
    assert either == (matches(left, event) or matches(right, event))


@given(event=st.dictionaries(st.sampled_from("abc"), PLAIN, min_size=1), other=PLAIN)
def test_anything_but_is_the_opposite_of_a_value(event: dict[str, Any], other: Any) -> None:
    key = next(iter(event))
    answer = matches({key: [other]}, event)
    assert matches({key: [{"anything-but": other}]}, event) is not answer
    assert matches({key: [event[key]] for key in event}, event)
