"""Back-tests over any history: the rules of then, in the place of themselves, change nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.lakes.past_runs import (
    apply_rules,
    past_project,
    past_run,
    with_rules,
)
from tests.support.projects.planes import NUMBERS

LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
RULES = (
    "range(n, max=10)",
    "range(n, max=10) fail_if > 1",
    "range(n, max=10) fail_if > 40%",
    "range(n, max=10) on_fail quarantine",
    "unique(n) warn_if > 0",
    "row_count(min=2)",
    "row_count(change=50%)",
    "mean(n, min=2, max=12)",
    "not_null(n)",
)
NUMBER = st.integers(0, 15)
STEP = st.one_of(
    st.lists(NUMBER, min_size=1, max_size=6),
    st.just("back"),
)
CHOICE = st.sets(st.sampled_from(RULES), min_size=1, max_size=5)


def chosen(texts: set[str]) -> tuple[str, ...]:
    """One rule of each id."""
    return tuple({text.partition("(")[0]: text for text in sorted(texts)}.values())


@examples(12)
@given(texts=CHOICE, steps=st.lists(STEP, min_size=1, max_size=6), draft=CHOICE)
def test_the_recorded_rules_change_nothing(
    texts: set[str], steps: list[list[int] | str], draft: set[str]
) -> None:
    dataset = with_rules(*chosen(texts))
    with TemporaryDirectory() as folder:
        client = past_project(Path(folder), dataset)
        recorded = {}
        shown: list[int] = []
        for step in steps:
            if isinstance(step, list):
                decision = past_run(client, step)
                recorded[decision.run_id] = decision.ruling.verdict
                if decision.allowed:
                    rows = client.reader.versions(NUMBERS)
                    shown.append(max(row.version for row in rows))
            elif len(shown) > 1:
                shown.pop()
                client.operations.rollback(NUMBERS, shown[-1], "back")
        test = client.history.backtest(dataset, LONG_AGO)
        assert (test.runs, test.unchanged) == (len(recorded), len(recorded))
        assert (test.blocks, test.lets_through, test.added, test.dropped) == ((), (), (), ())
        assert all(rule.unmeasured == 0 for rule in test.rules)
        other = client.history.backtest(with_rules(*chosen(draft)), LONG_AGO)
        assert other.runs == len(recorded)
        for run in (*other.blocks, *other.lets_through):
            assert recorded[run.run_id] is run.recorded
            assert run.drafted is not run.recorded
        apply_rules(client, with_rules(*chosen(draft)))
        assert client.history.backtest(with_rules(*chosen(draft)), LONG_AGO).added == ()
        assert client.history.replay_all().identical
