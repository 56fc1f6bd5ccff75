"""Lists are read in pages, while they grow."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from lakeguard.http.page_tokens import Page, page_of, place_of
from lakeguard.http.responses import Declined
from lakeguard_sdk.errors import PageExpired
from tests.support.fakes.asked_app import AskedApp


def page(items: Sequence[str], size: int, token: str | None = "") -> Page:
    return page_of(lambda count: items[:count], size, token or "", lambda item: item)


def test_pages_have_every_item_once() -> None:
    items = [str(number) for number in range(25)]
    read: list[str] = []
    token: str | None = ""
    while token is not None:
        found = page(items, 10, token)
        read += found.items
        token = found.next_token
    assert read == items


def test_a_list_may_grow_at_its_front() -> None:
    first = page(["c", "b", "a"], 2)
    assert list(page(["e", "d", "c", "b", "a"], 2, first.next_token).items) == ["a"]


def test_a_place_that_is_gone_is_told() -> None:
    first = page(["c", "b", "a"], 2)
    with pytest.raises(PageExpired):
        page(["c", "x", "a"], 2, first.next_token)


@pytest.mark.parametrize("token", ["x", "WzEsIng", "W10", "ü", "A" * 500, "WzAsIiJd", "Wy0xLCIiXQ"])
def test_a_token_of_nobody_is_refused(token: str) -> None:
    with pytest.raises(Declined):
        place_of(token)


def test_a_list_is_answered_in_pages(app: AskedApp) -> None:
    for number in range(3):
        app.post("/datasets/bronze.numbers/tasks", {"triggered_by": "x", "key": str(number)})
    whole = app.get("/tasks").json()
    first = app.get("/tasks?page_size=2").json()
    second = app.get(f"/tasks?page_size=1000&page_token={first['next_page_token']}").json()
    assert first["items"] + second["items"] == whole["items"]
    assert whole["next_page_token"] is second["next_page_token"] is None
