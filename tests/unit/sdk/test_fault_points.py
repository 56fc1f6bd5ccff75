"""The declared fault points are those of the code: a renamed point would let a fault test idle."""

from __future__ import annotations

import re
from pathlib import Path

from lakeguard_sdk.storage.fault_points import POINTS

PACKAGES = Path(__file__).parents[3] / "packages"
REACHED = re.compile(r'\breached\("([^"]+)"\)')


def reached_points() -> set[str]:
    return {
        point
        for path in PACKAGES.glob("*/src/**/*.py")
        for point in REACHED.findall(path.read_text("utf-8"))
    }


def test_every_point_of_the_code_is_declared_and_no_other() -> None:
    assert len(set(POINTS)) == len(POINTS)
    assert reached_points() == set(POINTS)
