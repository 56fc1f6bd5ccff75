"""The hash of a graph depends on what is in it, and on nothing else."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.scheduler.graph.dag import (
    Differences,
    Graph,
    differences,
    graph_of,
)
from lakeguard_sdk.model.definitions import JobDefinition

WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True)
DATASETS = st.dictionaries(WORDS, st.lists(WORDS, max_size=3, unique=True), max_size=4)


@st.composite
def any_jobs(draw: st.DrawFn) -> list[JobDefinition]:
    names = draw(st.lists(WORDS, max_size=4, unique=True))
    return [
        JobDefinition(
            job=name,
            type=draw(st.sampled_from(["build", "python", "shell"])),
            config=draw(st.sampled_from([{}, {"after": "aa, bb"}, {"after": "bb"}])),
        )
        for name in names
    ]


@given(DATASETS, any_jobs(), st.randoms(use_true_random=False))
def test_order_and_settings_do_not_matter(
    datasets: dict[str, list[str]], jobs: list[JobDefinition], chance: Random
) -> None:
    graph = graph_of(datasets, jobs)
    shuffled = [job.model_copy(update={"owner": "me", "active": False}) for job in jobs]
    chance.shuffle(shuffled)
    turned = {name: list(reversed(parents)) for name, parents in reversed(datasets.items())}
    same = graph_of(turned, shuffled)
    assert same.content_hash() == graph.content_hash()
    assert differences(graph, same) == Differences()
    assert Graph.from_json(graph.to_json()).content_hash() == graph.content_hash()


@given(DATASETS, any_jobs(), DATASETS, any_jobs())
def test_a_difference_is_told_if_and_only_if_the_hash_differs(
    datasets: dict[str, list[str]],
    jobs: list[JobDefinition],
    others: dict[str, list[str]],
    other_jobs: list[JobDefinition],
) -> None:
    one, other = graph_of(datasets, jobs), graph_of(others, other_jobs)
    reported = differences(one, other)
    assert (reported == Differences()) == (one.content_hash() == other.content_hash())
    back = differences(other, one)
    assert (reported.added, reported.removed) == (back.removed, back.added)
