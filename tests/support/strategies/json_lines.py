"""JSON Lines with every oddity, most of them nearly flat."""

from __future__ import annotations

from hypothesis import strategies as st

NUMBERS = (
    *(
        "0",
        "-0",
        "-0.0",
        "0.0",
        "1",
        "-1",
        "7.0",
        "1.50",
        "1e3",
        "1E-2",
        "-0e1",
        "12345678901234567",
    ),
    *("123456789", "1234567890", "123456789012345678", "1234567890123456789", "0.000001", "1.005"),
    *("123456789.123456", "1234567890123456.78", "0.1000000000000000001", "1e400", "1e-400", "0.1"),
    *("01", "+1", ".5", "2.", "NaN", "Infinity", "-", "99999999999999999999999", "3.4028236e38"),
    *("16777217", "1.00000005960464477539062500001", "9007199254740993", "64504.71428571428"),
)
TEXTS = (
    *('""', '"x"', '"5"', '"1.50"', '"true"', '"null"', '"NULL"', '" "', '"ä日本💥"', '"a\\"b"'),
    *('"\\\\"', '"\\/"', '"\\n"', '"\\t\\r\\b\\f"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud800"'),
    *('"2013-01-01"', '"2013-01-01T10:00:00Z"', '"\x7f"', '"a\tb"', '"{}"', '"\\x"', "'x'", '"x'),
)
OTHERS = ("true", "false", "null", "True", "{}", "[]", '{"k": [1, 2.50]}', "[1,2]", "")
KEYS = ("a", "b", "c", "d", "A", "it's", 'q"', "ä", "b c")

values = st.one_of(
    st.sampled_from(NUMBERS),
    st.sampled_from(TEXTS),
    st.sampled_from(OTHERS),
    st.integers().map(str),
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """One line; usually an object."""
    if draw(st.integers(0, 15)) == 0:
        return draw(st.sampled_from(["", " ", "1", "[]", "{}", "{", '"a"', "\ufeff{}", "null"]))
    keys = draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=4))
    colon, comma = draw(st.sampled_from([(":", ","), (": ", ", "), (" :", " ,")]))
    members = (f'"{key}"{colon}{draw(values)}' for key in keys)
    return f"{{{comma.join(members)}}}"


@st.composite
def flat_lines(draw: st.DrawFn, kinds: tuple[tuple[str, ...], ...]) -> list[str]:
    """Objects of the keys a, b, c and so on, with values of their kind."""
    comma, colon = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    lacking = draw(st.sampled_from([0, 0, 4]))
    found = []
    for _ in range(draw(st.integers(1, 5))):
        members = [
            f'"{chr(97 + at)}"{colon}{draw(st.sampled_from(kind))}'
            for at, kind in enumerate(kinds)
            if at == 0 or not lacking or draw(st.integers(0, lacking))
        ]
        found.append(f"{{{comma.join(members)}}}")
    return found


def file_of(found: list[str], end: str = "\n", *, last: bool = True) -> bytes:
    return (end.join(found) + end * last).encode("utf-8", "surrogatepass")
