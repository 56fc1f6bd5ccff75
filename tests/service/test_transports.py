"""Both transports over a real socket, and commands that ask a service."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakeguard.cli.main import call
from lakeguard_sdk.api.connection import connect_async, connect_remote
from lakeguard_sdk.client import Client
from lakeguard_sdk.errors import NotRegistered, StateUnavailable
from lakeguard_sdk.model.verification import VerifyReport
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project
from tests.support.projects.served import service_at


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("numbers")
    numbers_project(folder)
    with service_at(folder) as served:
        yield served


@pytest.fixture(scope="module")
def client(url: str) -> Client:
    return connect_remote(url)


@pytest.fixture(autouse=True)
def over_http() -> None:
    """These clients ask a service anyway."""


def test_an_event_loop_gets_the_same_answers(url: str, client: Client) -> None:
    run_by_hand(client, [1])
    lines: list[str] = []

    async def asked() -> tuple[object, VerifyReport]:
        async with connect_async(url) as remote:
            with pytest.raises(NotRegistered):
                await remote.reader.dataset("silver.nowhere")
            rows, report = await asyncio.gather(
                remote.reader.versions(NUMBERS), remote.ledger.verify(progress=lines.append)
            )
            return rows, report

    rows, report = asyncio.run(asked())
    assert rows == client.reader.versions(NUMBERS)
    assert report.findings == ()
    assert "checking history" in lines


def test_long_lists_are_read_whole(client: Client) -> None:
    for number in range(12):
        client.operations.submit(NUMBERS, "tests", key=str(number))
    assert len(client.jobs.tasks(limit=1_000)) >= 12
    assert len(client.jobs.tasks(limit=5)) == 5


def test_a_service_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(StateUnavailable, match="is unavailable"):
        connect_remote("http://127.0.0.1:1")


IDENTITY = ("org list", "user create ada", "role grant ada viewer", "token create ci --allow read")


def test_commands_ask_the_service(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAKEGUARD_URL", url)
    assert call(["status"]) == 0
    assert "bronze.numbers" in capsys.readouterr().out
    assert call(["show", "bronze.numbers"]) == 0
    assert call(["verify"]) == 0
    capsys.readouterr()
    assert call(["why", "silver.nowhere"]) == 2
    assert "silver.nowhere is not registered" in capsys.readouterr().err
    for command in ("rebuild", "dispatcher", "serve", "migrate", *IDENTITY):
        assert call(command.split()) == 2
        assert f"{command.split()[0]} needs the project folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
