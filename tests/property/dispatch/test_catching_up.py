"""What a schedule owes after a while, against a list of all the times that passed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.scheduler.triggers.cron import (
    MOST,
    PUNCTUAL,
    due_times,
    first_time,
)
from lakeguard_sdk.scheduling.cron import parse_cron
from lakeguard_sdk.scheduling.cron_zones import next_moment
from lakeguard_sdk.scheduling.jobs import CatchUp, CronTrigger

START = datetime(2026, 3, 28, tzinfo=UTC)
TEXTS = ("* * * * *", "*/7 * * * *", "30 2 * * *", "0 * * * *", "0 9-17 * * mon-fri", "hourly")
TRIGGERS = st.builds(
    CronTrigger,
    schedule=st.sampled_from(TEXTS),
    time_zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York"]),
    catch_up=st.sampled_from(CatchUp),
)
SPANS = st.integers(0, 4 * 86_400).map(lambda seconds: timedelta(seconds=seconds))


def all_times(trigger: CronTrigger, first: datetime, until: datetime) -> list[datetime]:
    cron, zone = parse_cron(trigger.schedule), ZoneInfo(trigger.time_zone)
    found = []
    moment: datetime | None = first
    while moment is not None and moment <= until:
        found.append(moment)
        moment = next_moment(cron, zone, moment)
    return found


@given(trigger=TRIGGERS, begin=SPANS, away=SPANS)
def test_what_is_owed_are_the_latest_of_all_times(
    trigger: CronTrigger, begin: timedelta, away: timedelta
) -> None:
    first = first_time(trigger, START + begin, START + begin, None)
    assert first is not None
    now = first + away
    passed = all_times(trigger, first, now)
    due = due_times(trigger, first, now)
    if trigger.catch_up is CatchUp.ALL:
        assert due.moments == tuple(passed[-MOST:])
        assert due.left_out is (len(passed) > MOST)
    elif trigger.catch_up is CatchUp.LATEST:
        assert due.moments == (passed[-1],)
    else:
        assert due.moments == tuple(at for at in passed[-1:] if now - at <= PUNCTUAL)
    assert due.next_at is not None
    assert due.next_at > now
    assert all_times(trigger, first, due.next_at) == [*passed, due.next_at], "none is left out"


def test_a_time_that_is_exactly_now_is_due() -> None:
    trigger = CronTrigger(schedule="0 * * * *", time_zone="UTC", catch_up=CatchUp.ALL)
    now = START + timedelta(hours=1)
    due = due_times(trigger, START, now)
    assert due.moments == (START, now)
    assert due.next_at == now + timedelta(hours=1)


@given(trigger=TRIGGERS, defined=SPANS, later=SPANS, before=st.none() | SPANS)
def test_a_changed_schedule_owes_nothing_of_long_ago_but_what_had_come(
    trigger: CronTrigger, defined: timedelta, later: timedelta, before: timedelta | None
) -> None:
    defined_at, now = START + defined, START + defined + later
    owed = None if before is None else (START + before).replace(second=0)
    found = first_time(trigger, defined_at, now, owed)
    assert found is not None
    if found == owed and found <= now:
        assert all_times(trigger, found, found) == [found]
    else:
        assert found > defined_at
        assert found > now - PUNCTUAL
