"""What a person meets in the first hour, and what the commands say then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.model.run import Failure, RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.cli.test_registry_commands import SILVER, edit
from tests.cli.test_waive import CHECK, DATASET, SOON
from tests.support.lakes.past_runs import past_project, with_rules
from tests.support.projects.planes import NUMBERS
from tests.support.projects.shell import Shell


@pytest.fixture
def lake(shell: Shell, tmp_path: Path) -> Path:
    folder = tmp_path / "my lake"
    assert shell("init", folder, "--example").code == 0
    return folder


# Replay of a run that the gate never judged.


def opened(client: Client) -> RunPlan:
    task_id = client.operations.submit(NUMBERS, "tests")
    plan = client.runs.open_run(task_id, this_process("tests"))
    assert isinstance(plan, RunPlan)
    return plan


def test_replay_says_why_a_run_has_no_decision(shell: Shell, tmp_path: Path) -> None:
    client = past_project(tmp_path, with_rules("row_count(min=1)"))
    unchanged = opened(client)
    client.runs.finish_unchanged(unchanged.ticket)
    failed = opened(client)
    client.runs.fail_run(failed.ticket, Failure(code="LG-4101", message="x", retryable=False))
    for plan, why in ((unchanged, "it found nothing new"), (failed, "before the gate (LG-4101)")):
        result = shell("replay", plan.ticket.run_id, "--project", tmp_path)
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith(f"LG-1209  run {plan.ticket.run_id} has no decision: ")
        assert why in result.err
        assert result.err.endswith("Next: lakeguard runs bronze.numbers\n")
    client.close()


# Which environment the next command is for.


def test_what_to_type_next_is_for_the_same_environment(shell: Shell, lake: Path) -> None:
    asked = ("--project", lake, "--env", "dev")
    assert shell("status", *asked).out.endswith("Next: lakeguard --env dev apply\n")
    assert shell("apply", *asked).out.endswith("Next: lakeguard --env dev run bronze.orders\n")
    shell("user", "create", "ada", *asked)
    granted = shell("role", "grant", "ada", "viewer", *asked).out
    assert "revoke: lakeguard --env dev role revoke grt_" in granted


# A run before apply.


@pytest.mark.parametrize("option", ["--all", "--changed"])
def test_nothing_runs_before_apply(shell: Shell, lake: Path, option: str) -> None:
    result = shell("run", option, "--project", lake)
    assert (result.code, result.out) == (2, "")
    assert "LG-1210  no dataset is applied" in result.err
    assert result.err.endswith("Next: lakeguard apply\n")


# Suggested commands.


def test_next_commands_name_the_project(shell: Shell, lake: Path) -> None:
    assert shell("apply", "--project", lake).code == 0
    words = ("--until", SOON, "--reason", "late feed", "--approver", "Ada")
    waived = shell("waive", DATASET, CHECK, *words, "--project", lake)
    assert f"Next: lakeguard --project '{lake}' waivers --revoke " in waived.out
    why = shell("why", DATASET, "--project", lake)
    assert why.out.endswith(f"Next: lakeguard --project '{lake}' run {DATASET}\n")


@pytest.mark.parametrize(
    ("reason", "approver", "said"),
    [
        ("…", "Ada", "'--reason': … is a placeholder; write the reason itself"),
        ("...", "Ada", "'--reason': ... is a placeholder"),
        ("late feed", "NAME", "'--approver': NAME is a placeholder; write who approves it"),
    ],
)
def test_placeholders_are_not_recorded(
    shell: Shell, lake: Path, reason: str, approver: str, said: str
) -> None:
    assert shell("apply", "--project", lake).code == 0
    words = ("--until", SOON, "--reason", reason, "--approver", approver)
    refused = shell("waive", DATASET, CHECK, *words, "--project", lake)
    assert refused.code == 2
    assert said in refused.err
    assert shell("waivers", "--project", lake).out == "no waivers\n"
    undone = shell("undo", DATASET, "--reason", "…", "--project", lake)
    assert "… is a placeholder" in undone.err


# Counts of rebuild and verify.


def test_rebuild_and_verify_count_the_same_facts(shell: Shell, lake: Path) -> None:
    assert shell("apply", "--project", lake).code == 0
    for file in (lake / ".lakeguard").glob("*.db*"):
        file.unlink()
    rebuilt = shell("rebuild", "--project", lake).out
    verified = shell("verify", "--project", lake).out
    restored = re.match(r"(\d+) facts of 1 batch restored", rebuilt)
    compared = re.search(r"rows +(\d+) +one by one: (\d+) facts, (\d+) derived", verified)
    assert restored is not None
    assert compared is not None
    rows, facts, derived = map(int, compared.groups())
    assert facts == int(restored[1])
    assert rows == facts + derived


# Mistakes in files.


def test_after_errors_the_files_come_first(shell: Shell, lake: Path) -> None:
    edit(lake, SILVER, "owner: shop-team", "ownre: shop-team")
    result = shell("validate", "--project", lake)
    assert result.err.startswith(f"{SILVER}:4:1  LG-2002  unknown key 'ownre'")
    assert "LG-2003" not in result.err, "owner is not missing, only misspelt"
    assert result.err.endswith("Next: fix the files, then: lakeguard validate\n")


@pytest.mark.parametrize("key", ["columns", "domain", "load", "build", "dataset"])
def test_a_misspelt_key_is_not_missing_too(shell: Shell, lake: Path, key: str) -> None:
    edit(lake, SILVER, f"\n{key}:", f"\n{key}x:")
    errors = shell("validate", "--project", lake, "--json").data["error"]["errors"]
    assert [error["code"] for error in errors] == ["LG-2002"]


def test_an_unknown_key_is_shown_before_a_missing_one(shell: Shell, lake: Path) -> None:
    edit(lake, SILVER, "owner: shop-team", "team: shop-team")
    errors = shell("validate", "--project", lake, "--json").data["error"]["errors"]
    assert [error["code"] for error in errors] == ["LG-2002", "LG-2003"]


# Files that differ from what is applied.


def test_edited_sql_and_yaml_are_noticed_and_applied(shell: Shell, lake: Path) -> None:
    assert shell("apply", "--project", lake).code == 0
    sql = lake / "sql/revenue_daily.sql"
    sql.write_text(sql.read_text().replace("<> 'returned'", "= 'paid'"))
    edit(lake, SILVER, "owner: shop-team", "owner: data-team")
    said = shell("run", "--changed", "tag:nothing", "--project", lake).err
    assert "2 definitions in the files are not applied" in said
    assert "~ dataset silver.orders" in said
    assert "~ dataset gold.revenue_daily" in said
    again = shell("run", "--changed", "tag:nothing", "--apply", "--project", lake)
    assert "✓ applied  2 steps" in again.err
    reader = connect(lake).reader
    assert reader.definition(DatasetName("silver.orders")).owner == "data-team"
    gold = reader.definition(DatasetName("gold.revenue_daily"))
    assert "= 'paid'" in gold.build.to_json()
    assert "not applied" not in shell("run", "--changed", "tag:nothing", "--project", lake).err
