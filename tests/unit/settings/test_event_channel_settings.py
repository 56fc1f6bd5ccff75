"""``[[events.channel]]``: the keys of channels of alerts, with filters of its own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lakeguard.settings import EventChannel, load_settings
from lakeguard.settings.channels import EVENT_KEYS, FOR_PEOPLE, OWN_KEYS
from lakeguard_sdk.errors import SettingsError
from lakeguard_sdk.model.notifications import EventKind
from tests.support.projects.event_channels import listener

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "events.md"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAKEGUARD_ENV", raising=False)


def channels(folder: Path, *entries: str, before: str = "") -> tuple[EventChannel, ...]:
    (folder / "lakeguard.toml").write_text("".join((before, *entries)))
    return load_settings(folder).event_channels


def test_nothing_is_told_by_default(tmp_path: Path) -> None:
    assert channels(tmp_path) == ()


def test_twenty_tries_from_a_second_to_five_minutes(tmp_path: Path) -> None:
    (channel,) = channels(tmp_path, listener(type="log"))
    tries = (channel.attempts, channel.pause_seconds, channel.longest_pause_seconds)
    assert tries == (20, 1, 300)


def test_everything_that_can_be_set_is_read(tmp_path: Path) -> None:
    given = {"kinds": ["run.ended"], "subjects": ["job/*"], "attempts": 3}
    pauses = {"pause_seconds": 2, "longest_pause_seconds": 9}
    (channel,) = channels(tmp_path, listener(type="file", path="e", name="a", **given, **pauses))
    assert (channel.name, channel.attempts, channel.subjects) == ("a", 3, ("job/*",))
    assert channel.kinds == (EventKind.RUN_ENDED,)
    assert (channel.pause_seconds, channel.longest_pause_seconds) == (2, 9)


def test_an_environment_has_its_own_or_those_of_the_file(tmp_path: Path) -> None:
    own = listener(type="log", name="own").replace("events", "env.prod.events")
    channels(tmp_path, "[env.dev]\n[env.prod]\n[env.quiet.events]\n", own, listener(type="log"))
    names = {
        env: [channel.name for channel in load_settings(tmp_path, env).event_channels]
        for env in ("dev", "prod", "quiet")
    }
    assert names == {"dev": ["log"], "prod": ["own"], "quiet": []}


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({}, "events.channel.type: write one of log, file, webhook"),
        ({"type": "log", "kinds": ["run.endet"]}, "did you mean run.ended?"),
        ({"type": "log", "datasets": ["gold.*"]}, "unknown key 'datasets'"),
        ({"type": "log", "pause_seconds": 0}, "a whole number from 1 to 86400"),
        ({"type": "webhook", "url": "https://a.example/"}, "a webhook needs a signing secret"),
    ],
)
def test_what_is_wrong_is_refused(keys: dict[str, Any], problem: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        channels(tmp_path, listener(**keys))
    assert problem in str(caught.value)


def test_every_key_is_documented_and_no_other() -> None:
    types = [kind for kind in OWN_KEYS if kind not in FOR_PEOPLE]
    keys = {key for kind in types for key in OWN_KEYS[kind]} | set(EVENT_KEYS)
    table = PAGE.read_text("utf-8").partition("| key of a channel |")[2].partition("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == keys


def test_every_kind_is_documented() -> None:
    text = PAGE.read_text("utf-8")
    assert [kind for kind in EventKind if f"| `{kind}` |" not in text] == []
