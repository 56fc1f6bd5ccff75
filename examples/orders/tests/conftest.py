from __future__ import annotations

import pytest

from lakeguard_sdk.testing import Lake, assert_promoted

MONDAY = [
    {
        "order_id": 1,
        "ordered_at": "2026-01-05T08:12:00Z",
        "customer_email": "Ada@example.com",
        "country": "de",
        "amount": "129.90",
    },
    {
        "order_id": 2,
        "ordered_at": "2026-01-05T09:40:30Z",
        "customer_email": "ben@example.com",
        "country": "fr",
        "amount": "15.00",
    },
]


@pytest.fixture
def shop(lake: Lake) -> Lake:
    """Monday went well, up to gold."""
    lake.apply()
    lake.write("exports/orders-2026-01-05.csv", MONDAY)
    for name in ("bronze.orders", "silver.orders", "gold.revenue_daily"):
        lake.run(name)
        assert_promoted(lake, name, version=1)
    return lake
