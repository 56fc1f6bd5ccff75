"""Overlapping table locations, in every spelling."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.files.table_locations import (
    lake_problem,
    location_problem,
    nested_places,
    root_of,
)
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import RegistryState
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import Definitions, SourceMapping, TargetDefinition
from tests.support.projects.planes import numbers_definitions


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        ("{lake}/bronze/x", "is reserved"),
        ("file://{lake}/bronze", "is reserved"),
        ("{lake}/_lakeguard/default", "begin with . or _"),
        ("{lake}/.lakeguard", "begin with . or _"),
        ("{link}/definitions", "is reserved"),
        ("{lake}/quarantine", "is reserved"),
        ("{lake}/zones", None),
        ("{lake}", None),
        ("{lake}_elsewhere/bronze", None),
        ("/elsewhere/bronze", None),
    ],
)
def test_an_absolute_place_in_the_lake(tmp_path: Path, location: str, problem: str | None) -> None:
    lake, link = tmp_path / "lake", tmp_path / "link"
    lake.mkdir()
    link.symlink_to(lake)
    written = location.format(lake=lake, link=link)
    assert location_problem(written) is None
    found = lake_problem(written, root_of(str(lake)))
    assert (found is None) if problem is None else (found and problem in found)


@pytest.mark.parametrize(
    ("place", "others"),
    [
        ("/lake/zones/raw/bronze/a", ["bronze.a"]),
        ("file:///lake/zones/raw/bronze/a/bronze/b", ["bronze.a"]),
        ("file:///lake/zones/r%61w", ["bronze.a"]),
        ("/lake", ["the lake itself", "bronze.a"]),
        ("/lake/zones/raw/bronze/ab", []),
        ("/elsewhere/zones/raw/bronze/a", []),
    ],
)
def test_places_are_compared_where_they_lie(place: str, others: list[str]) -> None:
    held = {"zones/raw/bronze/a": "bronze.a"}
    found = list(nested_places({place: "bronze.b"}, held, "/lake"))
    assert found == [(place, other) for other in others]


def test_two_new_places_that_are_one() -> None:
    new = {"zones/bronze/a": "bronze.a", "/lake/zones/bronze/a": "bronze.b"}
    assert len(list(nested_places(new, {}, "/lake"))) == 2


def test_a_plan_for_a_lake_knows_where_it_is(tmp_path: Path) -> None:
    """Definitions say nothing of it: it is looked at wherever they are planned or applied."""
    whole = numbers_definitions(LoadType.APPEND)
    sources = (SourceMapping(source="numbers"),)
    inside = TargetDefinition(
        target="inside", location=f"{tmp_path}/bronze/numbers", zone="raw", sources=sources
    )
    targeted = Definitions(**{**dict(whole), "targets": (inside,)})
    assert make_plan(targeted, RegistryState()).steps
    with pytest.raises(InvalidDefinitions) as refused:
        make_plan(targeted, RegistryState(), str(tmp_path))
    (error,) = refused.value.errors
    assert "bronze/ is reserved" in str(error)
