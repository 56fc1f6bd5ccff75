"""Dependency graph: order and cycles."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.registry.graph import cycles, parents_first
from lakeguard_sdk.core.dataset_name import DatasetName
from tests.support.projects.definition_folders import SHOP, SILVER, mistakes

NAMES = [DatasetName(f"silver.d{number}") for number in range(8)]
GRAPHS = st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), unique=True))


def dataset(name: str, *parents: str) -> dict[str, str | bytes]:
    text = SILVER.replace("silver.orders", f"silver.{name}").replace("sql/orders", f"sql/{name}")
    text = text.replace("[bronze.orders]", f"[{', '.join(parents)}]")
    tables = ", ".join(f"{parent} p{i}" for i, parent in enumerate(parents))
    return {
        f"definitions/silver/{name}.yaml": text,
        f"sql/{name}.sql": f"select p0.order_id, p0.amount from {tables}\n",
    }


def test_each_cycle_is_told_once_at_the_parent_that_closes_it(tmp_path: Path) -> None:
    files = {
        **SHOP,
        **dataset("a", "bronze.orders", "silver.c"),
        **dataset("b", "silver.a"),
        **dataset("c", "silver.b"),
        **dataset("x", "silver.y"),
        **dataset("y", "silver.x", "silver.a"),
    }
    first, second = mistakes(tmp_path, files)
    assert str(first.place) == "definitions/silver/a.yaml:4:26"
    assert "silver.a → silver.c → silver.b → silver.a" in str(first)
    assert str(second.place) == "definitions/silver/x.yaml:4:11"
    assert {first.code, second.code} == {"LG-2010"}


def test_a_cycle_of_jobs_is_found_in_the_files_alone(tmp_path: Path) -> None:
    files = {
        f"definitions/jobs/{name}.yaml": (
            f"job: {name}\ntype: python\nconfig: {{call: 'a.b:c', after: {before}}}\n"
        )
        for name, before in (("a", "b"), ("b", "c"), ("c", "a"))
    }
    (only,) = mistakes(tmp_path, {**SHOP, **files})
    assert (only.code, str(only.place)) == ("LG-2038", "definitions/jobs/a.yaml:3:32")
    assert "a → b → c → a" in str(only)


@given(GRAPHS)
def test_parents_come_first_unless_a_cycle_forbids_it(
    graph: dict[DatasetName, list[DatasetName]],
) -> None:
    order = parents_first(graph)
    assert sorted(order) == sorted(graph)
    if not list(cycles(graph)):
        for child, parents in graph.items():
            known = [parent for parent in parents if parent in graph]
            assert all(order.index(parent) < order.index(child) for parent in known)


@given(GRAPHS)
def test_a_cycle_is_a_walk_from_child_to_parent(
    graph: dict[DatasetName, list[DatasetName]],
) -> None:
    for cycle in cycles(graph):
        assert cycle[0] == cycle[-1] == min(cycle)
        assert all(parent in graph[child] for child, parent in pairwise(cycle))


@given(GRAPHS)
def test_the_order_does_not_depend_on_how_the_graph_was_written(
    graph: dict[DatasetName, list[DatasetName]],
) -> None:
    backwards = {child: parents[::-1] for child, parents in reversed(graph.items())}
    assert parents_first(graph) == parents_first(backwards)
    assert list(cycles(graph)) == list(cycles(backwards))


def test_a_long_chain_is_no_burden() -> None:
    names = [DatasetName(f"silver.d{number}") for number in range(5000)]
    chain = {name: names[max(0, i - 1) : i] for i, name in enumerate(names)}
    assert parents_first(chain) == names
    ring = {**chain, names[0]: [names[-1]]}
    assert len(next(iter(cycles(ring)))) == 5001
