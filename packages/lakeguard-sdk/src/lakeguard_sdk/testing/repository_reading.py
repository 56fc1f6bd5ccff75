"""The part of the suite of repositories that reads: ``RepositoryContract`` has it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lakeguard_sdk.errors import UnknownCursor
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget
from lakeguard_sdk.records.repository import MetadataRepository
from lakeguard_sdk.testing.record_samples import (
    AIRLINES,
    FLIGHTS,
    VOLUME,
    at,
    quality_check,
    read_pages,
    read_tail,
    refusal,
    volume,
)


def runs(records: Any) -> list[str | None]:
    return [record.context.run_id for record in records]


class ReadingContract(ABC):
    @abstractmethod
    def open_repository(self) -> MetadataRepository:
        """The repository of this test and of the tenant ``default``, empty at first. Opened again,
        it is the same one, as another process sees it."""

    def close(self, repository: MetadataRepository) -> None:
        close = getattr(repository, "close", None)
        if close is not None:
            close()

    def given(self, *records: MetadataRecord) -> MetadataRepository:
        repository = self.open_repository()
        repository.bulk_store(records)
        return repository

    def test_the_latest_is_of_this_target_and_kind(self) -> None:
        repository = self.given(
            volume("run-1", hours=3),
            volume("run-2", hours=1),
            volume("run-3", hours=9, target=AIRLINES),
            quality_check("rows", run="run-4", hours=10),
        )
        latest = repository.latest(FLIGHTS, VOLUME)
        assert latest == volume("run-1", hours=3)
        assert repository.latest(AIRLINES, "quality_result") is None
        same_name = MetadataTarget(source_id="elsewhere", schema_="public", table="flights")
        assert repository.latest(same_name, VOLUME) is None

    def test_upper_and_lower_case_are_one_target(self) -> None:
        repository = self.given(volume())
        shouted = MetadataTarget(source_id="WAREHOUSE", schema_="Public", table="FLIGHTS")
        assert repository.latest(shouted, VOLUME) == volume()
        assert runs(repository.history(shouted, VOLUME)) == ["run-1"]
        assert runs(repository.query(MetadataQuery(targets=(shouted,)))) == ["run-1"]

    def test_no_two_targets_are_taken_for_one(self) -> None:
        names = (("a", "b", "c.d"), ("a", "b.c", "d"), ("a.b", "", "c.d"), ("a", "", "b.c.d"))
        targets = [MetadataTarget(source_id=a, schema_=b, table=c) for a, b, c in names]
        repository = self.given(*(volume(target=target) for target in targets))
        for target in targets:
            assert repository.latest(target, VOLUME) == volume(target=target)
            assert len(repository.history(target, VOLUME)) == 1

    def test_a_history_is_newest_first_within_its_bounds(self) -> None:
        repository = self.given(*(volume(f"run-{hour}", hours=hour) for hour in (2, 0, 3, 1)))

        def history(**bounds: Any) -> list[str | None]:
            return runs(repository.history(FLIGHTS, VOLUME, **bounds))

        assert history() == ["run-3", "run-2", "run-1", "run-0"]
        assert history(limit=2) == ["run-3", "run-2"]
        assert history(since=at(1)) == ["run-3", "run-2", "run-1"]
        assert history(until=at(2)) == ["run-1", "run-0"]
        assert history(since=at(1), until=at(3), limit=1) == ["run-2"]
        assert list(repository.history(AIRLINES, VOLUME)) == []

    def test_microseconds_count(self) -> None:
        micro = 1 / 3_600_000_000
        repository = self.given(volume("run-2", hours=micro), volume("run-1", hours=0))
        assert runs(repository.query(MetadataQuery(order="produced_at"))) == ["run-1", "run-2"]
        assert runs(repository.history(FLIGHTS, VOLUME, since=at(micro))) == ["run-2"]

    def test_records_of_one_time_are_ordered_by_id(self) -> None:
        records = [volume(f"run-{number}") for number in range(6)]
        records += [volume(f"run-{number}", target=AIRLINES) for number in range(6)]
        repository = self.given(*records)
        ordered = sorted(records, key=lambda record: record.record_id())
        oldest_first = MetadataQuery(order="produced_at", page_size=5)
        assert read_pages(repository, oldest_first) == ordered
        assert read_pages(repository, MetadataQuery(page_size=5)) == ordered[::-1]
        flights = [record for record in ordered if record.target == FLIGHTS]
        assert repository.latest(FLIGHTS, VOLUME) == flights[-1]
        assert list(repository.history(FLIGHTS, VOLUME)) == flights[::-1]

    def test_a_query_chooses_kinds_targets_namespaces_and_times(self) -> None:
        repository = self.given(
            volume("run-1", hours=1),
            volume("run-2", hours=2, target=AIRLINES),
            volume("run-3", hours=3, namespace="team"),
            quality_check("rows", run="run-4", hours=4),
        )

        def found(**given: Any) -> list[str | None]:
            return runs(repository.query(MetadataQuery(order="produced_at", **given)))

        assert found() == ["run-1", "run-2", "run-3", "run-4"]
        assert found(kinds=("quality_result",)) == ["run-4"]
        assert found(kinds=(VOLUME, "quality_result"), targets=(FLIGHTS,)) == [
            "run-1", "run-3", "run-4"
        ]  # fmt: skip
        assert found(targets=(FLIGHTS, AIRLINES)) == ["run-1", "run-2", "run-3", "run-4"]
        assert found(namespaces=("team", "none")) == ["run-3"]
        assert found(since=at(2), until=at(4)) == ["run-2", "run-3"]

    def test_every_condition(self) -> None:
        repository = self.given(
            volume("run-1", 10, word="b", flag=True, nested={"deep": {"x": 1}}),
            volume("run-2", 20, word="c", flag=False, number=1.0),
            volume("run-3", 30, word=None, number="1", quality={"score": 0.5}),
        )
        one, two, three = "run-1", "run-2", "run-3"
        expected: list[tuple[dict[str, Any], list[str]]] = [
            ({"payload.rows": 20}, [two]),
            ({"payload.rows": {"eq": 20.0}}, [two]),
            ({"payload.rows": {"ne": 20}}, [one, three]),
            ({"payload.rows": {"lt": 20}}, [one]),
            ({"payload.rows": {"le": 20}}, [one, two]),
            ({"payload.rows": {"gt": 20}}, [three]),
            ({"payload.rows": {"ge": 20, "lt": 30}}, [two]),
            ({"payload.rows": {"lt": "5"}}, []),
            ({"payload.rows": {"in": [10, 30, "20"]}}, [one, three]),
            ({"extras.word": {"gt": "b"}}, [two]),
            ({"extras.word": {"ne": "b"}}, [two, three]),
            ({"extras.word": {"exists": True}}, [one, two]),
            ({"extras.word": {"exists": False}}, [three]),
            ({"extras.flag": True}, [one]),
            ({"extras.flag": {"ne": True}}, [two, three]),
            ({"extras.flag": 1}, []),
            ({"extras.number": 1}, [two]),
            ({"extras.number": "1"}, [three]),
            ({"extras.nested.deep.x": 1}, [one]),
            ({"extras.nested": {"exists": True}}, [one]),
            ({"extras.missing": {"lt": 1}}, []),
            ({"quality.score": {"ge": 0.5}}, [three]),
            ({"context.run_id": {"in": [one, two]}}, [one, two]),
            ({"context.environment.tenant": "default"}, [one, two, three]),
            ({"target.table": "flights", "payload.rows": 10}, [one]),
        ]
        for where, wanted in expected:
            query = MetadataQuery.model_validate({"where": where})
            assert sorted(filter(None, runs(repository.query(query)))) == wanted, where

    def test_a_condition_is_met_by_the_highest_version(self) -> None:
        repository = self.given(volume(rows=1), volume(rows=2, version=2))
        old = MetadataQuery.model_validate({"where": {"payload.rows": 1}})
        assert read_pages(repository, old) == []
        every = old.model_copy(update={"every_version": True})
        assert read_pages(repository, every) == [volume(rows=1)]

    def test_pages_hold_every_record_once_while_others_are_stored(self) -> None:
        targets = (FLIGHTS, AIRLINES)
        before = [
            volume(f"run-{n}", hours=n // 3, target=targets[n % 2]) for n in range(23)
        ]  # fmt: skip
        repository = self.given(*before)
        other = self.open_repository()
        for order in ("produced_at", "-produced_at"):
            query = MetadataQuery(order=order, page_size=4)
            found: list[MetadataRecord] = []
            while True:
                page = repository.query(query)
                found += page.records
                if not page.next_page:
                    break
                later = len(found)
                other.store(volume(f"{order}-{later}", hours=later % 9 + 0.5))
                query = query.model_copy(update={"page_token": page.next_page})
            ids = [record.record_id() for record in found]
            assert len(ids) == len(set(ids))
            assert {record.record_id() for record in before} <= set(ids)

    def test_a_page_is_filled_whatever_is_passed_over(self) -> None:
        repository = self.given(*(volume(f"run-{n}", n % 13, hours=n // 4) for n in range(60)))
        for order in ("produced_at", "-produced_at"):
            query = MetadataQuery.model_validate(
                {"where": {"payload.rows": 12}, "order": order, "page_size": 2}
            )
            found = read_pages(repository, query)
            wanted = ["run-12", "run-25", "run-38", "run-51"]
            assert runs(found) == (wanted if order == "produced_at" else wanted[::-1])

    def test_a_full_last_page_has_no_next(self) -> None:
        repository = self.given(*(volume(f"run-{n}", hours=n) for n in range(4)))
        first = repository.query(MetadataQuery(page_size=2))
        second = repository.query(MetadataQuery(page_size=2, page_token=first.next_page))
        assert runs(first) + runs(second) == ["run-3", "run-2", "run-1", "run-0"]
        assert first.next_page
        assert second.next_page == ""

    def test_a_token_of_another_query_is_refused(self) -> None:
        repository = self.given(*(volume(f"run-{n}", hours=n) for n in range(4)))
        token = repository.query(MetadataQuery(page_size=2)).next_page
        for other in (
            MetadataQuery(page_token=token, order="produced_at"),
            MetadataQuery(page_token=token, kinds=(VOLUME,)),
            MetadataQuery(page_token="nonsense"),  # noqa: S106 - of a page
        ):
            refusal(UnknownCursor, lambda other=other: repository.query(other))  # type: ignore[misc]

    def test_a_tail_has_every_record_once_in_the_order_of_storing(self) -> None:
        records = [volume(f"run-{n}", hours=9 - n) for n in range(9)]
        repository = self.open_repository()
        repository.bulk_store(records[:4])
        found, cursor = read_tail(repository)
        assert found == records[:4]
        assert read_tail(repository, cursor) == ([], cursor)
        for record in records[4:]:
            repository.store(record)
            repository.store(record)
        self.close(repository)
        again = self.open_repository()
        assert read_tail(again, cursor)[0] == records[4:]
        assert read_tail(again)[0] == records
        one = again.tail("", 1)
        assert (one.records, read_tail(again, one.cursor)[0]) == ((records[0],), records[1:])

    def test_a_tail_misses_nothing_of_two_writers(self) -> None:
        writers = [self.open_repository() for _ in range(2)]
        reader = self.open_repository()

        def store(number: int) -> None:
            batch = [volume(f"run-{number}-{n}", number) for n in range(number % 3 + 1)]
            writers[number % 2].bulk_store(batch)

        found: list[MetadataRecord] = []
        cursor = ""
        with ThreadPoolExecutor(4) as pool:
            storing = [pool.submit(store, number) for number in range(24)]
            while not all(each.done() for each in storing):
                more, cursor = read_tail(reader, cursor, limit=5)
                found += more
            for each in storing:
                each.result()
        found += read_tail(reader, cursor)[0]
        expected = {f"run-{number}-{n}" for number in range(24) for n in range(number % 3 + 1)}
        assert len(found) == len(expected)
        assert {record.context.run_id for record in found} == expected
        assert read_tail(reader)[0] == found

    def test_what_is_no_cursor_is_refused(self) -> None:
        repository = self.given(volume())
        for cursor in ("nonsense", "1", repository.tail().cursor + "0"):
            refusal(UnknownCursor, lambda cursor=cursor: repository.tail(cursor))  # type: ignore[misc]
