from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.core.ids import new_id, ulid_text

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
NUMBERS = st.integers(0, 2**128 - 1)


@given(number=NUMBERS)
def test_a_number_is_written_five_bits_at_a_time(number: int) -> None:
    plain = "".join(ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
    assert ulid_text(number) == plain


@given(left=NUMBERS, right=NUMBERS)
def test_ids_have_the_order_of_their_numbers(left: int, right: int) -> None:
    assert (ulid_text(left) < ulid_text(right)) is (left < right)


def test_no_two_ids_are_the_same() -> None:
    made = [new_id("task") for _ in range(1_000)]
    assert len(set(made)) == 1_000
    assert {len(each) for each in made} == {31}
