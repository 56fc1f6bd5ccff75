"""A hundred rules over the orders: what a well-kept table of an organisation carries."""

from __future__ import annotations

from collections.abc import Iterator

from bench.orders import COLUMNS, RULES
from lakeguard.gate.rules.compile import default_rule_id
from lakeguard.gate.rules.parse import parse_rule

_NUMBERS = {
    "quantity": (1, 20),
    "unit_price": (1, 1000),
    "discount": (0, 0.3),
    "amount": (0, 71_430),
    "tax": (0, 13_572),
    "customer_id": (0, 99_999),
}
"""Between what every value lies."""
_WORDS = {
    "status": ("NEW", "PAID", "SHIPPED", "DONE", "RETURNED"),
    "country": ("DE", "FR", "IT", "ES", "PL", "NL", "SE"),
    "currency": ("EUR", "USD", "GBP"),
}
_TIMES = {"ordered_at": "T00:00:00Z", "shipped_at": "T00:00:00Z", "order_date": ""}
"""What stands behind a day in the column's type."""
_PATTERNS = {
    "order_id": "ORD-[0-9]{11}",
    "country": "[A-Z]{2}",
    "currency": "[A-Z]{3}",
    "postcode": "[0-9]{5}",
    "status": "[A-Z]+",
}
_SENTENCES = (
    "sql_row(tax + amount >= 1)",
    "sql_row(quantity * unit_price > 0)",
    "sql_row(discount < 0.5)",
    "sql_row(length(trim(country)) = 2)",
    "sql_row(upper(status) = status)",
    "sql_row(amount >= 0 and amount < 100000) where status <> 'RETURNED'",
    "sql_row(postcode is not null) where country = 'DE'",
    "sql_row(days_between(ordered_at, shipped_at) <= 380)",
    "compare(ordered_at <= shipped_at)",
    "compare(tax < amount) fail_if > 99%",
    "sql_agg(sum(tax) / sum(amount), min=0, max=1)",
    "sql_agg(count(comment) / count(order_id), min=0.5, max=1)",
    "row_count(min=1)",
    "unique(order_id) scope batch",
    "distinct(status, min=5, max=5) scope batch",
)
WANTED = 100


def hundred_rules() -> tuple[str, ...]:
    """The twelve of the plain benchmark, and others until there are a hundred."""
    found: dict[str, str] = {}
    for text in (*RULES, *_others()):
        found.setdefault(default_rule_id(parse_rule(text)), text)
    if len(found) < WANTED:
        raise SystemExit(f"there are but {len(found)} rules")
    return tuple(found.values())[:WANTED]


def _others() -> Iterator[str]:
    yield from _SENTENCES
    for column in COLUMNS:
        if column != "comment":
            yield f"not_null({column})"
            yield f"completeness({column}, min=99%)"
    for column, (low, high) in _NUMBERS.items():
        yield f"range({column}, min={low}, max={high})"
        yield f"ge({column}, value={low})"
        yield f"le({column}, value={high})"
        yield f"mean({column}, min={low}, max={high})"
        yield f"max({column}, max={high})"
    for column, words in _WORDS.items():
        yield f"in_set({column}, values=[{', '.join(repr(word) for word in words)}])"
        yield f"not_in_set({column}, values=['', 'NONE'])"
    for column, pattern in _PATTERNS.items():
        yield f"regex({column}, pattern='{pattern}')"
        yield f"length({column}, min=1, max=20)"
    for column, time in _TIMES.items():
        yield f"min({column}, min='2024-01-01{time}')"
        yield f"max({column}, max='2030-01-01{time}')"
        yield f"not_future({column})"
    yield "like(email, pattern='%@%')"
    yield "length(comment, max=40)"
