"""Accepted patterns mean the same to engines as different as DuckDB's and Python's."""

from __future__ import annotations

import re

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeguard.gate.grammar.pattern import check_pattern
from lakeguard.gate.grammar.pattern_shape import PatternError

LETTERS = "abAZ09_ -.,é\n\r\t\x0b\x85\u2028\xa0\U0001f600ß\u212a\u017f"
WORDS = r"""
a b Z 0 _ \- \. , é \n \r \t ß \d \w \D \W \x41 \x0B \f
[a-z] [^\n] [\w.] [^a-c] [\d\D] [-\]\[x]
"""
ATOMS = (*WORDS.split(), " ", "[ -~]", "[é\u212a]")
MARKS = r"( ) [ ] { } | * + ? . ^ $ \ & : < = ! i s x p P - , 1 2"
QUANTIFIERS = ("", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "??")
PIECES = (*ATOMS, *MARKS.split())

pieces = st.builds(str.__add__, st.sampled_from(ATOMS), st.sampled_from(QUANTIFIERS))


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    group = st.builds(
        "{0}{1}){2}".format, st.sampled_from(["(", "(?:"]), inner, st.sampled_from(QUANTIFIERS)
    )
    return st.one_of(
        group,
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
    )


patterns = st.recursive(pieces, _grown, max_leaves=6)
values = st.lists(st.text(LETTERS, max_size=6), min_size=1, max_size=10)


def accepted(pattern: str) -> bool:
    try:
        check_pattern(pattern)
    except PatternError:
        return False
    return True


@given(patterns.filter(accepted), values)
@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
def test_engines_agree_on_what_is_accepted(pattern: str, texts: list[str]) -> None:
    ours = [re.fullmatch(pattern, text, re.ASCII) is not None for text in texts]
    rows = duckdb.execute(
        "SELECT regexp_matches(t, $pattern) FROM (SELECT unnest($texts) AS t)",
        {"pattern": rf"\A(?:{pattern})\z", "texts": texts},
    ).fetchall()
    assert [found for (found,) in rows] == ours


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=20))
@settings(deadline=None)
def test_any_pattern_is_refused_or_known_to_the_engine(pattern: str) -> None:
    if accepted(pattern):
        duckdb.execute("SELECT regexp_matches('a', $p)", {"p": rf"\A(?:{pattern})\z"})
