"""``lakeguard records``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeguard.cli.commands.inspect import records as command
from lakeguard_sdk import Client, connect
from lakeguard_sdk.records.payloads import QualityStatus
from tests.support.cases.records import quality, volume
from tests.support.projects.projects import numbers_project
from tests.support.projects.shell import Shell

RECORDS = [
    volume(1, run="a", extras={"window_start": "2026-01-01T00:00:00.000000Z"}),
    volume(2, run="b", hours=1),
    volume(3, run="b", hours=1, version=2),
    quality("x", QualityStatus.FAIL),
]
KIND = {"kind": "odd", "description": "Odd facts.", "json_schema": {"type": "object"}}
TARGET = "warehouse.public.flights"


@pytest.fixture(params=["sql", "files"])
def client(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Client:
    numbers_project(tmp_path).close()
    with (tmp_path / "lakeguard.toml").open("a") as settings:
        settings.write(f'\n[env.dev.records]\nstore = "{request.param}"\n')
    client = connect(tmp_path)
    client.records.bulk_store(RECORDS)
    monkeypatch.chdir(tmp_path)
    return client


pytestmark = pytest.mark.usefixtures("client")


def rows(found: list[dict[str, dict[str, object]]]) -> list[object]:
    return [record["payload"].get("rows") for record in found]


def test_the_latest_record_is_shown(shell: Shell) -> None:
    shown = shell("records", "latest", "Warehouse.PUBLIC.flights", "--kind", "ingestion_volume")
    assert shown.code == 0
    for text in ("ingestion_volume  warehouse.public.flights", '"rows": 3', "version", "2"):
        assert text in shown.out
    found = shell("records", "latest", TARGET, "--kind", "ingestion_volume", "--json").data
    assert found["record"] == RECORDS[2].data
    nothing = shell("records", "latest", "a.b", "--kind", "ingestion_volume")
    assert (nothing.code, nothing.out) == (0, "no such record\n")
    nothing = shell("records", "latest", "a.b", "--kind", "ingestion_volume", "--json")
    assert nothing.data == {"record": None}


def test_a_misspelt_kind_is_refused_with_a_hint(shell: Shell) -> None:
    for asked in (("latest", TARGET), ("history", TARGET), ("query",)):
        shown = shell("records", *asked, "--kind", "ingestion_volum")
        assert shown.code == 2
        assert "did you mean ingestion_volume" in shown.err
        assert "LG-1801" in shown.err


def test_the_history_has_every_version(shell: Shell) -> None:
    place = ("records", "history", TARGET, "--kind", "ingestion_volume")
    assert rows(shell(*place, "--json").data["records"]) == [3, 2, 1]
    assert rows(shell(*place, "--limit", "1", "--json").data["records"]) == [3]
    assert rows(shell(*place, "--until", "2026-01-01T06:30:00Z", "--json").data["records"]) == [1]
    assert rows(shell(*place, "--since", "2026-01-01T06:30Z", "--json").data["records"]) == [3, 2]
    shown = shell(*place).out
    assert shown.splitlines()[0].split() == [
        "PRODUCED", "KIND", "TARGET", "RUN", "VERSION", "PAYLOAD",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ((), [3, 1, None]),
        (("--kind", "ingestion_volume"), [3, 1]),
        (("--kind", "ingestion_volume", "--oldest-first"), [1, 3]),
        (("--every-version", "--kind", "ingestion_volume"), [3, 2, 1]),
        (("--where", "payload.rows>=3"), [3]),
        (("--where", "payload.rows>=1", "--where", "extras.window_start?"), [1]),
        (("--where", 'payload.status=["warn","fail"]'), [None]),
        (("--target", "warehouse.public.airports"), []),
        (("--namespace", "team"), []),
    ],
)
def test_a_query_meets_all_that_is_given(
    shell: Shell, options: tuple[str, ...], found: list[object]
) -> None:
    shown = shell("records", "query", *options, "--json")
    got = rows(shown.data["records"])
    assert sorted(map(str, got)) == sorted(map(str, found))
    assert [each for each in got if each] == [each for each in found if each]


def test_what_cannot_be_read_is_a_wrong_use(shell: Shell) -> None:
    for options in (("--where", "rows"), ("--target", "flights"), ("--since", "soon")):
        shown = shell("records", "query", *options)
        assert shown.code == 2, options
        assert "write" in shown.err


def test_the_tail_goes_on_at_its_cursor(shell: Shell, client: Client) -> None:
    first = shell("records", "tail", "--limit", "3", "--json").data
    assert rows(first["records"]) == [1, 2, 3]
    shown = shell("records", "tail", "--limit", "3").out
    assert f"--cursor {first['cursor']}" in shown
    second = shell("records", "tail", "--cursor", first["cursor"], "--json").data
    assert second["records"] == [RECORDS[3].data]
    client.records.store(volume(9, run="later"))
    last = shell("records", "tail", "--cursor", second["cursor"], "--json").data
    assert rows(last["records"]) == [9]
    refused = shell("records", "tail", "--cursor", "x")
    assert (refused.code, "LG-1804" in refused.err) == (2, True)


def test_a_tail_is_followed(shell: Shell, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = []

    class Clock:
        @staticmethod
        def sleep(seconds: float) -> None:
            waits.append(seconds)
            if len(waits) == 2:
                raise KeyboardInterrupt
            client.records.store(volume(9, run="later"))

    monkeypatch.setattr(command, "time", Clock)
    shown = shell("records", "tail", "--follow", "--json")
    lines = [json.loads(line) for line in shown.out.splitlines()]
    assert rows(lines) == [1, 2, 3, None, 9]


def test_kinds_are_listed_shown_and_registered(shell: Shell, tmp_path: Path) -> None:
    listed = shell("records", "kinds")
    assert "recon_result" in listed.out
    assert "for ever" in listed.out
    assert len(shell("records", "kinds", "--json").data["kinds"]) == 8
    shown = shell("records", "kinds", "recon_result")
    assert '"required"' in shown.out
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(KIND))
    assert shell("records", "kinds", "--register", file).code == 0
    assert shell("records", "kinds", "odd", "--json").data["kind"]["description"] == "Odd facts."
    file.write_text(json.dumps({**KIND, "version": 2, "json_schema": {"type": "array"}}))
    refused = shell("records", "kinds", "--register", file)
    assert (refused.code, "LG-1803" in refused.err) == (2, True)
    file.write_text(json.dumps({**KIND, "kind": "ODD"}))
    refused = shell("records", "kinds", "--register", file)
    assert (refused.code, "kind: " in refused.err) == (2, True)


def test_a_file_of_records_is_checked(shell: Shell, tmp_path: Path, client: Client) -> None:
    before = client.records.tail().cursor
    file = tmp_path / "records.jsonl"
    good = [volume(n, run=f"new_{n}").to_json() for n in range(3)]
    file.write_text("\n\n".join(good))
    well = shell("records", "validate", file)
    assert (well.code, "3 records would be stored" in well.out) == (0, True)
    bad = [
        good[0],
        '{"kind": 1}',
        "no json",
        good[1].replace('"rows":1', '"rows":-1'),
        good[2].replace("ingestion_volume", "ingestion_volumes"),
        good[0].replace('"rows":0', '"rows":7'),
        good[2],
    ]
    file.write_text("\n".join(bad))
    shown = shell("records", "validate", file)
    assert shown.code == 1
    assert "5 of 7 records would be refused" in shown.out
    found = shell("records", "validate", file, "--json").data
    places = {(each["line"], each["place"]) for each in found["problems"]}
    assert {(4, "payload.rows"), (5, "kind"), (6, "")} <= places
    assert {line for line, _ in places} == {2, 3, 4, 5, 6}
    assert client.records.tail(before).records == ()
