"""Any graph, any number of jobs, any outcome: order, isolation, and no more at once than asked."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.dispatch.schedule import Schedule, above, without_cycles
from lakeguard_sdk.core.dataset_name import DatasetName

Parents = Mapping[DatasetName, Collection[DatasetName]]


@st.composite
def graphs(draw: st.DrawFn) -> dict[DatasetName, list[DatasetName]]:
    """Parents stand before their children, so that there is no cycle; layers are any."""
    layers = draw(st.lists(st.sampled_from(("bronze", "silver", "gold")), max_size=9))
    names = [DatasetName(f"{layer}.d{index}") for index, layer in enumerate(layers)]
    outside = [DatasetName("bronze.elsewhere")]
    return {
        name: draw(st.lists(st.sampled_from(names[:index] + outside), unique=True, max_size=3))
        for index, name in enumerate(names)
    }


class Walk:
    """Runs a schedule to its end; whose turn it is to end, and how, is drawn."""

    def __init__(
        self, parents: Parents, jobs: int, data: st.DataObject, after: Parents | None = None
    ) -> None:
        self.schedule = Schedule(parents, after or {})
        self.log: list[tuple[str, DatasetName]] = []
        self.most = 0
        while True:
            while ready := self.schedule.ready(jobs):
                self.schedule = self.schedule.started(ready[0])
                self.log.append(("start", ready[0]))
            self.most = max(self.most, len(self.schedule.running))
            if not self.schedule.running:
                return
            name = data.draw(st.sampled_from(sorted(self.schedule.running)))
            well = data.draw(st.booleans())
            self.schedule = self.schedule.ended(name, well=well)
            self.log.append(("well" if well else "ill", name))


@given(graphs(), st.integers(1, 4), st.data())
def test_a_dataset_starts_once_and_after_all_its_parents_went_well(
    parents: dict[DatasetName, list[DatasetName]], jobs: int, data: st.DataObject
) -> None:
    log = Walk(parents, jobs, data).log
    starts = [name for what, name in log if what == "start"]
    assert len(starts) == len(set(starts))
    for place, (what, name) in enumerate(log):
        if what == "start":
            before = log[:place]
            chosen = [parent for parent in parents[name] if parent in parents]
            assert all(("well", parent) in before for parent in chosen)


@given(graphs(), st.integers(1, 4), st.data())
def test_what_ends_ill_holds_its_descendants_and_nothing_else(
    parents: dict[DatasetName, list[DatasetName]], jobs: int, data: st.DataObject
) -> None:
    walk = Walk(parents, jobs, data)
    held, ran = walk.schedule.held(), {name for what, name in walk.log if what == "start"}
    assert ran | set(held) == set(parents)
    assert not ran & set(held)
    for name in parents:
        ill = above(name, parents) & walk.schedule.ill
        assert (name in held) == bool(ill)
        assert set(held.get(name, ())) == ill


@given(graphs(), st.integers(1, 4), st.data())
def test_never_more_at_once_than_asked_and_never_fewer_than_possible(
    parents: dict[DatasetName, list[DatasetName]], jobs: int, data: st.DataObject
) -> None:
    walk = Walk(parents, jobs, data)
    assert walk.most <= jobs
    roots = [name for name in parents if not set(parents[name]) & set(parents)]
    assert walk.most >= min(jobs, len(roots))


@given(graphs())
def test_one_job_and_no_failure_is_the_order_of_layers_where_parents_leave_a_choice(
    parents: dict[DatasetName, list[DatasetName]],
) -> None:
    schedule, order = Schedule(parents), []
    while ready := schedule.ready(1):
        first_of_all = schedule.ready(len(parents))[0]
        assert ready == (first_of_all,)
        order += ready
        schedule = schedule.started(ready[0]).ended(ready[0], well=True)
    assert sorted(order) == sorted(parents)


@given(graphs(), st.integers(1, 4), st.data())
def test_what_is_referred_to_is_over_first_and_holds_nothing(
    parents: dict[DatasetName, list[DatasetName]], jobs: int, data: st.DataObject
) -> None:
    """References are any: to itself, round in a cycle, to a child, to what is not chosen."""
    names = [*parents, DatasetName("gold.elsewhere")]
    wanted = {
        name: data.draw(st.lists(st.sampled_from(names), unique=True, max_size=3))
        for name in parents
    }
    after = without_cycles(parents, wanted)
    walk = Walk(parents, jobs, data, after)
    held, ran = walk.schedule.held(), {name for what, name in walk.log if what == "start"}
    assert ran | set(held) == set(parents)
    assert all(above(name, parents) & walk.schedule.ill for name in held)
    for place, (what, name) in enumerate(walk.log):
        over = {done for word, done in walk.log[:place] if word != "start"} | set(held)
        assert what != "start" or set(after.get(name, ())) <= over


@given(graphs(), st.data())
def test_a_reference_that_closes_no_cycle_counts(
    parents: dict[DatasetName, list[DatasetName]], data: st.DataObject
) -> None:
    names = sorted(parents)
    for name in names:
        other = data.draw(st.sampled_from(names))
        kept = without_cycles(parents, {name: (other,)})
        closes = other == name or name in above(other, parents)
        assert kept.get(name, ()) == (() if closes else (other,))
