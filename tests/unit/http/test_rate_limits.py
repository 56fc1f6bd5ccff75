"""How often a principal may ask, and an address may show refused tokens."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard.access.principal import Action, Principal, PrincipalKind
from lakeguard.http.rate_limits import BURST_SECONDS, MOST_KEPT, RateLimits
from lakeguard.settings import ServiceSettings
from lakeguard_sdk.errors import RateLimited
from tests.support.examples import examples
from tests.support.fakes.asked_app import token_app, token_for

ADA = Principal("default", PrincipalKind.USER, "user_1", "ada")
BEN = Principal("default", PrincipalKind.USER, "user_2", "ben")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def limits_of(per_minute: int) -> tuple[RateLimits, Clock]:
    clock = Clock()
    settings = ServiceSettings(
        requests_per_minute=per_minute,
        work_requests_per_minute=per_minute * 10,
        refused_tokens_per_minute=per_minute,
    )
    return RateLimits(settings, clock), clock


def is_admitted(limits: RateLimits, principal: Principal, *, is_work: bool = False) -> bool:
    try:
        limits.admit(principal, is_work=is_work)
    except RateLimited:
        return False
    return True


@given(
    st.integers(1, 10_000),
    st.lists(st.floats(0, 100, allow_subnormal=False), min_size=1, max_size=60),
)
@examples(200)
def test_no_more_are_let_in_than_the_limit_and_one_burst(
    per_minute: int, pauses: list[float]
) -> None:
    limits, clock = limits_of(per_minute)
    began, let_in = clock.now, 0
    for pause in pauses:
        clock.now += pause
        let_in += sum(is_admitted(limits, ADA) for _ in range(20))
    burst = max(1.0, per_minute * BURST_SECONDS / 60)
    assert 1 <= let_in <= burst + (clock.now - began) * per_minute / 60 + 0.001


@given(st.integers(1, 100_000), st.floats(0, 60, allow_subnormal=False))
@examples(100)
def test_after_the_time_that_is_named_the_next_one_is_let_in(per_minute: int, at: float) -> None:
    limits, clock = limits_of(per_minute)
    clock.now += at
    for _ in range(per_minute):
        if not is_admitted(limits, ADA):
            break
    with pytest.raises(RateLimited) as refused:
        limits.admit(ADA, is_work=False)
    assert is_admitted(limits, BEN)
    assert is_admitted(limits, ADA, is_work=True)
    assert 1 <= refused.value.fields["seconds"] <= 60
    clock.now += refused.value.fields["seconds"]
    assert is_admitted(limits, ADA)


def refused_token(limits: RateLimits, address: str, token: str) -> None:
    limits.check_address(address, token)
    limits.note_refused(address, token)


def test_guesses_of_an_address_lock_out_neither_others_nor_good_tokens() -> None:
    limits, clock = limits_of(6)
    limits.note_good("Bearer good")
    refused_token(limits, "192.0.2.1", "Bearer guess")
    with pytest.raises(RateLimited):
        refused_token(limits, "192.0.2.1", "Bearer guess")
    limits.check_address("192.0.2.1", "Bearer good")
    limits.check_address("192.0.2.2", "Bearer guess")
    clock.now += 10
    refused_token(limits, "192.0.2.1", "Bearer guess")
    limits.note_refused("192.0.2.1", "Bearer good")  # revoked meanwhile
    with pytest.raises(RateLimited):
        limits.check_address("192.0.2.1", "Bearer good")


def test_the_addresses_of_one_ipv6_network_count_as_one() -> None:
    limits, _ = limits_of(6)
    refused_token(limits, "2001:db8::1", "x")
    with pytest.raises(RateLimited):
        limits.check_address("2001:db8::ffff", "y")
    limits.check_address("2001:db8:0:1::1", "y")
    refused_token(limits, "::ffff:192.0.2.1", "x")
    with pytest.raises(RateLimited):
        limits.check_address("192.0.2.1", "y")


def test_what_is_counted_is_bounded() -> None:
    limits, _ = limits_of(60)
    for number in range(MOST_KEPT + 100):
        limits.note_refused(f"2001:db8:0:{number:x}::1", f"{number}")
        limits.note_good(f"{number}")
    assert len(limits._refused._known) == len(limits._good) == MOST_KEPT


def test_a_principal_that_asks_too_often_is_told_when_to_come_again(tmp_path: Path) -> None:
    app = token_app(tmp_path, "requests_per_minute = 18")
    ada, ben = token_for(tmp_path, "ada", Action.READ), token_for(tmp_path, "ben", Action.READ)
    replies = [app.get("/datasets", Authorization=ada) for _ in range(4)]
    assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
    assert 1 <= int(replies[3].headers["retry-after"]) <= 4
    assert replies[3].headers["content-type"] == "application/problem+json"
    assert replies[3].json() | {"code": "LG-3405", "retryable": True} == replies[3].json()
    assert app.get("/datasets", Authorization=ben).status_code == 200


def test_an_address_that_guesses_is_told_to_wait_before_its_token_is_looked_at(
    tmp_path: Path,
) -> None:
    app = token_app(tmp_path, "refused_tokens_per_minute = 12")
    good = token_for(tmp_path, "good", Action.READ)
    unused = token_for(tmp_path, "unused", Action.READ)
    assert app.get("/datasets", Authorization=good).status_code == 200
    guesses = [app.get("/datasets", Authorization=f"Bearer lgs1_{n}") for n in range(4)]
    assert [reply.status_code for reply in guesses] == [401, 401, 429, 429]
    assert app.get("/datasets", Authorization=unused).status_code == 429
    assert app.get("/datasets", Authorization=good).status_code == 200
    assert app.send("POST", "/api/v1/tasks/keep", b"", Authorization="x").status_code == 429
    assert app.get("/datasets").status_code == 401
    assert app.send("GET", "/healthz").status_code == 200
