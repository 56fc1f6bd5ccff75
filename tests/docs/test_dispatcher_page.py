"""What the page on the dispatcher says is so."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from lakeguard.embedded.loops import other_loops
from lakeguard.events.book import event_messenger
from lakeguard.jobs.known_runs import KnownRuns
from lakeguard.settings import DispatchSettings
from lakeguard.triggers.catching_up import MOST, PUNCTUAL
from lakeguard.triggers.looking import AGAIN_AT_ONCE
from lakeguard.triggers.roster import read_roster
from lakeguard.triggers.shapes import LONGEST_VALUE, MOST_BYTES, MOST_VALUES
from lakeguard.triggers.ticking import Watch, _loops
from lakeguard_sdk.cron import WORDS
from lakeguard_sdk.event_patterns import _OPERATORS, pattern_problems
from tests.worlds.triggered_jobs import make_plane

PAGE = (Path(__file__).parents[2] / "docs" / "dispatcher.md").read_text("utf-8")


def test_every_loop_is_in_the_table_in_its_order(tmp_path: Path) -> None:
    heart = make_plane("sqlite", tmp_path).heart
    with heart.database.read() as connection:
        roster = read_roster(connection, heart.org_id)
    herald = event_messenger(heart.database, heart.org_id, heart.clock, ())
    loops = [*_loops(heart, Watch(), roster), *other_loops(heart, herald, KnownRuns())]
    told = re.search(r"\| loop \| does \|\n\|---\|---\|\n((?:\|.*\n)+)", PAGE)
    assert told is not None
    assert re.findall(r"^\| ([a-z ]+) \|", told[1], re.MULTILINE) == [name for name, _ in loops]


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
    assert f"at {AGAIN_AT_ONCE:,} of those that it knows" in PAGE
    assert f"at most {MOST_BYTES // 1024} KiB" in PAGE
    assert f"at most {MOST_VALUES} of up to {LONGEST_VALUE:,} characters" in PAGE
    assert f"`dispatch.tick_seconds`, {DispatchSettings().tick_seconds} by default" in PAGE
