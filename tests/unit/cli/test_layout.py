"""Numbers, times and tables read as people write them."""

from __future__ import annotations

from datetime import timedelta

import click
import pytest

from lakeguard.cli.terminal import layout
from tests.support.cases.models import NOW


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (336_000, "336,000"),
        (419.763157895, "419.763"),
        (5.0, "5"),
        (-0.25, "-0.25"),
        (1234567.891, "1,234,567.89"),
        ("2013-12-31", "2013-12-31"),
        ("bad\x1b", "bad\\x1b"),
    ],
)
def test_number(value: object, text: str) -> None:
    assert layout.number(value) == text


def test_age_and_duration() -> None:
    assert layout.age(NOW - timedelta(days=3, hours=2), NOW) == "3 d ago"
    assert layout.age(NOW - timedelta(minutes=59), NOW) == "59 min ago"
    assert layout.age(NOW + timedelta(seconds=9), NOW) == "just now"
    assert layout.duration(NOW, NOW + timedelta(seconds=3.44)) == "3.4 s"
    assert layout.duration(NOW, NOW + timedelta(seconds=125)) == "2 min 5 s"


def test_columns_line_up_whatever_their_colour_and_script() -> None:
    red = layout.toned("✗", layout.Tone.BAD)
    lines = layout.columns([[red, "b"], ["データ", "b"], ["aaa", "b"]])
    assert [layout.width(line) for line in lines] == [10, 10, 10]
    assert layout.columns([["1", "x"], ["100", "y"]], right=frozenset({0})) == [
        "  1   x",
        "100   y",
    ]
    assert layout.columns([]) == []


def test_tones_are_colour_only() -> None:
    assert click.unstyle(layout.toned("✓ OK", layout.Tone.GOOD)) == "✓ OK"
