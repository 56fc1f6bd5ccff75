"""validate refuses what apply would, with the same words, and leaves no trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.editing.export import definition_files
from lakeguard.state.database import Database, sqlite_url
from tests.cli.test_registry_commands import SILVER, edit
from tests.support.lakes.past_runs import definitions_of, past_project, past_run, with_rules
from tests.support.projects.shell import Shell

JOB = "definitions/jobs/nightly.yaml"
TARGET = "target: zone\nlocation: zones/raw\nzone: landing\n"


@pytest.fixture
def lake(shell: Shell, tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    assert shell("init", folder, "--example").code == 0
    (folder / "definitions/jobs").mkdir(exist_ok=True)
    (folder / "definitions/targets").mkdir(exist_ok=True)
    return folder


def python_job(*lines: str) -> str:
    config = "".join(f"  {line}\n" for line in ("call: reports:send", *lines))
    return f"job: nightly\ntype: python\nconfig:\n{config}"


MISSING = {
    "dataset": ("job: nightly\ndataset: silver.order\n", "2:10", "did you mean silver.orders?"),
    "job": (python_job("after: weekly"), "5:10", "job 'weekly' does not exist"),
    "all updates": (python_job("on_update: silver.order"), "5:14", "did you mean silver.orders?"),
    "any update": (
        python_job("on_update_any: silver.orders gold.non"), "5:18", "dataset 'gold.non'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize("applied", [False, True])
def test_what_a_job_names_has_to_exist(shell: Shell, lake: Path, name: str, applied: bool) -> None:
    if applied:
        assert shell("apply", "--project", lake).code == 0
    text, place, given = MISSING[name]
    (lake / JOB).write_text(text)
    result = shell("validate", "--project", lake)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"{JOB}:{place}  LG-2007  ")
    assert given in result.err
    assert (lake / ".lakeguard").exists() is applied
    assert shell("apply", "--project", lake).err == result.err


WRONG_SQL = {
    "column": ("sum(amount)", "sum(amuont)", "did you mean amount?"),
    "function": ("upper(", "uper(", "did you mean upper?"),
    "table": ("FROM silver.orders", "FROM silver.order", "did you mean silver.orders?"),
}


@pytest.mark.parametrize("name", WRONG_SQL)
def test_mistakes_in_sql_are_shown_in_their_line(shell: Shell, lake: Path, name: str) -> None:
    right, wrong, given = WRONG_SQL[name]
    file = next(each for each in sorted((lake / "sql").iterdir()) if right in each.read_text())
    file.write_text(file.read_text().replace(right, wrong, 1))
    lines = file.read_text().splitlines()
    (line,) = (number for number, text in enumerate(lines, start=1) if wrong in text)
    result = shell("validate", "--project", lake)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"sql/{file.name}:{line}:")
    assert given in result.err
    assert shell("plan", "--project", lake).err == result.err
    assert shell("apply", "--project", lake).err == result.err


def test_a_mistake_in_the_file_hides_none_in_its_sql(shell: Shell, lake: Path) -> None:
    edit(lake, SILVER, "owner: shop-team", "owners: shop-team")
    for sql in (lake / "sql").iterdir():
        sql.write_text(sql.read_text().replace("FROM bronze.orders", "FROM bronze.order"))
    result = shell("validate", "--project", lake)
    assert result.code == 2
    assert f"{SILVER}:" in result.err
    assert "bronze.order is not a declared parent" in result.err
    edit(lake, SILVER, "parents: [bronze.orders]", "parents: [bronze:orders]")
    result = shell("validate", "--project", lake)
    assert "is not a declared parent" not in result.err, "the parents are not known"


@pytest.mark.parametrize(
    ("entry", "given"),
    [
        ("{rule: not_null(amount), rule_id: amount}", "did you mean id?"),
        ("{rule: not_null(amount), id: The Amount}", "at most 200 characters, and start with a"),
        ("sql_row('amount > 1')", "write the condition without quotes"),
    ],
)
def test_mistakes_in_a_rule_name_the_way(shell: Shell, lake: Path, entry: str, given: str) -> None:
    text = (lake / SILVER).read_text()
    (lake / SILVER).write_text(text.replace("rules:\n", f"rules:\n  - {entry}\n", 1))
    result = shell("validate", "--project", lake)
    assert (result.code, given in result.err) == (2, True), result


def break_parent(lake: Path) -> None:
    edit(lake, SILVER, "parents: [bronze.orders]", "parents: [bronze.order]")
    for file in (lake / "sql").rglob("*.sql"):
        file.write_text(file.read_text().replace("bronze.orders", "bronze.order"))


def break_target(lake: Path) -> None:
    edit(lake, SILVER, "owner: shop-team", "target: zoon\nowner: shop-team")


def break_mapping(lake: Path) -> None:
    (lake / "definitions/targets/zone.yaml").write_text(TARGET)
    file = "definitions/bronze/orders.yaml"
    edit(lake, file, "source: orders", "target: zone\nsource: orders")


def break_jobs(lake: Path) -> None:
    for name in ("one", "two"):
        text = f"job: {name}\ndataset: silver.orders\n"
        (lake / f"definitions/jobs/{name}.yaml").write_text(text)


@pytest.mark.parametrize("damage", [break_parent, break_target, break_mapping, break_jobs])
def test_what_apply_refuses_is_not_valid(shell: Shell, lake: Path, damage: object) -> None:
    assert callable(damage)
    damage(lake)
    result = shell("validate", "--project", lake)
    assert result.code == 2
    assert "LG-2000" in result.err
    assert shell("apply", "--project", lake).err == result.err


def test_what_is_registered_need_not_be_defined_again(shell: Shell, lake: Path) -> None:
    weekly = lake / "definitions/jobs/weekly.yaml"
    weekly.write_text("job: weekly\ntype: python\nconfig: {call: reports:send}\n")
    assert shell("apply", "--project", lake).code == 0
    weekly.unlink()
    (lake / JOB).write_text(python_job("after: weekly"))
    assert shell("validate", "--project", lake, "--json").data["registry_asked"] is True


def test_a_registry_that_cannot_be_asked_is_not_called_wrong(shell: Shell, lake: Path) -> None:
    (lake / JOB).write_text(python_job("after: weekly"))
    settings = lake / "lakeguard.toml"
    settings.write_text('[env.dev]\ndatabase = "postgresql://keeper@127.0.0.1:1/governance"\n')
    result = shell("validate", "--project", lake)
    assert result.code == 0
    assert result.err.startswith("only the files were checked; the registry is unavailable: ")
    assert shell("validate", "--project", lake, "--json").data["registry_asked"] is False
    (lake / JOB).write_text(python_job("labels: GPU"))
    assert shell("validate", "--project", lake).code == 2, "the files are checked all the same"


def test_a_state_of_another_version_is_left_as_it_is(shell: Shell, lake: Path) -> None:
    assert shell("apply", "--project", lake).code == 0
    (file,) = (lake / ".lakeguard").glob("*.db")
    database = Database(sqlite_url(file))
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0000'")
    database.close()
    result = shell("validate", "--project", lake)
    assert (result.code, "is at schema 0000" in result.err) == (0, True)
    again = Database(sqlite_url(file))
    assert again.revision() == "0000"
    again.close()


def test_strict_warns_of_rules_that_no_run_could_have_failed(shell: Shell, tmp_path: Path) -> None:
    rules = ("row_count(min=1)", "not_null(n)", "range(n, max=9) fail_if > 5")
    selected = "in_set(n, values=[1500]) where n > 1000"
    client = past_project(tmp_path, with_rules(*rules, selected))
    for numbers in ([1, 2], [3, 4, 5]):
        past_run(client, numbers)
    (tmp_path / "definitions" / "bronze").mkdir(parents=True, exist_ok=True)
    for name, text in definition_files(definitions_of(with_rules(*rules, selected))).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    plain = shell("validate", "--project", tmp_path, "--json")
    assert "warnings" not in plain.data
    strict = shell("validate", "--strict", "--project", tmp_path, "--json")
    assert strict.code == 0, strict.err
    assert {item["rule_id"]: item["why"] for item in strict.data["warnings"]} == {
        "in_set.n": "in 2 runs it was about no row at all",
        "range.n": "in 2 runs it was about at most 3 rows, which do not reach its limit",
    }
    assert "never failed" in shell("validate", "--strict", "--project", tmp_path).out
