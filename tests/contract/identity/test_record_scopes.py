"""Who may store and read metadata records: by kind and namespace, and of readable datasets."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.access.authorise import grant_of
from lakeguard.access.principal import (
    Action,
    Grant,
    Principal,
    PrincipalKind,
    Role,
    parse_namespace,
)
from lakeguard.plane import open_state
from lakeguard.service_plane import client_for
from lakeguard.settings import load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import BadNamespace, NotPermitted
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget
from tests.support.cases.records import FLIGHTS, quality, volume
from tests.support.projects.access_logs import access_rows
from tests.support.projects.planes import numbers_definitions
from tests.support.projects.projects import make_project

NUMBERS = MetadataTarget(source_id="Lake", schema="bronze", table="numbers")
UNKNOWN = MetadataTarget(source_id="lake", schema="bronze", table="nothing")
RECORDS = [
    volume(1, run="a"),
    volume(2, run="b", namespace="team", hours=1),
    volume(3, run="c", target=NUMBERS, hours=2),
    volume(4, run="d", target=UNKNOWN, hours=3),
    quality("x", run="e"),
]
ODD = MetadataKind(kind="odd", json_schema={"type": "object"})


@pytest.fixture
def whole(tmp_path: Path) -> Client:
    """A project with the dataset bronze.numbers of the domain ``test``."""
    return make_project(tmp_path, numbers_definitions(LoadType.APPEND))


@pytest.fixture
def folder(whole: Client, tmp_path: Path) -> Path:
    whole.records.bulk_store(RECORDS)
    return tmp_path


def by_token(folder: Path, on: str, *actions: Action) -> Client:
    settings = load_settings(folder)
    grants = (Grant(frozenset(actions), parse_namespace(on)),)
    token = Principal("default", PrincipalKind.TOKEN, "tok_1", "ci", grants)
    return client_for(settings, open_state(settings), token)


def by_user(folder: Path, role: Role, on: str) -> Client:
    settings = load_settings(folder)
    grants = (grant_of(role, parse_namespace(on)),)
    user = Principal("default", PrincipalKind.USER, "usr_1", "ada", grants)
    return client_for(settings, open_state(settings), user)


def numbers_of(found: object) -> list[object]:
    return sorted(each.payload.get("rows", 0) for each in found)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("on", "seen"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("records:ingestion_volume", [1, 2, 3, 4]),
        ("records:ingestion_volume@team", [2]),
        ("records:*@default", [0, 1, 3, 4]),
        ("records:recon_result", []),
        ("domain:test", [3]),
        ("bronze", [3]),
        ("bronze.numbers", [3]),
        ("silver", []),
    ],
)
def test_a_principal_reads_what_it_was_granted(folder: Path, on: str, seen: list[int]) -> None:
    records = by_token(folder, on, Action.READ).records
    assert numbers_of(records.query(MetadataQuery())) == seen
    assert numbers_of(records.query(MetadataQuery(page_size=1))) == (seen and [max(seen)])[:1]
    assert numbers_of(records.tail()) == seen
    of_flights = [n for n in seen if n in (1, 2)]
    assert numbers_of(records.history(FLIGHTS, "ingestion_volume")) == of_flights
    latest = records.latest(FLIGHTS, "ingestion_volume")
    assert (latest and latest.payload["rows"]) == (max(of_flights) if of_flights else None)
    assert len(records.kinds()) == 8


@pytest.mark.parametrize(
    ("on", "record", "allowed"),
    [
        ("", volume(9, run="z"), True),
        ("records:ingestion_volume", volume(9, run="z"), True),
        ("records:ingestion_volume", volume(9, run="z", target=NUMBERS), True),
        ("records:ingestion_volume@team", volume(9, run="z", namespace="team"), True),
        ("records:ingestion_volume@team", volume(9, run="z"), False),
        ("records:quality_result", volume(9, run="z"), False),
        ("domain:test", volume(9, run="z", target=NUMBERS), True),
        ("domain:test", volume(9, run="z", target=UNKNOWN), False),
        ("domain:test", volume(9, run="z"), False),
    ],
)
def test_a_producer_stores_what_it_was_granted(
    folder: Path, whole: Client, on: str, record: MetadataRecord, allowed: bool
) -> None:
    records = by_token(folder, on, Action.EMIT).records
    mixed = [quality("y", run="z"), record]
    if allowed:
        assert records.store(record).is_new
    else:
        with pytest.raises(NotPermitted, match="emit"):
            records.store(record)
    if on:
        with pytest.raises(NotPermitted):
            records.bulk_store([volume(1, run="m", namespace="other"), *mixed])
    with pytest.raises(NotPermitted):
        records.latest(FLIGHTS, "ingestion_volume")
    assert len(whole.records.tail().records) == len(RECORDS) + allowed


def test_reading_does_not_allow_to_store(folder: Path) -> None:
    with pytest.raises(NotPermitted):
        by_token(folder, "", Action.READ).records.store(volume(9, run="z"))
    with pytest.raises(NotPermitted):
        by_user(folder, Role.VIEWER, "").records.store(volume(9, run="z"))
    assert by_user(folder, Role.ENGINEER, "").records.store(volume(9, run="z")).is_new


def test_kinds_are_registered_by_those_who_may_define(folder: Path) -> None:
    with pytest.raises(NotPermitted):
        by_token(folder, "", Action.READ, Action.EMIT).records.register_kind(ODD)
    with pytest.raises(NotPermitted):
        by_token(folder, "records:odd", Action.DEFINE).records.register_kind(ODD)
    assert by_token(folder, "", Action.DEFINE).records.register_kind(ODD) == ODD


def test_stored_records_are_not_in_the_access_log(folder: Path) -> None:
    by_token(folder, "", Action.EMIT).records.store(volume(9, run="z"))
    with OrganisationState.of(open_state(load_settings(folder)), "default").read() as tx:
        assert access_rows(tx) == []


@pytest.mark.parametrize(
    "text", ["records:", "records:Odd", "records:odd@", "records:@team", f"records:odd@{'x' * 300}"]
)
def test_a_namespace_of_records_names_a_kind(text: str) -> None:
    with pytest.raises(BadNamespace):
        parse_namespace(text)
