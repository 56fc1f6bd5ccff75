"""For every rule of the catalogue: rows that keep it, and rows that break each of its parts."""

from __future__ import annotations

from datetime import date

from tests.support.cases.rules import (
    DATE,
    DAYS,
    DOUBLE,
    FOUR,
    LONG,
    MONEY,
    TEXT,
    money,
)
from tests.support.cases.rules_and_rows import Case, case

NOT_A_NUMBER, ENDLESS = float("nan"), float("inf")
MARCH_2, MARCH_7, MARCH_30 = date(2026, 3, 2), date(2026, 3, 7), date(2026, 3, 30)

PRESENCE: dict[str, Case] = {
    "not_empty": case(
        "not_empty(title)", 1, title=(TEXT, ["a", " ", None, "b"], ["", "a", " ", "b"])
    ),
    "not_blank": case(
        "not_blank(label)", 2, label=(TEXT, ["a", " b", None, "c"], ["", " \t", "a", "b"])
    ),
    "trimmed": case("trimmed(town)", 2, town=(TEXT, ["a b", "", None, "c"], [" a", "b ", "c", ""])),
    "required_if": case(
        "required_if(refund, when=returned = true)",
        1,
        refund=(LONG, [1, None, 2, None], [1, None, None, 3]),
        returned=("boolean", [True, False, True, None], [True, True, False, None]),
    ),
    "at_least_one_not_null": case(
        "at_least_one_not_null(mail, fax)",
        3,
        mail=(TEXT, ["a", None, "b", "c"], ["a", None, "b", "c"]),
        fax=(TEXT, [None, "x", "y", None], [None, None, "y", None]),
    ),
    "exactly_one_not_null": case(
        "exactly_one_not_null(person, firm)",
        3,
        person=(TEXT, ["a", None, "b", None], ["a", None, "b", None]),
        firm=(TEXT, [None, "x", None, "y"], ["z", "x", None, "y"]),
    ),
}

NUMBERS: dict[str, Case] = {
    "positive": case("positive(gain)", 2, gain=(LONG, FOUR, [0, -1, 1, 2])),
    "non_negative": case("non_negative(loss)", 1, loss=(LONG, [0, 1, 2, None], [0, -1, 1, 2])),
    "multiple_of": case("multiple_of(pack, of=6)", 2, pack=(LONG, [0, 6, 12, None], [6, 7, 5, 12])),
    "decimal_places": case(
        "decimal_places(fee, most=1)",
        1,
        fee=(MONEY, money("1", "1.5", "2", "2.5"), money("1.05", "1.5", "2", "2.5")),
    ),
    "finite": case(
        "finite(ratio)",
        2,
        ratio=(DOUBLE, [0.0, 1.5, None, -1.0], [NOT_A_NUMBER, ENDLESS, 1.0, 0.0]),
    ),
    "near": case(
        "near(planned, other=actual, tolerance=2)",
        2,
        planned=(LONG, FOUR, FOUR),
        actual=(LONG, [3, 4, 1, None], [4, 5, 3, 4]),
    ),
    "sum_equals": case(
        "sum_equals(net, tax, total=gross)",
        1,
        net=(LONG, FOUR, FOUR),
        tax=(LONG, FOUR, FOUR),
        gross=(LONG, [2, 4, 6, 8], [2, 4, 6, 9]),
    ),
    "conditional": case(
        "conditional(if=ordered > 0, then=sent > 0)",
        1,
        ordered=(LONG, [1, 0, 2, None], [1, 0, 2, None]),
        sent=(LONG, [1, 0, 2, 0], [1, 0, 0, 0]),
    ),
    "latitude": case(
        "latitude(north)", 1, north=(DOUBLE, [90.0, -90.0, 0.0, None], [90.1, 0.0, 1.0, 2.0])
    ),
    "longitude": case(
        "longitude(east)", 1, east=(DOUBLE, [180.0, -180.0, 0.0, None], [-180.1, 0.0, 1.0, 2.0])
    ),
    "lat_lon": case(
        "lat_lon(lat=y, lon=x)",
        1,
        2,
        y=(DOUBLE, [90.0, -90.0, 0.0, None], [91.0, 0.0, 1.0, 2.0]),
        x=(DOUBLE, [180.0, -180.0, 0.0, None], [181.0, -181.0, 1.0, 2.0]),
    ),
}

TEXTS: dict[str, Case] = {
    "upper_case": case(
        "upper_case(state)", 1, state=(TEXT, ["NY", "", None, "1"], ["Ny", "NY", "CA", "1"])
    ),
    "lower_case": case(
        "lower_case(slug)", 1, slug=(TEXT, ["ny", "", None, "1"], ["Ny", "ny", "ca", "1"])
    ),
    "charset": case(
        "charset(hexes, pattern='[0-9a-f]*')",
        1,
        hexes=(TEXT, ["0f", "", None, "a"], ["0g", "0f", "a", "b"]),
    ),
    "ascii": case("ascii(plain)", 1, plain=(TEXT, ["a b", "", None, "~"], ["ä", "a", "b", "c"])),
}

