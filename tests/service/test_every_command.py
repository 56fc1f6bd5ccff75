"""Every command under ``LAKEGUARD_URL``: it asks the service, or says why it cannot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from lakeguard.cli.command_registry import COMMANDS
from lakeguard.cli.main import call, cli
from lakeguard.cli.options import NEEDS_FOLDER
from tests.support.projects.projects import numbers_project
from tests.support.projects.served import service_at

HERE = ("init", "source add")
"""They look at files and at this machine, and ask no control plane."""
REASON = "--reason tested"
ASKS = {
    "doctor": "",
    "source list": "",
    "adopt": "bronze.nothing lake",
    "validate": "",
    "plan": "",
    "apply": "",
    "load": "rows.sql",
    "export": "exported",
    "run": "bronze.nothing",
    "backfill": "bronze.nothing --by id --from 1 --to 2",
    "invalidations add": "bronze.nothing --reason manual",
    "invalidations list": "",
    "invalidations show": "inv_nothing",
    "invalidations withdraw": "inv_nothing --why tested",
    "deploy": "--list",
    "jobs list": "",
    "jobs show": "nothing",
    "jobs enable": f"nothing {REASON}",
    "jobs disable": f"nothing {REASON}",
    "jobs trigger": "nothing",
    "tasks list": "",
    "tasks show": "task_nothing",
    "tasks retry": "task_nothing",
    "tasks cancel": f"task_nothing {REASON}",
    "tasks log": "task_nothing",
    "worker": "--drain",
    "runs list": "",
    "runs show": "run_nothing",
    "status": "",
    "search": "numbers",
    "why": "bronze.nothing",
    "show": "bronze.numbers",
    "versions": "bronze.numbers",
    "profile": "bronze.nothing",
    "suggest": "bronze.nothing",
    "quarantine list": "",
    "quarantine show": "bronze.numbers",
    "quarantine replay": "bronze.nothing",
    "quarantine discard": f"bronze.nothing {REASON}",
    "schema diff": "bronze.nothing",
    "schema history": "bronze.numbers",
    "schema approve": f"bronze.nothing {REASON}",
    "rollback": f"bronze.nothing --to v1 {REASON}",
    "undo": f"bronze.nothing {REASON}",
    "waive": f"bronze.nothing rule --until 2099-01-01 {REASON} --approver ada",
    "waivers": "",
    "records latest": "lake.bronze.nothing --kind quality_result",
    "records history": "lake.bronze.nothing --kind quality_result",
    "records query": "",
    "records tail": "",
    "records kinds": "",
    "records validate": "records.jsonl",
    **{
        f"{topic} {verb}": more
        for topic in ("notifications", "alerts", "events")
        for verb, more in {"list": "", "send": "", "sweep": "", "test": "nothing"}.items()
        if (topic, verb) != ("events", "sweep")
    },
    "replay": "--all",
    "notifications test": "nothing --topic alert",
    "diff": "run_nothing run_nothing",
    "backtest": "draft.yaml",
    "maintain": "bronze.nothing",
    "verify": "",
    "audit list": "",
    "audit verify": "",
    "audit head": "--out head.json",
    "sync": "",
}
"""With arguments that change nothing."""
REFUSED = {
    "org create": "others",
    "org revoke": f"others {REASON}",
    "org restore": "others",
    "user create": "ada",
    "user revoke": f"ada {REASON}",
    "user restore": "ada",
    "role grant": "ada viewer",
    "role revoke": f"grant_1 {REASON}",
    "token create": "ci --allow read",
    "token rotate": "ci",
    "token revoke": f"ci {REASON}",
}
"""Arguments of those that take some."""


def leaves(group: click.Group, *words: str) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from leaves(command, *words, name)
        else:
            yield (*words, name)


EVERY = [" ".join(words) for words in leaves(cli)]
OF_FOLDER = [command for command in EVERY if command.split()[0] in NEEDS_FOLDER]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("numbers")
    numbers_project(folder).close()
    with service_at(folder) as served:
        yield served


@pytest.fixture(autouse=True)
def over_http() -> None:
    """These commands ask a service anyway."""


@pytest.fixture
def folder(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose own database nobody can reach."""
    place = "postgresql://nobody@127.0.0.1:1/none"
    (tmp_path / "lakeguard.toml").write_text(f'[env.dev]\ndatabase = "{place}"\n')
    (tmp_path / "definitions").mkdir()
    (tmp_path / "draft.yaml").write_text(
        "dataset: bronze.nothing\nowner: tests\ndomain: tests\nsource: numbers\n"
        "load: {type: FULL}\ncolumns: {id: {type: long}}\n"
    )
    (tmp_path / "records.jsonl").write_text("")
    (tmp_path / "rows.sql").write_text(
        "INSERT INTO policy_rules (policy_id, policy_type, policy_expression, enforcement, active)"
        " VALUES ('p', 'NOTHING', 'x', 'BLOCK', true);"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LAKEGUARD_URL", url)
    return tmp_path


def requests(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.name == "lakeguard.access"]


def test_every_command_is_here() -> None:
    assert sorted({*HERE, *ASKS, *OF_FOLDER}) == sorted(EVERY)
    assert set(NEEDS_FOLDER) <= set(COMMANDS)


@pytest.mark.parametrize("command", sorted(ASKS))
def test_a_command_asks_the_service(
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    with caplog.at_level("INFO", "lakeguard.access"):
        call([*command.split(), *ASKS[command].split()])
    shown = capsys.readouterr()
    assert requests(caplog), shown.err
    assert "127.0.0.1:1/" not in shown.out + shown.err
    assert "LG-1705" not in shown.err
    assert not (folder / ".lakeguard" / "state.db").exists()


@pytest.mark.parametrize("command", OF_FOLDER)
def test_a_command_that_needs_the_folder_says_why(
    folder: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    with caplog.at_level("INFO", "lakeguard.access"):
        code = call([*command.split(), *REFUSED.get(command, "").split()])
    shown = capsys.readouterr()
    assert (code, requests(caplog)) == (2, []), shown.err
    first = command.split()[0]
    assert f"{first} needs the project folder: {NEEDS_FOLDER[first]}" in shown.err
    assert "LG-1705" in shown.err


def test_the_list_of_commands_says_which_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert f"need the project folder: {', '.join(NEEDS_FOLDER)}." in text
