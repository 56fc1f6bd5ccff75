from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

from lakeguard_sdk.testing import (
    Lake,
    assert_blocked,
    assert_lineage,
    assert_promoted,
    assert_published,
    assert_quarantined,
    assert_rows,
    assert_versions,
    assert_warned,
)

TUESDAY = {
    "order_id": 3,
    "ordered_at": "2026-01-06T07:45:00Z",
    "customer_email": "fay@example.com",
    "country": "de",
    "amount": "9.99",
}


def tuesday(shop: Lake, *changes: dict[str, Any]) -> None:
    """The next export arrives, and silver is built from it."""
    rows = [TUESDAY, *({**TUESDAY, **change} for change in changes)]
    shop.write("exports/orders-2026-01-06.csv", rows)
    shop.run("bronze.orders")
    shop.run("silver.orders")


def test_orders_are_typed_and_cleaned(shop: Lake) -> None:
    monday = date(2026, 1, 5)
    assert_rows(
        shop,
        "silver.orders",
        [
            {"order_id": 1, "order_date": monday, "country": "DE", "amount": Decimal("129.90")},
            {"order_id": 2, "order_date": monday, "country": "FR", "amount": Decimal("15.00")},
        ],
    )


def test_revenue_is_summed_by_day_and_country(shop: Lake) -> None:
    tuesday(shop, {"order_id": 4, "amount": "20.01"})
    shop.run("gold.revenue_daily")
    assert_promoted(shop, "gold.revenue_daily", version=2)
    assert_lineage(shop, "gold.revenue_daily", "silver.orders@v2")
    assert_rows(
        shop,
        "gold.revenue_daily",
        [
            {"country": "DE", "orders": 1, "revenue": Decimal("129.90")},
            {"country": "FR", "orders": 1, "revenue": Decimal("15.00")},
            {"country": "DE", "orders": 2, "revenue": Decimal("30.00")},
        ],
    )


def test_an_order_that_comes_twice_is_blocked(shop: Lake) -> None:
    tuesday(shop, {"order_id": 1})
    assert_blocked(shop, "silver.orders", rule="unique.order_id", failed_rows=2)
    assert_versions(shop, "silver.orders", 1)


def test_a_negative_amount_is_blocked(shop: Lake) -> None:
    tuesday(shop, {"order_id": 4, "amount": "-1.00"})
    assert_blocked(shop, "silver.orders", rule="range.amount", failed_rows=1)


def test_a_customer_without_an_address_is_only_a_warning(shop: Lake) -> None:
    tuesday(shop, {"order_id": 4, "customer_email": None})
    assert_promoted(shop, "silver.orders", version=2)
    assert_warned(shop, "silver.orders", rule="not_null.customer_email", failed_rows=1)


def test_an_unknown_country_waits_and_the_others_go_on(shop: Lake) -> None:
    tuesday(shop, {"order_id": 4, "country": "Germany"})
    assert_promoted(shop, "silver.orders", version=2)
    assert_quarantined(shop, "silver.orders", rule="regex.country", rows=1)
    assert_rows(shop, "silver.orders", [{"order_id": 1}, {"order_id": 2}, {"order_id": 3}])


def test_no_address_gets_into_gold(shop: Lake) -> None:
    """Whoever adds the column, under whatever name."""
    shop.write(
        "sql/revenue_daily.sql", "SELECT order_id, customer_email AS buyer FROM silver.orders"
    )
    shop.apply(
        """
        dataset: gold.revenue_daily
        owner: shop-team
        domain: sales
        parents: [silver.orders]
        build: {sql: sql/revenue_daily.sql}
        columns:
          order_id: {type: long}
          buyer: {type: string}
        """
    )
    shop.run("gold.revenue_daily")
    assert_blocked(shop, "gold.revenue_daily", policy="no_pii_in_gold")
    assert_published(shop, "gold.revenue_daily", 1)


def test_a_wrong_export_is_taken_back(shop: Lake) -> None:
    tuesday(shop)
    shop.rollback("silver.orders", to=1, reason="the prices of Tuesday are wrong")
    assert_published(shop, "silver.orders", 1)
    assert_versions(shop, "silver.orders", 2)
    assert_rows(shop, "silver.orders", [{"order_id": 1}, {"order_id": 2}])
    assert_rows(shop, "silver.orders@v2", [{"order_id": 1}, {"order_id": 2}, {"order_id": 3}])