FORMS: dict[str, tuple[str, str]] = {
    "email": ("ada@example.org", "ada@example"),
    "url": ("https://example.org/a?b", "example.org"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567"),
    "ipv4": ("192.168.0.1", "256.1.1.1"),
    "ipv6": ("2001:db8:0:0:0:0:0:1", "2001:db8"),
    "cidr": ("10.0.0.0/8", "10.0.0.0/33"),
    "phone": ("+441632960961", "01632960961"),
    "iban": ("GB82WEST12345698765432", "GB83WEST12345698765432"),
    "card": ("4111111111111111", "4111111111111112"),
    "country": ("GB", "GBR"),
    "currency": ("EUR", "eur"),
    "language": ("en-GB", "english"),
    "mac": ("00:1a:2B:3c:4d:5e", "00-1a-2b-3c-4d-5e"),
}
"""Of each form one text that has it, and one that has not."""


def _form(name: str) -> Case:
    good, bad = FORMS[name]
    values = (TEXT, [good, None, good, good], [bad, good, None, good])
    return case(f"format_{name}(a_{name})", 1, **{f"a_{name}": values})


KEYS: dict[str, Case] = {
    "primary_key": case("primary_key(pk)", 3, 2, pk=(LONG, FOUR, [1, 1, 2, None])),
    "unique_within": case(
        "unique_within(line, within=bill)",
        2,
        line=(LONG, [1, 2, 1, 2], [1, 1, 1, 2]),
        bill=(LONG, [1, 1, 2, 2], [1, 1, 2, 2]),
    ),
    "cardinality": case(
        "cardinality(region, max=2)", None, region=(TEXT, list("abab"), list("abca"))
    ),
    "distinct_count": case(
        "distinct_count(zone, min=2)", None, zone=(TEXT, list("abab"), list("aaaa"))
    ),
    "duplicate_ratio": case(
        "duplicate_ratio(ticket, max=50%)", 4, ticket=(LONG, [1, 1, 2, 3], [1, 1, 2, 2])
    ),
    "superseded_by_latest": case(
        "superseded_by_latest(client, current=live = true)",
        2,
        client=(LONG, [1, 1, 2, 2], [1, 1, 2, 2]),
        live=("boolean", [True, False, True, None], [True, True, True, None]),
    ),
    "scd2_no_overlap": case(
        "scd2_no_overlap(member, start=since, end=until)",
        1,
        member=(LONG, [1, 1, 2, 2], [1, 1, 2, 2]),
        since=(DATE, [DAYS[0], DAYS[1]] * 2, [DAYS[0], DAYS[1]] * 2),
        until=(DATE, [DAYS[1], None] * 2, [DAYS[1], None, DAYS[2], None]),
    ),
    "scd2_no_gap": case(
        "scd2_no_gap(guest, start=arrived, end=left)",
        1,
        guest=(LONG, [1, 1, 2, 2], [1, 1, 2, 2]),
        arrived=(DATE, [DAYS[0], DAYS[2]] * 2, [DAYS[0], DAYS[2]] * 2),
        left=(DATE, [DAYS[2], None] * 2, [DAYS[2], None, DAYS[1], None]),
    ),
    "sequential": case("sequential(invoice)", 1, 2, invoice=(LONG, FOUR, [1, 1, 2, 9])),
}

SPREADS: dict[str, Case] = {
    "median": case("median(age, max=2.5)", None, age=(LONG, FOUR, [1, 3, 3, 4])),
    "stddev": case(
        "stddev(mass, max=2)", None, mass=(DOUBLE, [1.0, 2.0, 3.0, 4.0], [1.0, 20.0, 3.0, 4.0])
    ),
    "constant": case("constant(tenant)", None, tenant=(TEXT, list("aaaa"), list("aaab"))),
    "not_constant": case("not_constant(batch)", None, batch=(TEXT, list("aaab"), list("aaaa"))),
    "value_share": case(
        "value_share(reason, value='x', max=25%)", 2, reason=(TEXT, list("xabc"), list("xxab"))
    ),
}

TIMES: dict[str, Case] = {
    "weekday": case(
        "weekday(opened, days=(0, 1, 2, 3, 4))",
        1,
        opened=(DATE, [MARCH_2] * 4, [MARCH_7, MARCH_2, MARCH_2, MARCH_2]),
    ),
    "no_gaps": case(
        "no_gaps(read_on, period='1d')", 1, read_on=(DATE, DAYS, [*DAYS[:3], MARCH_30])
    ),
    "event_order": case(
        "event_order(sold, other=paid_on)",
        1,
        sold=(DATE, DAYS, DAYS),
        paid_on=(DATE, DAYS, [DAYS[3], DAYS[0], DAYS[2], None]),
    ),
    "event_lag": case(
        "event_lag(packed, other=shipped, days=2)",
        1,
        packed=(DATE, DAYS, DAYS),
        shipped=(DATE, DAYS, [MARCH_30, *DAYS[1:]]),
    ),
    "late_ratio": case(
        "late_ratio(asked, other=told, days=2, max=25%)",
        2,
        asked=(DATE, DAYS, DAYS),
        told=(DATE, [MARCH_30, *DAYS[1:]], [MARCH_30, MARCH_30, *DAYS[2:]]),
    ),
}

PAST: dict[str, Case] = {
    "new_values": case(
        "new_values(airline, most=1)", None, airline=(TEXT, list("aabb"), list("abcd"))
    ),
    "change_vs_last": case("change_vs_last(max=20%)", None),
    "anomaly": case("anomaly(k=1, least=2)", None),
}
"""What is held against earlier versions."""

MACROS: dict[str, Case] = {
    **PRESENCE,
    **NUMBERS,
    **TEXTS,
    **{f"format_{name}": _form(name) for name in FORMS},
    **KEYS,
    **SPREADS,
    **TIMES,
    **PAST,
}
