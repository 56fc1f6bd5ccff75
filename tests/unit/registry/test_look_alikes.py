"""Easily confused names and file paths are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.registry.kinds import KINDS, Kind
from lakeguard.registry.text.characters import look_alike, look_alike_names
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    ColumnDefinition,
    Definitions,
    FromSql,
    JobDefinition,
    ProfileDefinition,
    TargetDefinition,
)
from tests.support.projects.definition_folders import (
    BRONZE,
    SHOP,
    SILVER,
    mistakes,
)
from tests.support.projects.definitions import dataset, policy, source
from tests.support.projects.registries import SmallRegistry, small_registry


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SmallRegistry]:
    with small_registry(tmp_path) as made:
        yield made


def codes(registry: SmallRegistry, definitions: Definitions) -> list[str]:
    try:
        registry.plan(definitions)
    except InvalidDefinitions as invalid:
        return [error.code for error in invalid.errors]
    return []


MAKERS = {
    "profile": lambda name: ProfileDefinition(profile=name),
    "rule": lambda name: CatalogueRule(rule=name, expression="not_null({column})"),
    "source": source,
    "target": lambda name: TargetDefinition(target=name, location=f"zones/{name}", zone="raw"),
    "dataset": lambda name: dataset(f"bronze.{name}"),
    "policy": policy,
    "job": lambda name: JobDefinition(job=name),
}


@pytest.mark.parametrize(
    "twins",
    [("orders_1", "orders1"), ("orders_1", "orders_l"), ("orders", "orders_"), ("a_b", "a__b"),
     ("foo", "fo0"), ("v2_x", "v2x")],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.word)
def test_names_of_one_kind(registry: SmallRegistry, kind: Kind, twins: tuple[str, str]) -> None:
    field, make = kind.field, MAKERS[kind.word]
    one, other = map(make, twins)
    rest = {} if kind.word == "source" else {"sources": (source(),)}
    assert codes(registry, Definitions(**{**rest, field: (one, other)})) == ["LG-2032"]
    registry.register(Definitions(**{**rest, field: (one,)}))
    assert codes(registry, Definitions(**{field: (other,)})) == ["LG-2032"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("x_1_11", "x_11_1"), ("ds_10", "ds_01"), ("car_go", "cargo"), ("t_0", "to")],
)
def test_names_that_nobody_takes_for_each_other(one: str, other: str) -> None:
    assert not set(look_alike_names(one)) & set(look_alike_names(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("Amount", "amount"), ("ﬁn", "fin"), ("\u0430mount", "amount"), ("stra\u00dfe", "STRASSE"),
     ("a\u2013b", "a-b"), ("\uff21", "a")],
)  # fmt: skip
def test_texts_that_are_read_as_one(one: str, other: str) -> None:
    assert look_alike(one) == look_alike(other)


@pytest.mark.parametrize("twin", ["Amount", "\u0430mount", "\uff41mount"])
def test_columns(registry: SmallRegistry, twin: str) -> None:
    columns = tuple(ColumnDefinition(name=name, type="string") for name in ("amount", twin))
    given = dataset("bronze.orders", columns=columns, rules=())
    assert codes(registry, Definitions(sources=(source(),), datasets=(given,))) == ["LG-2004"]


def test_external_ids(registry: SmallRegistry) -> None:
    one, other = source("one", external_id="SRC-1"), source("two", external_id="src\u20101")
    assert codes(registry, Definitions(sources=(one, other))) == ["LG-2032"]
    registry.register(Definitions(sources=(one,)))
    assert codes(registry, Definitions(sources=(other,))) == ["LG-2032"]
    assert codes(registry, Definitions(sources=(one, source("two", external_id="SRC-2")))) == []
    job = JobDefinition(job="load", external_id="SRC-1")
    assert codes(registry, Definitions(jobs=(job,))) == [], "another kind, another id"


def test_an_external_id_can_move_on(registry: SmallRegistry) -> None:
    registry.register(Definitions(sources=(source("one", external_id="SRC-1"),)))
    given = (source("one", external_id=""), source("two", external_id="SRC-1"))
    assert codes(registry, Definitions(sources=given)) == []


def test_keys_of_details(registry: SmallRegistry) -> None:
    job = JobDefinition(job="load", details={"Cores": "1", "cores": "2"})
    assert codes(registry, Definitions(jobs=(job,))) == ["LG-2004"]


def test_files_that_differ_by_case(tmp_path: Path) -> None:
    upper = {**SHOP, "definitions/bronze/Orders.yaml": BRONZE}
    assert [error.code for error in mistakes(tmp_path / "yaml", upper)] == ["LG-2004"]
    again = SILVER.replace("silver.orders", "silver.again").replace("sql/orders", "sql/Orders")
    files = {
        **SHOP,
        "definitions/silver/again.yaml": again,
        "sql/Orders.sql": SHOP["sql/orders.sql"],
    }
    (error,) = mistakes(tmp_path / "sql", files)
    assert "the same file on some file systems" in str(error)
    assert str(error.place) == "definitions/silver/orders.yaml:5:14"


def test_a_renamed_dataset_may_look_like_it_did(registry: SmallRegistry) -> None:
    before = dataset("silver.orders1", "bronze.orders")
    registry.register(Definitions(sources=(source(),), datasets=(dataset("bronze.orders"), before)))
    build = FromSql(file="sql/o.sql", text="select p0.* from bronze.orders p0\n")
    after = before.model_copy(
        update={"dataset": type(before.dataset)("silver.orders_1"),
                "renamed_from": before.dataset, "build": build}
    )  # fmt: skip
    assert codes(registry, Definitions(datasets=(after,))) == []
