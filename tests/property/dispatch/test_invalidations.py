"""Any graph, any history: an invalidation is over exactly when everybody has seen the repair."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.scheduler.invalidations.catch_up import (
    EndedRun,
    Node,
    Stale,
    follow,
    undecided,
)
from lakeguard_sdk.model.row_ranges import RowRange
from lakeguard_sdk.model.run import Window
from lakeguard_sdk.scheduling.invalidations import Standing
from lakeguard_sdk.types.schema import Column, TableSchema

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
SCHEMA = TableSchema(columns=(Column(name="month", type="string"),))
JANUARY, FEBRUARY, YEAR = (
    Window(column="month", start=start, end=end)
    for start, end in (("01", "01"), ("02", "02"), ("01", "12"))
)
REACHES = (
    RowRange(),
    RowRange(partitions=("month=01",)),
    RowRange(partitions=("month=01", "month=02")),
    RowRange(window=JANUARY),
)
ROOT = "d0"


@dataclass
class World:
    """Datasets that are run and rolled back; what each version was made of is written down."""

    parents: dict[str, tuple[str, ...]]
    by_month: dict[str, bool]
    reads_all: dict[str, bool]
    active: dict[str, bool]
    since: datetime = BEGIN
    now: datetime = BEGIN
    shown: dict[str, int] = field(default_factory=dict)
    runs: dict[str, list[EndedRun]] = field(default_factory=dict)

    def run(self, name: str, window: Window | None, idle: bool, brought: frozenset[str]) -> None:
        """As a run does: it stands on what is shown, and reads what its parents show."""
        if any(parent not in self.shown for parent in self.parents[name]):
            return
        base = self.shown.get(name)
        if base is None and (idle or window):
            return
        made = [look.version for look in self.runs.get(name, []) if look.version is not None]
        self.now += timedelta(seconds=1)
        look = EndedRun(
            run_id=f"{name}-{len(self.runs.get(name, []))}",
            opened_at=self.now,
            base=base,
            version=None if idle else max(made, default=0) + 1,
            inputs={parent: self.shown[parent] for parent in self.parents[name]},
            window=window,
            partitions=brought if not idle else frozenset(),
        )
        self.runs.setdefault(name, []).append(look)
        self.shown[name] = look.version or base or 0

    def nodes(self) -> dict[str, Node]:
        return {
            name: Node(
                dataset_id=name,
                parents=parents,
                published=self.shown.get(name),
                schema=SCHEMA,
                partition_by=("month",) if self.by_month[name] else (),
                reads_all=self.reads_all[name],
                active=self.active[name],
                runs=tuple(self.runs.get(name, ())),
            )
            for name, parents in self.parents.items()
        }

    def affected(self, name: str) -> bool:
        return self.active[name] and name in self.shown

    def reached(self, name: str) -> bool:
        """Whether a path leads from the root to it on which everybody above is affected."""
        if name == ROOT:
            return True
        return any(self.affected(one) and self.reached(one) for one in self.parents[name])

    def asks_for_all(self, name: str) -> bool:
        """Whether somebody on the way does not know months, so that all of it is meant."""
        if not self.by_month[name] and name != ROOT:
            return True
        above = [one for one in self.parents[name] if self.reached(one)]
        return name != ROOT and any(self.asks_for_all(one) for one in above)

    def saw_repair(self, reach: RowRange) -> dict[str, set[int]]:
        """By definition, version by version, for each month that was wrong."""
        months = [key.removeprefix("month=") for key in reach.partitions] or ["01"]

        @cache
        def good(name: str, version: int, month: str) -> bool:
            for look in self.runs.get(name, ()):
                shown = look.base if look.version is None else look.version
                if shown != version:
                    continue
                if look.version is not None and look.base and good(name, look.base, month):
                    return True
                if look.opened_at > self.since and self._repairs(name, look, reach, month):
                    above = [one for one in self.parents[name] if self._passes_on(one)]
                    if name == ROOT or all(good(one, look.inputs[one], month) for one in above):
                        return True
            return False

        return {
            name: {
                version
                for look in runs
                if (version := look.version) and all(good(name, version, one) for one in months)
            }
            for name, runs in self.runs.items()
        }

    def _passes_on(self, name: str) -> bool:
        return self.reached(name) and self.affected(name)

    def _repairs(self, name: str, look: EndedRun, reach: RowRange, month: str) -> bool:
        whole = reach.whole or self.asks_for_all(name)
        if look.window is not None:
            return not whole and look.window.start <= month <= look.window.end
        if name != ROOT:
            return True
        brought = bool(reach.partitions) and f"month={month}" in look.partitions
        return look.version is not None and (self.reads_all[name] or brought)


@st.composite
def worlds(draw: st.DrawFn, *, rolls_back: bool = True) -> tuple[World, RowRange]:
    names = [f"d{index}" for index in range(draw(st.integers(1, 6)))]
    parents = {
        name: tuple(draw(st.lists(st.sampled_from(names[:index]), unique=True, max_size=3)))
        if index
        else ()
        for index, name in enumerate(names)
    }
    flags = st.fixed_dictionaries({name: st.booleans() for name in names})
    mostly = st.fixed_dictionaries({name: st.integers(0, 9).map(bool) for name in names})
    world = World(parents, draw(flags), draw(flags), draw(mostly))
    world.by_month[ROOT] = True
    step = st.tuples(
        st.sampled_from(names),
        st.sampled_from((None, None, JANUARY, FEBRUARY, YEAR)),
        st.booleans(),
        st.frozensets(st.sampled_from(("month=01", "month=02"))),
    )
    for name in names:
        if draw(st.integers(0, 9)):
            world.run(name, None, False, frozenset())
    world.since = world.now
    for name, window, idle, brought in draw(st.lists(step, max_size=25)):
        if draw(st.integers(0, 5)):
            world.run(name, window, idle, brought)
        elif name in world.shown and rolls_back:
            world.shown[name] = draw(st.integers(1, world.shown[name]))
    return world, draw(st.sampled_from(REACHES))


@given(worlds())
def test_who_has_caught_up_is_who_has_a_version_that_saw_the_repair(
    drawn: tuple[World, RowRange],
) -> None:
    world, reach = drawn
    followed = follow(Stale(ROOT, reach, world.since), world.nodes())
    good = world.saw_repair(reach)
    assert followed.keys() == {name for name in world.parents if world.reached(name)}
    for name, item in followed.items():
        if not world.affected(name):
            assert item.made.standing is Standing.NOT_AFFECTED
            continue
        caught_up = item.made.standing is Standing.CAUGHT_UP
        assert caught_up is bool(good.get(name)), (name, item, good)
        if caught_up:
            assert item.made.version == min(good[name])


@given(worlds(rolls_back=False))
def test_whoever_may_catch_up_does_with_one_whole_run(drawn: tuple[World, RowRange]) -> None:
    world, reach = drawn
    world.reads_all[ROOT] = True
    for _ in world.parents:
        followed = follow(Stale(ROOT, reach, world.since), world.nodes())
        for name, item in followed.items():
            if item.made.standing is Standing.READY:
                world.run(name, None, False, frozenset())
    followed = follow(Stale(ROOT, reach, world.since), world.nodes())
    over = {Standing.CAUGHT_UP, Standing.NOT_AFFECTED}
    assert {item.made.standing for item in followed.values()} <= over


@given(worlds(), st.integers(1, 5))
def test_what_a_version_put_right_by_itself_is_sound_from_then_on(
    drawn: tuple[World, RowRange], repaired: int
) -> None:
    world, reach = drawn
    if ROOT not in world.shown:
        return
    stale = Stale(ROOT, reach, world.since, min(repaired, world.shown[ROOT]))
    followed = follow(stale, world.nodes())
    assert followed[ROOT].made.standing is Standing.CAUGHT_UP
    children = [name for name, above in world.parents.items() if ROOT in above]
    late = [
        name
        for name in children
        if followed[name].made.standing is Standing.WAITING and followed[name].waits_for == (ROOT,)
    ]
    for name in late:
        assert world.shown[ROOT] != stale.repaired, name


@given(worlds(), st.data())
def test_runs_that_nobody_asks_for_change_nothing(
    drawn: tuple[World, RowRange], data: st.DataObject
) -> None:
    world, reach = drawn
    stale = Stale(ROOT, reach, world.since, data.draw(st.sampled_from((None, 1))))
    every = world.nodes()
    expected = follow(stale, every)
    caught_up = [
        name for name, item in expected.items() if item.made.standing is Standing.CAUGHT_UP
    ]
    over = data.draw(st.sets(st.sampled_from(caught_up))) if caught_up else set()
    nodes = {name: replace(node, runs=()) for name, node in every.items()}
    read: set[str] = set()
    while missing := undecided(stale, nodes, over) - read:
        read |= missing
        nodes |= {name: every[name] for name in missing}
    found = follow(stale, nodes)
    assert found.keys() == expected.keys()
    for name in expected.keys() - over:
        assert found[name] == expected[name], (name, read)


def test_below_what_was_never_put_right_no_run_is_asked_for() -> None:
    names = [f"d{number}" for number in range(4)]
    parents = {name: tuple(names[number - 1 : number]) for number, name in enumerate(names)}
    no = dict.fromkeys(names, False)
    world = World({**parents, ROOT: ()}, no, no, dict.fromkeys(names, True))
    for name in names:
        world.run(name, None, False, frozenset())
    world.since = world.now
    for name in names * 3:
        world.run(name, None, False, frozenset())
    stale = Stale(ROOT, RowRange(), world.since)
    assert undecided(stale, world.nodes(), ()) == {ROOT}
    put_right = replace(stale, repaired=world.shown[ROOT] - 1)
    assert undecided(put_right, world.nodes(), {ROOT, "d1"}) == set(names)
    assert undecided(put_right, world.nodes(), set(names)) == set()
