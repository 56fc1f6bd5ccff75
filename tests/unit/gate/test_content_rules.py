"""Rules about what is inside of a value: texts of a kind, letters, keys of maps."""

from __future__ import annotations

from typing import Any

import pytest

from lakeguard.gate.rule_types.texts import TEXT_KINDS
from lakeguard.gate.rules.compile import compile_text
from lakeguard.gate.rules.parse import GrammarError
from lakeguard_sdk.core.enums import Outcome
from lakeguard_sdk.expressions.measures import CountIf
from tests.property.measure.scalar_oracle import truth
from tests.unit.gate.cases import judged, refusal, row, schema

KINDS = {
    "email": ("ada@example.org", "ada@example"),
    "url": ("https://example.org/a?b", "example.org"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567"),
    "ipv4": ("192.168.0.1", "256.1.1.1"),
    "ipv6": ("2001:db8:0:0:0:0:0:1", "2001:db8"),
    "cidr": ("10.0.0.0/8", "10.0.0.0/33"),
    "phone": ("+491701234567", "0170"),
    "iban": ("GB82WEST12345698765432", "GB83WEST12345698765432"),
    "card": ("378282246310005", "378282246310006"),
    "country": ("DE", "Germany"),
    "currency": ("EUR", "eur"),
    "language": ("de-AT", "German"),
    "mac": ("00:1B:44:11:3A:B7", "00-1B"),
}
MAPS = schema(labels="map<string,integer>", days="map<date,string>", odd="map<binary,string>")


def names(*values: str | None) -> list[dict[str, Any]]:
    return [row(name=value) for value in values]


def test_every_kind_is_tried() -> None:
    assert set(KINDS) == set(TEXT_KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str) -> None:
    good, bad = KINDS[kind]
    found = judged(f"format(name, '{kind}')", names(good, bad, "", None))
    assert (found.outcome, found.failed_rows, found.scope_rows) == (Outcome.FAIL, 2, 4)
    assert judged(f"format(name, '{kind}')", names(good, None)).outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("4111111111111111", True),
        ("4111111111111112", False),
        ("1411111111111111", False),
        ("0000000000000000", True),
        ("6304000000000000000", True),
        ("63040000000000000000", False),
    ],
)
def test_cards_are_read_from_the_right(text: str, good: bool) -> None:
    outcome = Outcome.PASS if good else Outcome.FAIL
    assert judged("format(name, 'card')", names(text)).outcome is outcome


def test_check_digits_are_conditions_too() -> None:
    data = names("18", "19", "4111111111111111", "x", None)
    assert judged("sql_row(luhn(name))", data).failed_rows == 2
    assert judged("sql_row(iban(upper(name)))", names("gb82west12345698765432")).failed_rows == 0
    assert "iban needs a string" in refusal("sql_row(iban(count))").message


def test_letters() -> None:
    data = names("ABC", "aBC", "ÀÉ", "àé", "1-2", "", None)
    assert judged("case(name, 'upper')", data).failed_rows == 1
    assert judged("case(name, letters='lower')", data).failed_rows == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("format(name, 'mail')", "kind must be one of email, url"),
        ("format(name, 'Email')", "kind must be one of"),
        ("format(count, 'email')", "format needs a string; count is integer"),
        ("case(name, 'title')", "letters must be one of upper, lower"),
        ("case(name)", "case needs letters"),
        ("map_keys(name, required=['a'])", "map_keys needs a map whose keys are not nested"),
        ("map_keys(name)", "map_keys needs allowed, required or both"),
    ],
)
def test_refused(text: str, expected: str) -> None:
    assert expected in refusal(text).message


@pytest.mark.parametrize(
    ("keys", "fails"),
    [
        (None, None),
        ([], True),
        (["team"], False),
        (["team", "cost"], False),
        (["cost"], True),
        (["team", "other"], True),
    ],
)
def test_keys_of_maps(keys: list[str] | None, fails: bool | None) -> None:
    text = "map_keys(labels, allowed=['team', 'cost'], required=['team'])"
    measure = compile_text(text, MAPS).measures[0]
    assert isinstance(measure, CountIf)
    labels = None if keys is None else [(key, None) for key in keys]
    assert truth(measure.condition, {"labels": labels}) is fails


@pytest.mark.parametrize(
    ("text", "expected", "at"),
    [
        ("map_keys(labels, allowed=['a'], required=['b', 'a'])", "b is required but not", "'b'"),
        ("map_keys(labels, allowed=['a', 1])", "1 is not a valid string", "1"),
        ("map_keys(days, allowed=['2026-01-01'], required=['x'])", "'x' is not a date", "'x'"),
        ("map_keys(odd, required=['a'])", "whose keys are not nested; odd is", "odd"),
    ],
)
def test_refused_keys_of_maps(text: str, expected: str, at: str) -> None:
    with pytest.raises(GrammarError, match=expected) as refused:
        compile_text(text, MAPS)
    assert text[refused.value.offset :].startswith(at)
