"""Commands by a service token that allows what the command is about, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard.access.principal import Action
from lakeguard.cli.main import call
from lakeguard.http.app import create_app
from lakeguard.http.listen_address import parse_place
from lakeguard.http.listener import listen, serving
from lakeguard.plane import open_state
from lakeguard.service_plane import open_service
from lakeguard.settings import load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.model.definitions import JobDefinition
from tests.support.fakes.asked_app import token_for
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.access_logs import access_rows
from tests.support.projects.planes import numbers_definitions
from tests.support.projects.projects import make_project

REPORT = JobDefinition(job="report", type="python", config={"call": "jobs.report:main"})


@pytest.fixture(autouse=True)
def over_http() -> None:
    """These tests start their own services."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project with two versions and a job, behind a service that asks for tokens."""
    served, here = tmp_path / "served", tmp_path / "here"
    numbers = numbers_definitions(LoadType.APPEND)
    client = make_project(served, numbers.model_copy(update={"jobs": (REPORT,)}))
    client.jobs.deploy("test")
    run_by_hand(client, [1])
    run_by_hand(client, [2])
    client.close()
    here.mkdir()
    (here / "definitions").mkdir()
    (here / "lakeguard.toml").write_text("[env.dev]\n")
    service = open_service(str(served), parse_place("127.0.0.1:0"), tokens=True)
    with serving(create_app(service), listen(service)) as listener:
        monkeypatch.chdir(here)
        monkeypatch.setenv("LAKEGUARD_URL", listener.url)
        yield served


@pytest.mark.parametrize(
    ("action", "command", "shown"),
    [
        (Action.DEFINE, "apply", ""),
        (Action.RUN, "jobs trigger report", "report"),
        (Action.CURATE, "rollback bronze.numbers --to v1 --reason tested", "ROLLED BACK"),
        (Action.DEPLOY, "jobs disable report --reason tested", "report"),
    ],
)
def test_a_command_needs_no_right_to_work(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    action: Action,
    command: str,
    shown: str,
) -> None:
    token = token_for(folder, "ci", Action.READ, action).removeprefix("Bearer ")
    monkeypatch.setenv("LAKEGUARD_TOKEN", token)
    code = call(command.split())
    found = capsys.readouterr()
    assert code == 0, found.err
    assert "LG-" not in found.err
    assert "work" not in found.err
    assert shown in found.out
    settings = load_settings(folder)
    state = OrganisationState.of(open_state(settings), settings.organisation)
    with state.read() as tx:
        assert access_rows(tx, refused=True) == []


def test_a_waiver_is_given_by_a_token_that_may_curate(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    token = token_for(folder, "ci", Action.READ, Action.CURATE).removeprefix("Bearer ")
    monkeypatch.setenv("LAKEGUARD_TOKEN", token)
    until = (datetime.now(UTC) + timedelta(days=2)).date()
    more = f"--until {until} --reason tested --approver ada"
    assert call(f"waive bronze.numbers nothing {more}".split()) == 2
    assert "LG-1301" in capsys.readouterr().err  # there is no such rule


def test_what_a_command_is_about_needs_its_right(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    token = token_for(folder, "reader", Action.READ).removeprefix("Bearer ")
    monkeypatch.setenv("LAKEGUARD_TOKEN", token)
    assert call(["jobs", "trigger", "report"]) == 1, "3 is a decision of the gate"
    shown = capsys.readouterr().err
    assert "its scope does not include run" in shown
    assert "Next: ask an administrator" in shown


def test_a_token_that_nobody_knows_is_no_decision_of_the_gate(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LAKEGUARD_TOKEN", "lgs1_unknown")
    assert call(["status"]) == 1
    assert "LG-3311" in capsys.readouterr().err
