"""What was worked out once is not worked out again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from lakeguard.state.caches import Remembered


def doubled(missing: set[str]) -> dict[str, str]:
    return {key: key * 2 for key in missing}


def test_only_what_is_new_is_asked_for() -> None:
    remembered, asked = Remembered[str](most=10), list[set[str]]()

    def work_out(missing: set[str]) -> dict[str, str]:
        asked.append(missing)
        return doubled(missing)

    assert remembered.of({"a", "b"}, work_out) == {"a": "aa", "b": "bb"}
    assert remembered.of(["b", "c"], work_out) == {"b": "bb", "c": "cc"}
    assert remembered.of({"a"}, work_out) == {"a": "aa"}
    assert asked == [{"a", "b"}, {"c"}]


def test_more_than_it_keeps_is_answered_all_the_same() -> None:
    """Also to threads that see it forget what another is about to take."""
    remembered = Remembered[str](most=3)
    keys = [chr(ord("a") + number) for number in range(20)]

    def ask(number: int) -> dict[str, str]:
        return remembered.of(keys[number % 20 :], doubled)

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(2_000)))
    for number, answer in enumerate(answers):
        assert answer == doubled(set(keys[number % 20 :]))
