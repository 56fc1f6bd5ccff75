"""Schedules against a walk over every minute, in ordinary nights and in those of changed clocks."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeguard_sdk.scheduling.cron import WORDS, Cron, parse_cron
from lakeguard_sdk.scheduling.cron_zones import next_moment, schedule_problems

MINUTE = timedelta(minutes=1)
CHANGES = {
    "UTC": datetime(2026, 3, 29, 1, tzinfo=UTC),
    "Europe/Berlin": datetime(2026, 3, 29, 1, tzinfo=UTC),
    "Europe/London": datetime(2026, 10, 25, 1, tzinfo=UTC),
    "America/New_York": datetime(2026, 11, 1, 6, tzinfo=UTC),
    "America/Sao_Paulo": datetime(2018, 11, 4, 3, tzinfo=UTC),  # at midnight
    "America/Havana": datetime(2026, 11, 1, 5, tzinfo=UTC),
    "Australia/Lord_Howe": datetime(2026, 4, 4, 15, tzinfo=UTC),  # by half an hour
    "Pacific/Apia": datetime(2011, 12, 30, 10, tzinfo=UTC),  # by a day
    "Asia/Kolkata": datetime(2026, 1, 1, tzinfo=UTC),
}


def a_field(first: int, last: int) -> st.SearchStrategy[str]:
    number = st.integers(first, last)
    span = st.tuples(number, number).map(lambda two: f"{min(two)}-{max(two)}")
    step = st.tuples(st.just("*") | span, st.integers(1, 40)).map(lambda two: f"{two[0]}/{two[1]}")
    part = number.map(str) | span | step | st.just("*")
    return st.just("*") | st.lists(part, min_size=1, max_size=3).map(",".join)


EASY_DAYS = (
    st.just("* *") | st.just("28-31,1-5 *") | st.tuples(a_field(1, 28), st.just("*")).map(" ".join)
)
SCHEDULES = st.tuples(a_field(0, 59), a_field(0, 23), EASY_DAYS, st.just("*") | a_field(0, 7)).map(
    " ".join
)


def matches(cron: Cron, wall: datetime) -> bool:
    return wall.minute in cron.minutes and wall.hour in cron.hours and cron.on_day(wall)


def by_walking(cron: Cron, zone: ZoneInfo, after: datetime, minutes: int) -> datetime | None:
    """The plain rule: look at each minute, and at the wall's minutes that it leaves out."""
    moment = after.replace(second=0, microsecond=0)
    wall = moment.astimezone(zone)
    for _ in range(minutes):
        moment += MINUTE
        before, wall = wall, moment.astimezone(zone)
        if matches(cron, wall) and (cron.every_hour or not wall.fold):
            return moment
        left_out = before.replace(tzinfo=None) + MINUTE
        while not cron.every_hour and left_out < wall.replace(tzinfo=None):
            if matches(cron, left_out):
                return moment
            left_out += MINUTE
    return None


@given(
    text=SCHEDULES,
    place=st.sampled_from(sorted(CHANGES.items())),
    offset=st.integers(-36 * 3600, 12 * 3600),
)
def test_the_next_moment_is_the_first_that_walking_finds(
    text: str, place: tuple[str, datetime], offset: int
) -> None:
    name, change = place
    cron, zone, after = parse_cron(text), ZoneInfo(name), change + timedelta(seconds=offset)
    found = next_moment(cron, zone, after)
    assert found is not None
    assert found > after
    walked = by_walking(cron, zone, after, 3 * 1440)
    assert found == walked if walked is not None else found > after + timedelta(days=3)


@given(text=SCHEDULES, name=st.sampled_from(sorted(CHANGES)), steps=st.integers(2, 40))
def test_moments_go_on_and_depend_on_nothing_but_the_one_before(
    text: str, name: str, steps: int
) -> None:
    cron, zone = parse_cron(text), ZoneInfo(name)
    first = moment = CHANGES[name] - timedelta(hours=30)
    for _ in range(steps):
        found = next_moment(cron, zone, moment)
        assert found is not None
        assert found > moment
        assert next_moment(cron, zone, found - timedelta(microseconds=1)) == found
        moment = found
    assert moment > first


@pytest.mark.parametrize(
    ("text", "zone", "after", "expected"),
    [
        ("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T01:00Z"),
        ("0,30 2 * * *", "Europe/Berlin", "2026-03-29T01:00Z", "2026-03-30T00:00Z"),
        ("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-29T01:00Z"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30Z", "2026-10-26T01:30Z"),
        ("30 * * * *", "Europe/Berlin", "2026-10-25T00:30Z", "2026-10-25T01:30Z"),
        ("30 * * * *", "Europe/Berlin", "2026-03-29T00:30Z", "2026-03-29T01:30Z"),
        ("hourly", "Europe/Berlin", "2026-03-29T00:00Z", "2026-03-29T01:00Z"),
        ("0 0 29 2 *", "UTC", "2026-01-01T00:00Z", "2028-02-29T00:00Z"),
        ("0 0 29 2 *", "UTC", "2096-03-01T00:00Z", "2104-02-29T00:00Z"),
        ("0 0 13 * fri", "UTC", "2026-01-01T00:00Z", "2026-01-02T00:00Z"),
        ("0 0 * * 7", "UTC", "2026-01-01T00:00Z", "2026-01-04T00:00Z"),
        ("0 12 * jan-mar mon-fri", "UTC", "2026-03-31T12:00Z", "2027-01-01T12:00Z"),
        ("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", "2018-11-04T03:00Z"),
        ("0 9 * * *", "Pacific/Apia", "2011-12-29T19:30Z", "2011-12-30T10:00Z"),
    ],
)
def test_a_schedule_comes_when_its_zone_says(
    text: str, zone: str, after: str, expected: str
) -> None:
    found = next_moment(parse_cron(text), ZoneInfo(zone), datetime.fromisoformat(after))
    assert found == datetime.fromisoformat(expected)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_is_a_schedule(word: str) -> None:
    assert parse_cron(word) == parse_cron(WORDS[word]) == parse_cron(word.upper())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", "five fields"),
        ("sometimes", "five fields"),
        ("0 0 * * * *", "five fields"),
        ("60 * * * *", "is no minute (0-59)"),
        ("* 24 * * *", "is no hour (0-23)"),
        ("* * 0 * *", "is no day of the month"),
        ("* * * 13 *", "is no month"),
        ("* * * * 8", "is no day of the week"),
        ("* * L * *", "is no day of the month"),
        ("* * ? * *", "is no day of the month"),
        ("* * * * 5#2", "is no day of the week"),
        ("*/0 * * * *", "a step is above 0"),
        ("5/10 * * * *", "a step is above 0 and follows"),
        ("* * * * fri-mon", "backwards"),
        ("1,,2 * * * *", "is no minute"),
        ("0 0 30 2 *", "never comes"),
        ("² * * * *", "is no minute"),
    ],
)
def test_what_is_no_schedule_is_told(text: str, value: str) -> None:
    (problem,) = schedule_problems(text)
    assert value in problem


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../../etc/passwd", "/etc/localtime", "\0"])
def test_what_is_no_zone_is_told(zone: str) -> None:
    (problem,) = schedule_problems("daily", zone)
    assert "is no time zone" in problem


@given(st.text(max_size=30))
def test_any_text_is_a_schedule_or_told(text: str) -> None:
    if not schedule_problems(text):
        assert next_moment(parse_cron(text), ZoneInfo("UTC"), CHANGES["UTC"]) is not None
