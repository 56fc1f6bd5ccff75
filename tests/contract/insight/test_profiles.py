"""Profiles over the ports of a control plane: kept side by side, and never telling too much."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client
from lakeguard_sdk.client import profile
from lakeguard_sdk.core.dataset_name import Address, DatasetName
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import NotRegistered, ProfileNotMasked, ProfileRefused, UnknownVersion
from lakeguard_sdk.model.definitions import ColumnDefinition, Definitions, FromSql
from lakeguard_sdk.model.profile import ColumnProfile, Frequent, Profile
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.definitions import dataset, policy, source
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import make_project, numbers_project

pytestmark = pytest.mark.usefixtures("each_state")

V1 = Address(dataset=NUMBERS, version=1)


def numbers(*tags: str, **given: Any) -> Definitions:
    columns = (ColumnDefinition(name="n", type="long", tags=tags),)
    made = dataset(str(NUMBERS), columns=columns, rules=(), load=LoadType.APPEND)
    return Definitions(sources=(source(),), datasets=(made,), **given)


ABOUT_N = policy("no_n", expression="forbid columns [n]", applies_to_layer="gold")


def taken(client: Client, address: Address = V1) -> Profile:
    plan = client.operations.plan_profile(address)
    return profile(plan.dataset, masked=plan.masked)


def test_a_profile_is_kept_and_read_again(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [3, 1, 3])
    assert client.reader.profiles(NUMBERS) == ()
    found = taken(client)
    kept = client.operations.record_profile(found)
    assert kept == found.model_copy(update={"taken_at": kept.taken_at})
    assert client.reader.profiles(NUMBERS) == (kept,)
    assert client.reader.profiles(NUMBERS, 1) == (kept,)
    assert client.reader.profiles(NUMBERS, 2) == ()
    (column,) = kept.columns
    assert (column.distinct, column.least, column.greatest) == (2, 1, 3)
    assert [sketch.kind for sketch in column.sketches] == ["hll", "kll"]


def test_one_taken_again_stands_beside_the_first(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [3])
    first = client.operations.record_profile(taken(client))
    run_by_hand(client, [4, 5])
    second = client.operations.record_profile(taken(client, Address(dataset=NUMBERS)))
    again = client.operations.record_profile(taken(client))
    assert client.reader.profiles(NUMBERS) == (again, second, first)
    assert client.reader.profiles(NUMBERS, 1) == (again, first)
    assert [each.version for each in (first, second, again)] == [1, 2, 1]
    assert second.rows == 3


def test_there_is_no_plan_without_a_version(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    for address in (Address(dataset=NUMBERS), V1):
        with pytest.raises(UnknownVersion):
            client.operations.plan_profile(address)
    with pytest.raises(NotRegistered):
        client.operations.plan_profile(Address(dataset=DatasetName("bronze.nothing")))
    with pytest.raises(NotRegistered):
        client.reader.profiles(DatasetName("bronze.nothing"))


@pytest.mark.parametrize(
    ("odd", "problem"),
    [
        ({"rows": 4}, "4 rows, and the version has 3"),
        ({"columns": ()}, "other columns"),
        ({"columns": (ColumnProfile(column="m", type="long", nulls=0),)}, "other columns"),
        ({"columns": (ColumnProfile(column="n", type="double", nulls=0),)}, "other columns"),
        ({"columns": (ColumnProfile(column="n", type="long", nulls=4),)}, "more rows"),
        ({"columns": (ColumnProfile(column="n", type="long", nulls=-1),)}, "more rows"),
    ],
)
def test_what_is_no_profile_of_the_version_is_refused(
    tmp_path: Path, odd: dict[str, Any], problem: str
) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [3, 1, 3])
    found = taken(client)
    with pytest.raises(ProfileRefused, match=problem):
        client.operations.record_profile(found.model_copy(update=odd))
    with pytest.raises(UnknownVersion):
        client.operations.record_profile(found.model_copy(update={"version": 2}))
    assert client.reader.profiles(NUMBERS) == ()


def test_no_value_of_a_tagged_column_is_kept(tmp_path: Path) -> None:
    """Whatever the tag, and whether it came before the version or after."""
    client = make_project(tmp_path, numbers())
    run_by_hand(client, [3, 1, 3])
    reported = taken(client)
    client.registry.apply(client.registry.plan(numbers("contact")))
    assert client.operations.plan_profile(V1).masked == ("n",)
    (bare,) = taken(client).columns
    assert bare == ColumnProfile(column="n", type="long", nulls=0, masked=True)
    with pytest.raises(ProfileNotMasked, match="values of n"):
        client.operations.record_profile(reported)
    hidden = reported.columns[0].model_copy(update={"masked": True})
    with pytest.raises(ProfileNotMasked):
        client.operations.record_profile(reported.model_copy(update={"columns": (hidden,)}))
    kept = client.operations.record_profile(taken(client))
    assert client.reader.profiles(NUMBERS) == (kept,)
    client.registry.apply(client.registry.plan(numbers()))
    run_by_hand(client, [7])
    assert client.operations.plan_profile(Address(dataset=NUMBERS)).masked == ()


@pytest.mark.parametrize("later", [numbers("contact"), numbers(policies=(ABOUT_N,))])
def test_what_was_kept_before_a_tag_is_not_told_after_it(
    tmp_path: Path, later: Definitions
) -> None:
    client = make_project(tmp_path, numbers())
    run_by_hand(client, [3, 1, 3])
    kept = client.operations.record_profile(taken(client))
    client.registry.apply(client.registry.plan(later))
    bare = ColumnProfile(column="n", type="long", nulls=0, masked=True)
    for version in (None, 1):
        (reported,) = client.reader.profiles(NUMBERS, version)
        assert reported == kept.model_copy(update={"columns": (bare,)})


def test_a_tag_of_when_the_version_was_made_still_hides(tmp_path: Path) -> None:
    client = make_project(tmp_path, numbers("contact"))
    run_by_hand(client, [3])
    client.registry.apply(client.registry.plan(numbers()))
    assert client.operations.plan_profile(V1).masked == ("n",)


def test_a_tag_hides_although_its_column_left_the_definition(tmp_path: Path) -> None:
    client = make_project(tmp_path, numbers())
    run_by_hand(client, [3, 1, 3])
    client.operations.record_profile(taken(client))
    client.registry.apply(client.registry.plan(numbers("contact")))
    (first,) = numbers().datasets
    other = first.model_copy(
        update={"columns": (ColumnDefinition(name="m", type="long"),), "rules": ()}
    )
    plan = client.registry.plan(Definitions(sources=(source(),), datasets=(other,)))
    client.registry.apply(plan)
    assert client.operations.plan_profile(V1).masked == ("n",)
    ((reported,),) = (profile.columns for profile in client.reader.profiles(NUMBERS))
    assert reported == ColumnProfile(column="n", type="long", nulls=0, masked=True)


def test_a_tag_that_came_down_hides_too(tmp_path: Path) -> None:
    build = FromSql(file="sql/b.sql", text=f"select n as m, 1 as one from {NUMBERS}\n")
    columns = tuple(ColumnDefinition(name=name, type="long") for name in ("m", "one"))
    below = dataset("silver.b", str(NUMBERS), columns=columns, build=build, rules=())
    (first,) = numbers("contact").datasets
    client = make_project(tmp_path, Definitions(sources=(source(),), datasets=(first, below)))
    run_by_hand(client, [3])
    run_by_hand(client, [3], client.operations.submit(below.dataset, "by hand"))
    found = client.operations.plan_profile(Address(dataset=below.dataset))
    assert found.masked == ("m",)


def test_texts_are_not_told_where_a_forbidden_pattern_was_not_looked_for(tmp_path: Path) -> None:
    """A policy that came after the version has not passed on it."""
    columns = (ColumnDefinition(name="n", type="long"), ColumnDefinition(name="t", type="string"))
    made = dataset(str(NUMBERS), columns=columns, rules=())
    plain = Definitions(sources=(source(),), datasets=(made,))
    client = make_project(tmp_path, plain)
    run_by_hand(client, [3])
    assert client.operations.plan_profile(V1).masked == ()
    asking = policy("no_x", expression="forbid pattern 'x+' in values", applies_to_layer=None)
    client.registry.apply(client.registry.plan(plain.model_copy(update={"policies": (asking,)})))
    assert client.operations.plan_profile(V1).masked == ("t",)


def test_what_no_column_tells_is_refused_though_it_is_said_to_be_masked(tmp_path: Path) -> None:
    client = numbers_project(tmp_path)
    run_by_hand(client, [3])
    shown = ColumnProfile(
        column="n", type="long", nulls=0, masked=True, top=(Frequent(value="3", rows=1),)
    )
    with pytest.raises(ProfileNotMasked):
        client.operations.record_profile(taken(client).model_copy(update={"columns": (shown,)}))
