"""What the page on the dispatcher says is so."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from lakeguard.scheduler.invalidations.run_cache import KnownRuns
from lakeguard.scheduler.loop import other_loops
from lakeguard.scheduler.triggers.cron import MOST, PUNCTUAL
from lakeguard.scheduler.triggers.external_events import LONGEST_VALUE, MOST_BYTES, MOST_VALUES
from lakeguard.scheduler.triggers.file_watch import AGAIN_AT_ONCE
from lakeguard.scheduler.triggers.tick import Watch, _loops
from lakeguard.scheduler.triggers.triggerable_jobs import read_roster
from lakeguard.settings import DispatchSettings
from lakeguard_sdk.scheduling.cron import WORDS
from lakeguard_sdk.scheduling.event_patterns import _OPERATORS, pattern_problems
from tests.support.projects.triggered_jobs import make_plane

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "dispatcher.md").read_text("utf-8")


def test_every_loop_is_in_the_table_in_its_order(tmp_path: Path) -> None:
    context = make_plane("sqlite", tmp_path).context
    with context.read() as tx:
        roster = read_roster(tx)
    loops = [*_loops(context, Watch(), roster), *other_loops(context, lambda: 0, KnownRuns())]
    reported = re.search(r"\| loop \| does \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE)
    assert reported is not None
    assert re.findall(r"^\| ([a-z ]+) \|", reported[1], re.MULTILINE) == [name for name, _ in loops]


def test_the_patterns_of_the_page_are_patterns() -> None:
    patterns = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert patterns
    for text in patterns:
        assert pattern_problems(json.loads(text)) == []


@pytest.mark.parametrize("word", [*WORDS, *_OPERATORS, "$or"])
def test_every_word_of_schedules_and_patterns_is_named(word: str) -> None:
    assert f"`{word}`" in PAGE


def test_the_figures_are_those_of_the_program() -> None:
    assert f"at most the latest {MOST}" in PAGE
    assert timedelta(minutes=1) == PUNCTUAL
    quiet = DispatchSettings().quiet_seconds
    assert f"`dispatch.quiet_seconds`, {quiet} by default" in PAGE
    assert f"{AGAIN_AT_ONCE:,} of the known ones" in PAGE
    assert f"at most {MOST_BYTES // 1024} KiB" in PAGE
    assert f"at most {MOST_VALUES} of up to {LONGEST_VALUE:,} characters" in PAGE
    assert f"`dispatch.tick_seconds`, {DispatchSettings().tick_seconds} by default" in PAGE
