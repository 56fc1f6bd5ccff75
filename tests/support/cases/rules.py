"""For every type of rule: rows that keep it, and rows that break it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from tests.support.cases.rules_and_rows import Case, case

NOW = datetime.now(UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
TEXT, LONG, INTEGER, DOUBLE, DATE, TIME = "string", "long", "integer", "double", "date", "timestamp"
MONEY = "decimal(9,2)"
FOUR = [1, 2, 3, 4]
DAYS = [date(2026, 3, day) for day in FOUR]


def money(*values: str) -> list[Decimal]:
    return [Decimal(value) for value in values]


def ago(*times: timedelta) -> list[datetime]:
    return [NOW - time for time in times]


ROWS: dict[str, Case] = {
    "not_null": case("not_null(seen)", 3, seen=(TEXT, list("abcd"), ["a", None, "", "b"])),
    "null": case("null(ghost)", 1, ghost=(LONG, [None] * 4, [None, 1, None, None])),
    "range": case("range(delay, min=0, max=10)", 2, delay=(INTEGER, [0, 1, 9, 10], [-1, 0, 11, 5])),
    "not_range": case(
        "not_range(seat, min=13, max=14)", 2, seat=(LONG, [12, 15, 1, None], [13, 14, 12, 15])
    ),
    "length": case(
        "length(tail, min=2, max=3)",
        3,
        tail=(TEXT, ["ab", "abc", "üö", None], ["a", "abcd", "", "ab"]),
    ),
    "in_set": case(
        "in_set(origin, ['EWR', 'JFK'])",
        2,
        origin=(TEXT, ["EWR", "JFK", None, "EWR"], ["LGA", "ewr", "EWR", "JFK"]),
    ),
    "not_in_set": case(
        "not_in_set(dest, ['XXX', '???'])", 2, dest=(TEXT, list("abcd"), ["XXX", "???", "a", "xxx"])
    ),
    "regex": case(
        "regex(plate, 'N[0-9]{1,3}')",
        3,
        plate=(TEXT, ["N1", "N22", "N333", None], ["N1", "X1", "N4444", "xN1"]),
    ),
    "not_regex": case(
        "not_regex(serial, '0[0-9]*')",
        2,
        serial=(TEXT, ["1", "10", "x0", None], ["0", "01", "1", ""]),
    ),
    "like": case(
        "like(article, 'N%_1')",
        2,
        article=(TEXT, ["Nx1", "N-21", None, "N001"], ["N1", "Mx1", "Nx1", "Nxx1"]),
    ),
    "castable": case(
        "castable(amount_text, 'decimal(9,2)')",
        3,
        amount_text=(TEXT, ["1.50", "-2", None, "0"], ["x", "", " 1", "1"]),
    ),
    "date_format": case(
        "date_format(birth_text, 'dd/MM/yyyy')",
        3,
        birth_text=(
            TEXT,
            ["29/02/2024", "01/01/2023", None, "31/12/1999"],
            ["29/02/2023", "2023-01-01", "1/1/2023", "01/01/2023"],
        ),
    ),
    "eq": case(
        "eq(currency, 'EUR')", 1, currency=(TEXT, ["EUR"] * 4, ["EUR", "USD", "EUR", "EUR"])
    ),
    "ne": case("ne(status, 'LOST')", 1, status=(TEXT, list("abcd"), ["a", "LOST", "b", "lost"])),
    "gt": case("gt(distance, 0)", 2, distance=(LONG, FOUR, [0, -1, 1, 2])),
    "ge": case("ge(weight, 0.5)", 1, weight=(DOUBLE, [0.5, 1.0, 2.0, None], [0.4, 0.5, 1.0, 2.0])),
    "lt": case("lt(hour, 24)", 2, hour=(LONG, [0, 12, 23, None], [24, 25, 23, 0])),
    "le": case("le(flown, '2026-03-04')", 1, flown=(DATE, DAYS, [date(2026, 3, 5), *DAYS[:3]])),
    "array_size": case(
        "array_size(tags, min=1, max=2)",
        2,
        tags=(
            "array<string>",
            [["a"], ["a", "b"], None, [None]],
            [[], ["a", "b", "c"], ["a"], None],
        ),
    ),
    "array_elements": case(
        "array_elements(marks, value >= 0)",
        2,
        marks=("array<integer>", [[0], [1, None], [], None], [[1, -1], [-1], [0], []]),
    ),
    "map_keys": case(
        "map_keys(labels, allowed=['team', 'env'], required=['team'])",
        3,
        labels=(
            "map<string,long>",
            [{"team": 1}, {"team": None, "env": 2}, None, {"team": 3}],
            [{"env": 1}, {"team": 1, "cost": 2}, {}, {"team": 1}],
        ),
    ),
    "format": case(
        "format(account_no, kind='iban')",
        2,
        account_no=(
            TEXT,
            ["GB82WEST12345698765432", None, "DE89370400440532013000", None],
            ["GB83WEST12345698765432", "", "DE89370400440532013000", None],
        ),
    ),
    "json_valid": case(
        "json_valid(payload)", 2, payload=(TEXT, ["{}", "null", None, "[1]"], ["{", "", "1", None])
    ),
    "json_keys": case(
        "json_keys(event, allowed=['id', 'at'], required=['id'])",
        3,
        event=(
            TEXT,
            ['{"id": 1}', '{"at": 2, "id": null}', None, '{"id": 3}'],
            ['{"at": 1}', '{"id": 1, "on": 2}', "[]", '{"id": 1}'],
        ),
    ),
    "json_schema": case(
        'json_schema(settings, schema=\'{"type": "object", "required": ["id"]}\')',
        2,
        settings=(TEXT, ['{"id": 1}', None, '{"id": "x"}', None], ["{}", "[]", '{"id": 1}', None]),
    ),
    "case": case(
        "case(country, letters='upper')",
        1,
        country=(TEXT, ["GB", "Ü", "", None], ["GB", "gB", "", "1"]),
    ),
    "compare": case(
        "compare(starts <= ends)",
        1,
        starts=(DATE, DAYS, DAYS),
        ends=(DATE, DAYS, [DAYS[3], DAYS[0], DAYS[2], None]),
    ),
    "sql_row": case(
        "sql_row(price * quantity <= total)",
        2,
        price=(MONEY, money("1", "2", "3", "4"), money("1", "2", "3", "4")),
        quantity=(LONG, [1, 2, 3, 4], [1, 2, 3, 4]),
        total=(MONEY, money("1", "4", "9", "16"), money("0.99", "4", "8", "16")),
    ),
    "unique": case("unique(order_id)", 3, order_id=(LONG, FOUR, [1, 1, 1, 2])),
    "foreign_key": case(
        "foreign_key(code -> bronze.codes(code))",
        2,
        code=(TEXT, ["A", "B", "A", None], ["A", "Z", "a", "B"]),
    ),
    "dataset_equal": case(
        "dataset_equal(copied -> bronze.codes(code))",
        4,
        copied=(TEXT, ["B", "A", "B", "A"], ["A", "A", "B", None]),
    ),
    "sql_query": case(
        "sql_query(sum(received) = sum(due)) by bill_no",
        4,
        bill_no=(LONG, [1, 1, 2, None], [1, 1, 2, 2]),
        received=(LONG, [1, 3, 5, 6], [1, 3, 5, 6]),
        due=(LONG, [2, 2, 5, 6], [2, 3, 5, 6]),
    ),
    "not_in_reference": case(
        "not_in_reference(retired -> bronze.codes(code))",
        1,
        retired=(TEXT, ["a", "C", None, "D"], ["A", "C", "D", "E"]),
    ),
}
"""What fails is rows."""

SEQUENCES: dict[str, Case] = {
    "gaps": case("gaps(day, step='1d')", 1, day=(DATE, DAYS, [*DAYS[:3], date(2026, 3, 9)])),
    "increasing": case(
        "increasing(odometer, read_at)",
        1,
        odometer=(LONG, [1, 1, 2, 3], [1, 2, 1, 3]),
        read_at=(DATE, DAYS, DAYS),
    ),
    "decreasing": case(
        "decreasing(stock, counted_at, strict=true)",
        1,
        stock=(LONG, [4, 3, 2, 1], [4, 3, 3, 1]),
        counted_at=(DATE, DAYS, DAYS),
    ),
    "no_overlap": case(
        "no_overlap(valid_from, valid_to) by customer",
        1,
        customer=(LONG, [1, 1, 2, 2], [1, 1, 2, 2]),
        valid_from=(LONG, [1, 5, 1, 5], [1, 4, 1, 5]),
        valid_to=(LONG, [5, None, 5, 9], [5, None, 5, 9]),
    ),
    "no_interval_gap": case(
        "no_interval_gap(open_from, open_to) by shop",
        1,
        shop=(LONG, [1, 1, 2, 2], [1, 1, 2, 2]),
        open_from=(LONG, [1, 5, 1, 4], [1, 6, 1, 4]),
        open_to=(LONG, [5, None, 5, 9], [5, None, 5, 9]),
    ),
}
"""What fails is the row after."""

VALUES: dict[str, Case] = {
    "row_count": case("row_count(min=1, max=4)", None),
    "mean": case("mean(delays, min=1, max=3)", None, delays=(LONG, FOUR, [9, 9, 9, 9])),
    "min": case(
        "min(first_day, min='2026-03-01')",
        None,
        first_day=(DATE, DAYS, [date(2026, 2, 1), *DAYS[:3]]),
    ),
    "max": case("max(last_at, max=4)", None, last_at=(LONG, FOUR, [1, 2, 3, 5])),
    "sum": case("sum(seats, min=10, max=10)", None, seats=(LONG, FOUR, [1, 2, 3, 5])),
    "deviation": case(
        "deviation(spread, max=2)",
        None,
        spread=(DOUBLE, [1.0, 2.0, 3.0, 4.0], [1.0, 20.0, 3.0, 4.0]),
    ),
    "quantile": case("quantile(waits, q=0.5, max=2.5)", None, waits=(LONG, FOUR, [1, 3, 3, 4])),
    "sql_agg": case(
        "sql_agg(sum(paid) / count(distinct buyer), min=2, max=3)",
        None,
        paid=(LONG, FOUR, FOUR),
        buyer=(LONG, FOUR, [1, 1, 2, 2]),
    ),
    "distinct": case(
        "distinct(color, min=2, max=3)", None, color=(TEXT, list("abca"), list("abcd"))
    ),
    "distinct_ratio": case(
        "distinct_ratio(badge, min=75%)", None, badge=(LONG, [1, 2, 3, 3], [1, 2, 2, 2])
    ),
    "unique_ratio": case(
        "unique_ratio(passport, min=50%)", None, passport=(LONG, [1, 2, 3, 3], [1, 2, 2, 2])
    ),
    "most_common": case(
        "most_common(state_of, value='OPEN', max=75%)",
        None,
        state_of=(TEXT, ["OPEN", "OPEN", "OPEN", "SHUT"], ["OPEN", "SHUT", "SHUT", None]),
    ),
    "completeness": case(
        "completeness(phone, min=75%)",
        None,
        phone=(TEXT, ["1", "2", "3", None], ["1", None, None, None]),
    ),
    "freshness": case(
        "freshness(updated_at, max='24h')",
        None,
        updated_at=(TIME, ago(HOUR, DAY, 9 * DAY, DAY), ago(2 * DAY, 3 * DAY, 4 * DAY, 9 * DAY)),
    ),
    "not_older_than": case(
        "not_older_than(event_at, max='30d')",
        None,
        event_at=(TIME, ago(HOUR, DAY, 29 * DAY, DAY), ago(HOUR, DAY, 31 * DAY, DAY)),
    ),
    "not_future": case(
        "not_future(booked_at)",
        None,
        booked_at=(TIME, ago(HOUR, DAY, HOUR, DAY), ago(HOUR, DAY, -DAY, DAY)),
    ),
    "set_drift": case(
        "set_drift(carrier, new=0, gone=0)", None, carrier=(TEXT, list("aabb"), list("abca"))
    ),
    "psi": case("psi(thrust, max=0.2)", None, thrust=(DOUBLE, [1.0, 2.0, 3.0, 4.0], [9.0] * 4)),
    "null_drift": case(
        "null_drift(stand, max=5%)", None, stand=(TEXT, list("abcd"), ["a", None, "c", "d"])
    ),
}
"""What fails is a value of all rows; drift needs an earlier version."""

SHAPES: dict[str, Case] = {
    "column_type": case("column_type(grown, 'integer')", None, grown=(INTEGER, FOUR, FOUR, "long")),
    "column_count": case("column_count(max=<count>)", None, surplus=("", [], list("abcd"), TEXT)),
    "schema_match": case("schema_match([<names>])", None),
    "column_order": case(
        "column_order(one, two)",
        None,
        broken="column_order(two, one)",
        one=(LONG, FOUR, FOUR),
        two=(LONG, FOUR, FOUR),
    ),
    "file_count": case("file_count(max=2)", None),
    "partition_present": case(
        "partition_present(kind, 'a')", None, kind=(TEXT, list("aabb"), list("bcde"))
    ),
}
"""What fails is the table."""

REFUSED: dict[str, Case] = {
    "column_exists": case("column_exists(grown)", broken="column_exists(nowhere)"),
}
"""A definition that breaks it is refused: no run comes to that."""

RULES: dict[str, Case] = {**ROWS, **SEQUENCES, **VALUES, **SHAPES, **REFUSED}
