"""Patterns: what every engine reads alike is accepted, the rest is refused by name."""

from __future__ import annotations

import pytest

from lakeguard.gate.grammar.pattern import check_pattern
from lakeguard.gate.grammar.pattern_shape import PatternError
from tests.unit.gate.cases import refusal


@pytest.mark.parametrize(
    "pattern",
    [
        "N[0-9]{1,5}[A-Z]{0,2}",
        r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}",
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+){1,5}",
        r"\d{4}-\d{2}-\d{2}",
        r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}",
        r"\+?[0-9 ()\-]{6,20}",
        r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)",
        r"-?\d{1,3}(?:,\d{3})*(?:\.\d+)?",
        r"(?:ab)*",
        r"[^,\n]*,[^,\n]*,[^,\n]*,[^\n]*",
        r"[^\n]*error[^\n]*",
        r"a??b+?c*?d{2,3}?",
        r"\x41\x{1F600}[\x{0}-\x{1F}]",
        r"[-a][a-][\]\[\\^]\(\)\{\}\.\|",
        r"\p{Z}*[\p{Z}x]",
        "ümläut 'quoted'",
        r"|a",
        r"(a|b){1,10}",
    ],
)
def test_accepted(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("", "use length"),
        ("a.b", r"write [^\n], or \. for a dot"),
        ("^a", "remove '^'"),
        ("a$", "remove '$'"),
        (r"\Aa", r"remove \A"),
        (r"a\z", r"remove \z"),
        (r"a\Z", r"remove \Z"),
        (r"\s+", r"write [ \t\n\x0B\f\r]"),
        (r"[\s]", r"write [ \t\n\x0B\f\r]"),
        (r"\bword\b", r"\b differs"),
        (r"\v", r"\v differs"),
        (r"\h", r"write [ \t]"),
        (r"\R", r"write \r?\n"),
        (r"\u0041", r"write \x{…}"),
        (r"\p{L}", r"only \p{Z} is portable"),
        (r"\p{Greek}", r"only \p{Z} is portable"),
        (r"\PZ", r"only \p{Z} is portable"),
        (r"\1", "back-references"),
        (r"\141", "back-references and octal"),
        (r"\q", r"\q differs"),
        (r"\é", r"\é differs"),
        ("a\\", "a backslash at the end"),
        (r"\x{D800}", "not a character"),
        (r"\x{110000}", "not a character"),
        (r"\xZ", r"\x differs"),
        ("(?i)abc", "write both cases"),
        ("(?s)a", r"write [\d\D]"),
        ("(?x)a", "(?x"),
        ("(?=a)", "look-ahead"),
        ("(?!a)", "look-ahead"),
        ("(?<=a)", "look-behind"),
        ("(?<!a)", "look-behind"),
        ("(?>a)", "atomic"),
        ("(?<n>a)", "named group"),
        ("(?P<n>a)", "named group"),
        ("a++", "possessive"),
        ("a**", "a quantifier follows a quantifier"),
        ("*a", "nothing to repeat"),
        ("a{,2}", "{m}, {m,} or {m,n}"),
        ("a{x}", "{m}, {m,} or {m,n}"),
        ("{", "nothing to repeat"),
        ("a}", "unmatched"),
        ("a]", "unmatched"),
        ("a{1001}", "at most 1000"),
        ("a{3,2}", "counts must ascend"),
        ("a{0}", "counts must ascend"),
        ("[a", "unmatched '['"),
        ("[]a]", "an empty class"),
        ("[[a]b]", "nested classes"),
        ("[[:alpha:]]", "nested classes"),
        ("[a&&b]", "&& in a class"),
        ("[z-a]", "from a lower to a higher"),
        (r"[a-\d]", "from a lower to a higher"),
        ("[a-c-e]", "a hyphen between two members"),
        ("(a", "unmatched '('"),
        ("a)", "unmatched ')'"),
        ("(" * 21 + "a" + ")" * 21, "nested too deeply"),
        ("a" * 1001, "at most 1,000 characters"),
        ("(?:a{10}){101}", "multiply to more than 1,000"),
        ("a{1000}" * 6, "more than 5,000"),
    ],
)
def test_refused_by_name(pattern: str, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        check_pattern(pattern)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(a|b)*", "[ab]* for (a|b)*"),
        ("(?:a|b){0,101}", "overflows Spark's stack"),
        (r"(?:\.[a-z]+)*", "overflows Spark's stack"),
        (r"(?:[\d\D]b)*", "overflows Spark's stack"),
        ("(a+)*", "takes exponential time"),
        ("(a+)+b", "takes exponential time"),
        ("(?:a|ab)*c", "takes exponential time"),
        ("(a?)*", "can be empty"),
        ("(?:a*){1,5}", "can be empty"),
        ("(?:[^\n]*,){12}P", "end in more than one place"),
        ("[^\n]*a[^\n]*b[^\n]*c[^\n]*", "end in more than one place"),
        ("a?" * 20 + "a" * 20, "end in more than one place"),
    ],
)
def test_shapes_that_hang_or_overflow_are_refused(pattern: str, message: str) -> None:
    with pytest.raises(PatternError) as caught:
        check_pattern(pattern)
    assert message in str(caught.value)


def test_the_refusal_points_at_the_pattern() -> None:
    error = refusal("regex(name, pattern='a.c')")
    assert (error.kind, error.offset, error.length) == ("meaning", 20, 5)
