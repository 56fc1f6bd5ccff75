"""The suite that every ``MetadataRepository`` passes.

To test a store, subclass it in a test module::

    class TestDocumentStore(RepositoryContract):
        @pytest.fixture(autouse=True)
        def _place(self, tmp_path):
            self.place = tmp_path

        def open_repository(self):
            return DocumentRepository(self.place, tenant=TENANT)
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from lakeguard_sdk.errors import (
    KindRefused,
    RecordConflict,
    RecordRefused,
    RecordsDamaged,
    UnknownKind,
)
from lakeguard_sdk.records.payloads import PAYLOADS
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import MetadataTarget
from lakeguard_sdk.testing.record_samples import (
    AIRLINES,
    FLIGHTS,
    TENANT,
    VOLUME,
    quality_check,
    read_pages,
    read_tail,
    refusal,
    seat_count,
    seats,
    volume,
)
from lakeguard_sdk.testing.repository_reading import ReadingContract

__all__ = ["TENANT", "RepositoryContract"]


class StoringContract(ReadingContract):
    def test_a_stored_record_is_the_latest_at_once_and_after_a_reopen(self) -> None:
        record = volume("run-1", 7, window_start="2026-01-01T00:00:00Z")
        repository = self.open_repository()
        stored = repository.store(record)
        assert stored.is_new
        assert stored.version == 1
        assert stored.record_id == record.record_id()
        assert repository.latest(FLIGHTS, VOLUME) == record
        other = self.open_repository()
        assert other.latest(FLIGHTS, VOLUME) == record
        self.close(repository)
        self.close(other)
        assert self.open_repository().latest(FLIGHTS, VOLUME) == record

    def test_what_is_stored_elsewhere_is_seen_here(self) -> None:
        one, two = self.open_repository(), self.open_repository()
        for number in range(3):
            writer, reader = (one, two) if number % 2 else (two, one)
            writer.store(volume(f"run-{number}", hours=number))
            latest = reader.latest(FLIGHTS, VOLUME)
            assert latest is not None
            assert latest.context.run_id == f"run-{number}"

    def test_every_text_and_number_comes_back_as_it_was(self) -> None:
        target = MetadataTarget(
            source_id="Über/../x", schema_="", table='a"b\\c.d e', extras={"owner": "日本 ☃ 🚀"}
        )
        odd = {"text": 'line\nbreak \u2028 \x00 é \\ "', "whole": 12345678901234567, "small": 1e-9}
        record = volume(
            "run/1 \\ 🚀",
            target=target,
            nested={"list": [1, None, True, odd]},
            quality={"odd": odd},
        )
        repository = self.open_repository()
        repository.store(record)
        assert repository.latest(target, VOLUME) == record

    def test_nothing_is_stored_of_no_records(self) -> None:
        repository = self.open_repository()
        assert list(repository.bulk_store([])) == []
        assert read_tail(repository) == ([], "")

    def test_a_batch_is_stored_whole_or_not_at_all(self) -> None:
        repository = self.open_repository()
        repository.store(volume("run-1", 1))
        good = volume("run-2", 2, hours=5)
        refused = [
            (RecordConflict, volume("run-1", 99)),
            (RecordRefused, volume("run-3", tenant="another")),
            (UnknownKind, seat_count({"free": 1})),
        ]
        for error, bad in refused:
            for batch in ([good, bad], [bad, good]):
                refusal(error, lambda batch=batch: repository.bulk_store(batch))  # type: ignore[misc]
                assert read_tail(repository)[0] == [volume("run-1", 1)]
        stored = repository.bulk_store([volume("run-1", 1), good])
        assert [each.is_new for each in stored] == [False, True]
        assert read_tail(repository)[0] == [volume("run-1", 1), good]

    def test_the_same_fact_is_stored_once(self) -> None:
        repository = self.open_repository()
        record = volume()
        stored = [*repository.bulk_store([record, record]), repository.store(record)]
        stored.append(self.open_repository().store(record))
        assert [each.is_new for each in stored] == [True, False, False, False]
        assert len({each.record_id for each in stored}) == 1
        assert read_tail(repository)[0] == [record]

    def test_spelling_makes_no_other_fact(self) -> None:
        repository = self.given(volume(number=1))
        shouted = MetadataTarget(source_id="WAREHOUSE", schema_="Public", table="FLIGHTS")
        assert not repository.store(volume(target=shouted, number=1)).is_new
        assert not repository.store(volume(number=1.0)).is_new
        assert read_tail(repository)[0] == [volume(number=1)]

    def test_the_same_fact_with_other_content_is_refused(self) -> None:
        repository = self.open_repository()
        repository.store(volume(rows=1))
        other = volume(rows=2)
        refusal(RecordConflict, lambda: repository.store(other))
        refusal(RecordConflict, lambda: self.open_repository().store(other))
        flag, number = volume("run-2", flag=True), volume("run-2", flag=1)
        refusal(RecordConflict, lambda: repository.bulk_store([flag, number]))
        assert read_tail(repository)[0] == [volume(rows=1)]

    def test_the_run_the_check_and_the_namespace_distinguish_facts(self) -> None:
        repository = self.open_repository()
        records = [
            volume("run-1"),
            volume("run-2"),
            volume("run-1", namespace="team"),
            volume("run-1", producer="backfill.v1"),
            volume("run-1", target=AIRLINES),
            volume(None),
            volume(None, hours=1),
            quality_check("rows"),
            quality_check("nulls"),
        ]
        assert all(each.is_new for each in repository.bulk_store(records))
        assert read_tail(repository)[0] == records

    def test_a_higher_version_replaces_the_fact(self) -> None:
        repository = self.open_repository()
        first, second = volume(rows=1), volume(rows=2, version=2)
        repository.store(first)
        stored = repository.store(second)
        assert (stored.is_new, stored.version) == (True, 2)
        for reader in (repository, self.open_repository()):
            assert reader.latest(FLIGHTS, VOLUME) == second
            assert read_pages(reader, MetadataQuery()) == [second]
            assert read_pages(reader, MetadataQuery(every_version=True)) == [second, first]
            assert list(reader.history(FLIGHTS, VOLUME)) == [second, first]
            assert read_tail(reader)[0] == [first, second]

    def test_an_earlier_version_comes_too_late(self) -> None:
        repository = self.open_repository()
        third = volume(rows=3, version=3)
        repository.bulk_store([volume(rows=1), third])
        assert not repository.store(volume(rows=1)).is_new
        assert not repository.store(third).is_new
        refusal(RecordConflict, lambda: repository.store(volume(rows=2, version=2)))
        refusal(RecordConflict, lambda: repository.store(volume(rows=9, version=3)))
        assert repository.latest(FLIGHTS, VOLUME) == third

    def test_a_version_may_say_another_time(self) -> None:
        """The newest fact counts by the time of its highest version."""
        repository = self.open_repository()
        moved = volume("run-1", 3, hours=1, version=2)
        repository.bulk_store([volume("run-1", hours=9), volume("run-2", hours=5), moved])
        assert repository.latest(FLIGHTS, VOLUME) == volume("run-2", hours=5)
        expected = [volume("run-2", hours=5), moved]
        assert read_pages(repository, MetadataQuery()) == expected

    def test_an_unknown_kind_is_refused(self) -> None:
        repository = self.open_repository()
        error = refusal(UnknownKind, lambda: repository.store(seat_count({"free": 1})))
        assert error.fields["kind"] == "seat_count"

    def test_there_is_nothing_of_an_unknown_kind(self) -> None:
        repository = self.given(volume())
        assert repository.latest(FLIGHTS, "seat_count") is None
        assert list(repository.history(FLIGHTS, "seat_count")) == []
        assert read_pages(repository, MetadataQuery(kinds=("seat_count",))) == []

    def test_a_payload_that_its_schema_refuses_is_refused(self) -> None:
        repository = self.open_repository()
        record = volume()
        for payload in ({}, {"rows": -1}, {"rows": "7"}, {"rows": 1, "other": 1}):
            bad = record.model_copy(update={"payload": payload})
            refusal(RecordRefused, lambda bad=bad: repository.store(bad))  # type: ignore[misc]
        assert repository.latest(FLIGHTS, VOLUME) is None

    def test_a_record_of_another_tenant_is_refused(self) -> None:
        repository = self.open_repository()
        refusal(RecordRefused, lambda: repository.store(volume(tenant="another")))

    def test_a_secret_is_refused_wherever_it_is(self) -> None:
        secret = "AKIA" + "ABCDEFGHIJKLMNOP"
        repository = self.open_repository()
        for record in (
            volume(note=secret),
            volume(nested={"list": [{"url": f"x {secret}"}]}),
            volume(nested={secret: 1}),
            volume(quality={"note": f"line\n{secret}"}),
            volume(run=secret),
        ):
            refusal(RecordRefused, lambda record=record: repository.store(record))  # type: ignore[misc]
        assert read_tail(repository)[0] == []

    def test_many_store_the_same_at_once_and_one_of_them_stores_it(self) -> None:
        repositories = [self.open_repository() for _ in range(2)]
        records = [volume(f"run-{number}", number) for number in range(4)]
        calls = [(repository, record) for record in records for repository in repositories * 2]
        with ThreadPoolExecutor(8) as pool:
            stored = list(pool.map(lambda call: call[0].store(call[1]), calls))
        assert sum(each.is_new for each in stored) == len(records)
        found = read_tail(repositories[0])[0]
        assert sorted(each.payload["rows"] for each in found) == [0, 1, 2, 3]


class KindContract(ReadingContract):
    def test_the_shipped_kinds_are_there_from_the_start(self) -> None:
        kinds = self.open_repository().kinds()
        names = [kind.kind for kind in kinds]
        assert names == sorted(names)
        assert {payload.KIND for payload in PAYLOADS} <= {*names}

    def test_a_registered_kind_is_known_to_all(self) -> None:
        repository, other = self.open_repository(), self.open_repository()
        assert repository.register_kind(seats()) == seats()
        assert repository.register_kind(seats()) == seats()
        record = seat_count({"free": 3})
        assert other.store(record).is_new
        assert other.latest(FLIGHTS, "seat_count") == record
        self.close(repository)
        assert seats() in self.open_repository().kinds()
        refusal(RecordRefused, lambda: other.store(seat_count({"free": -1}, run="run-2")))

    def test_a_next_version_accepts_more(self) -> None:
        repository, other = self.open_repository(), self.open_repository()
        repository.register_kind(seats())
        properties = {"free": {"type": "integer"}, "sold": {"type": "integer"}}
        schema = {**seats().json_schema, "properties": properties}
        second = seats(2, json_schema=schema)
        refusal(KindRefused, lambda: repository.register_kind(seats(3, json_schema=schema)))
        refusal(RecordRefused, lambda: other.store(seat_count({"free": -1})))
        assert repository.register_kind(second) == second
        assert repository.register_kind(seats()) == seats()
        assert [kind for kind in other.kinds() if kind.kind == "seat_count"] == [second]
        assert other.store(seat_count({"free": -1, "sold": 2})).is_new

    def test_a_version_that_accepts_less_is_refused(self) -> None:
        repository = self.open_repository()
        repository.register_kind(seats())
        schema = seats().json_schema
        changes: list[dict[str, Any]] = [
            {"required": ["free", "sold"]},
            {"properties": {}},
            {"properties": {"free": {"type": "integer", "minimum": 1}}},
        ]
        for change in changes:
            kind = seats(2, json_schema={**schema, **change})
            refusal(KindRefused, lambda kind=kind: repository.register_kind(kind))  # type: ignore[misc]
        refusal(KindRefused, lambda: repository.register_kind(seats(2, identity=("payload.free",))))
        refusal(KindRefused, lambda: repository.register_kind(seats(1, description="Another.")))
        refusal(KindRefused, lambda: repository.register_kind(seats(2, kind="new_kind")))
        assert seats() in repository.kinds()

    def test_what_is_no_schema_is_refused(self) -> None:
        repository = self.open_repository()
        for schema in ({"type": "integr"}, {"$ref": "http://127.0.0.1/schema.json"}):
            kind = seats(json_schema=schema)
            refusal(KindRefused, lambda kind=kind: repository.register_kind(kind))  # type: ignore[misc]


class DamageContract(ReadingContract):
    def damage(self) -> bool:
        """Changes bytes of the newest stored record, while no repository is open; False if the
        store cannot be damaged by a test."""
        return False

    def test_a_damaged_record_is_named_and_never_returned(self) -> None:
        repository = self.open_repository()
        repository.bulk_store([volume(f"run-{number}", hours=number) for number in range(3)])
        self.close(repository)
        if not self.damage():
            return
        for act in (
            lambda repository: repository.latest(FLIGHTS, VOLUME),
            lambda repository: repository.history(FLIGHTS, VOLUME),
            lambda repository: read_pages(repository, MetadataQuery()),
            lambda repository: read_tail(repository),
        ):
            error = refusal(RecordsDamaged, lambda act=act: act(self.open_repository()))  # type: ignore[misc]
            assert error.fields["place"]


class RepositoryContract(StoringContract, KindContract, DamageContract):
    """Everything that a ``MetadataRepository`` guarantees."""
