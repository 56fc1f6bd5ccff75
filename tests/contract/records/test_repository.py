"""What a repository of metadata records promises, over SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from lakeguard_sdk.errors import (
    RecordConflict,
    RecordRefused,
    UnknownCursor,
    UnknownKind,
)
from lakeguard_sdk.records.payloads import QualityStatus
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget
from lakeguard_sdk.records.repository import MetadataRepository
from tests.support.cases.records import AIRPORTS, FLIGHTS, START, quality, volume

VOLUME = "ingestion_volume"

Made = Callable[..., MetadataRecord]


# Storing.


def test_a_stored_record_is_the_latest(repository: MetadataRepository, made: Made) -> None:
    assert repository.latest(FLIGHTS, VOLUME) is None
    stored = repository.store(made(10))
    assert (stored.is_new, stored.version) == (True, 1)
    assert repository.latest(FLIGHTS, VOLUME) == made(10)
    assert repository.latest(AIRPORTS, VOLUME) is None
    assert repository.latest(FLIGHTS, "quality_result") is None


def test_the_latest_is_the_one_produced_last(repository: MetadataRepository, made: Made) -> None:
    repository.store(made(2, run="b", hours=2))
    repository.store(made(1, run="a", hours=1))
    found = repository.latest(FLIGHTS, VOLUME)
    assert found is not None
    assert found.payload["rows"] == 2


def test_the_same_fact_again_changes_nothing(repository: MetadataRepository, made: Made) -> None:
    first = repository.store(made(10))
    again = repository.store(made(10))
    assert (again.record_id, again.is_new) == (first.record_id, False)
    assert len(repository.history(FLIGHTS, VOLUME)) == 1
    assert len(repository.tail().records) == 1


def test_upper_and_lower_case_of_a_target_are_the_same(
    repository: MetadataRepository, made: Made
) -> None:
    shouted = MetadataTarget(source_id="WAREHOUSE", schema="Public", table="FLIGHTS")
    repository.store(made(10))
    assert not repository.store(made(10, target=shouted)).is_new
    assert repository.latest(shouted, VOLUME) == made(10)
    assert [each.is_new for each in repository.bulk_store([made(1, run="x", target=shouted)])] == [
        True
    ]
    assert len(repository.history(FLIGHTS, VOLUME)) == 2


def test_another_content_is_refused(repository: MetadataRepository, made: Made) -> None:
    repository.store(made(10))
    with pytest.raises(RecordConflict, match="other content"):
        repository.store(made(11))
    assert list(repository.history(FLIGHTS, VOLUME)) == [made(10)]


def test_a_higher_version_replaces_a_fact(repository: MetadataRepository, made: Made) -> None:
    repository.store(made(10))
    assert repository.store(made(12, version=3)).is_new
    assert repository.latest(FLIGHTS, VOLUME) == made(12, version=3)
    assert list(repository.history(FLIGHTS, VOLUME)) == [made(12, version=3), made(10)]
    assert tuple(repository.query(MetadataQuery())) == (made(12, version=3),)
    both = repository.query(MetadataQuery(every_version=True, order="produced_at"))
    assert tuple(both) == (made(10), made(12, version=3))
    assert not repository.store(made(10)).is_new
    with pytest.raises(RecordConflict, match="version 3"):
        repository.store(made(11, version=2))


def test_a_higher_version_may_move_a_fact_in_time(
    repository: MetadataRepository, made: Made
) -> None:
    repository.bulk_store([made(1, run="a", hours=5), made(2, run="b", hours=4)])
    repository.store(made(1, run="a", hours=1, version=2))
    assert repository.latest(FLIGHTS, VOLUME) == made(2, run="b", hours=4)


def test_a_batch_is_stored_whole_or_not_at_all(
    repository: MetadataRepository, made: Made, tenant: str
) -> None:
    repository.store(made(10))
    with pytest.raises(RecordConflict):
        repository.bulk_store([made(1, run="new"), made(11)])
    bad = made(1, run="newer").model_copy(update={"payload": {"rows": -1}})
    with pytest.raises(RecordRefused, match=r"payload\.rows"):
        repository.bulk_store([made(1, run="new"), bad])
    assert len(repository.tail().records) == 1
    assert not repository.bulk_store([])


def test_a_batch_may_repeat_itself(repository: MetadataRepository, made: Made) -> None:
    batch = [made(1), made(1), made(2, version=2), made(1), made(5, run="b")]
    answers = repository.bulk_store(batch)
    assert [each.is_new for each in answers] == [True, False, True, False, True]
    assert {each.record_id for each in answers[:4]} == {answers[0].record_id}
    assert len(tuple(repository.query(MetadataQuery()))) == 2
    with pytest.raises(RecordConflict):
        repository.bulk_store([made(1, run="c"), made(2, run="c")])


def test_a_batch_of_many(repository: MetadataRepository, made: Made) -> None:
    batch = [made(n, run=f"run_{n}", hours=n) for n in range(1_234)]
    assert all(each.is_new for each in repository.bulk_store(batch))
    assert not any(each.is_new for each in repository.bulk_store(batch))
    found = repository.latest(FLIGHTS, VOLUME)
    assert found == batch[-1]


@pytest.mark.parametrize(
    "extras",
    [
        {"text": "\N{GRINNING FACE} \N{SNOWMAN} \\u0000 '\" \x00 %s :x"},
        {"big": 2**60, "whole": 1.0, "small": 1e-9, "none": None},
        {"deep": {"list": [1, "a", True, {"b": []}]}},
    ],
)
def test_values_come_back_as_they_were(
    repository: MetadataRepository, made: Made, extras: dict[str, Any]
) -> None:
    record = made(1, extras=extras)
    repository.store(record)
    found = repository.latest(FLIGHTS, VOLUME)
    assert found == record
    assert repr(sorted(found.extras.items())) == repr(sorted(extras.items()))


def test_facts_without_a_run_differ_by_their_time(
    repository: MetadataRepository, made: Made
) -> None:
    repository.bulk_store([made(1, run=None), made(2, run=None, hours=0.5)])
    assert len(repository.history(FLIGHTS, VOLUME)) == 2


def test_a_kind_may_tell_facts_of_one_run_apart(
    repository: MetadataRepository, tenant: str
) -> None:
    checks = [quality("a", tenant=tenant), quality("b", QualityStatus.FAIL, tenant=tenant)]
    assert all(each.is_new for each in repository.bulk_store(checks))
    with pytest.raises(RecordConflict):
        repository.store(quality("a", QualityStatus.WARN, tenant=tenant))


# Refused records.


def test_an_unknown_kind_is_refused(repository: MetadataRepository, made: Made) -> None:
    other = made(1).model_copy(update={"kind": "ingestion_volumes"})
    with pytest.raises(UnknownKind, match="ingestion_volume"):
        repository.store(other)


def test_a_record_of_another_tenant_is_refused(repository: MetadataRepository) -> None:
    with pytest.raises(RecordRefused, match="tenant"):
        repository.store(volume(1, tenant="somebody_else"))


def test_a_secret_is_refused(repository: MetadataRepository, made: Made) -> None:
    with pytest.raises(RecordRefused, match=r"extras\.note"):
        repository.store(made(1, extras={"note": "jdbc:x://me:hunter2@db/x"}))
    assert not repository.tail().records


# Asking.


def test_history_is_newest_first_within_its_limits(
    repository: MetadataRepository, made: Made
) -> None:
    records = [made(n, run=f"r{n}", hours=n) for n in range(5)]
    repository.bulk_store([*records, made(9, target=AIRPORTS)])
    assert list(repository.history(FLIGHTS, VOLUME)) == records[::-1]
    assert list(repository.history(FLIGHTS, VOLUME, limit=2)) == [records[4], records[3]]
    since, until = START + timedelta(hours=1), START + timedelta(hours=3)
    found = repository.history(FLIGHTS, VOLUME, since=since, until=until)
    assert list(found) == [records[2], records[1]]


@pytest.mark.parametrize("order", ["produced_at", "-produced_at"])
@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pages_together_are_the_whole_answer(
    repository: MetadataRepository, made: Made, order: str, size: int
) -> None:
    records = [made(n, run=f"r{n}", hours=n // 3) for n in range(10)]  # several at one time
    repository.bulk_store(records)
    query, found = MetadataQuery(kinds=[VOLUME], order=order, page_size=size), []
    while True:
        page = repository.query(query)
        assert len(page.records) <= size
        found += page.records
        if not page.next_page:
            break
        query = query.model_copy(update={"page_token": page.next_page})
    assert sorted(each.payload["rows"] for each in found) == list(range(10))
    times = [each.produced_at for each in found]
    assert times == sorted(times, reverse=order.startswith("-"))


def test_a_query_answers_as_its_conditions_say(
    repository: MetadataRepository, made: Made, tenant: str
) -> None:
    records = [
        made(1, run="a", extras={"window_start": "2026-01-01T00:00:00.000000Z", "odd": True}),
        made(2, run="b", hours=1, namespace="team", extras={"odd": 1}),
        made(3, run="c", hours=2, target=AIRPORTS, extras={"odd": "1"}),
        quality("x", QualityStatus.FAIL, tenant=tenant),
    ]
    repository.bulk_store(records)
    for given in (
        {},
        {"kinds": [VOLUME]},
        {"kinds": ["quality_result", VOLUME]},
        {"targets": [AIRPORTS]},
        {"targets": [AIRPORTS, FLIGHTS], "namespaces": ["team"]},
        {"since": START + timedelta(hours=1)},
        {"until": START + timedelta(hours=1)},
        {"where": {"payload.rows": {"ge": 2}}},
        {"where": {"payload.rows": {"gt": 1, "lt": 3}}},
        {"where": {"payload.status": "fail"}},
        {"where": {"payload.status": {"ne": "fail"}}},
        {"where": {"extras.odd": True}},
        {"where": {"extras.odd": 1}},
        {"where": {"extras.odd": {"in": ["1", True]}}},
        {"where": {"extras.window_start": {"exists": False}}},
        {"where": {"context.namespace": "team", "target.table": "flights"}},
    ):
        query = MetadataQuery.model_validate(given)
        wanted = [each for each in records if query.matches(each)]
        found = list(repository.query(query))
        assert {each.to_json() for each in found} == {each.to_json() for each in wanted}, given
        assert len(found) == len(wanted), given


def test_conditions_page_through_many_rows(repository: MetadataRepository, made: Made) -> None:
    repository.bulk_store([made(n, run=f"r{n}", hours=n) for n in range(1_100)])
    query = MetadataQuery(where={"payload.rows": {"in": [3, 700, 1_050]}}, page_size=2)
    page = repository.query(query)
    assert [each.payload["rows"] for each in page] == [1_050, 700]
    page = repository.query(query.model_copy(update={"page_token": page.next_page}))
    assert [each.payload["rows"] for each in page] == [3]
    assert page.next_page == ""


def test_a_page_token_is_good_for_its_query_only(
    repository: MetadataRepository, made: Made
) -> None:
    repository.bulk_store([made(n, run=f"r{n}", hours=n) for n in range(4)])
    token = repository.query(MetadataQuery(page_size=2)).next_page
    assert token
    assert len(repository.query(MetadataQuery(page_size=1, page_token=token)).records) == 1
    other = MetadataQuery(kinds=[VOLUME], page_token=token)
    for query in (other, *(MetadataQuery(page_token=text) for text in ("x", token[:-3], "W10"))):
        with pytest.raises(UnknownCursor):
            repository.query(query)


# The tail.


def test_the_tail_goes_on_where_it_ended(repository: MetadataRepository, made: Made) -> None:
    empty = repository.tail()
    assert (empty.records, empty.cursor) == ((), "")
    repository.bulk_store([made(n, run=f"r{n}", hours=-n) for n in range(3)])
    first = repository.tail(empty.cursor, limit=2)
    assert [each.payload["rows"] for each in first] == [0, 1]
    second = repository.tail(first.cursor)
    assert [each.payload["rows"] for each in second] == [2]
    assert repository.tail(second.cursor) == second.model_copy(update={"records": ()})
    repository.store(made(7, run="r0", version=2))
    assert [each.payload["rows"] for each in repository.tail(second.cursor)] == [7]


def test_a_foreign_cursor_is_refused(
    repository: MetadataRepository, elsewhere: MetadataRepository, made: Made
) -> None:
    for text in ("x", "1"):
        with pytest.raises(UnknownCursor):
            repository.tail(text)
    repository.store(made(1))
    with pytest.raises(UnknownCursor):
        elsewhere.tail(repository.tail().cursor)
