"""load and export: rows in, files or rows out, nothing half done."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.rows.tables import TABLES
from tests.support.projects.shell import Shell

SAMPLES = sorted((Path(__file__).parents[2] / "metadata" / "dml").glob("*.sql"))
MISTAKEN = """\
INSERT INTO md_src_ctrl (source_id, source_name, enabled) VALUES
    (101, 'OpenCellID', 'perhaps');
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "lake"
    folder.mkdir()
    (folder / "lakeguard.toml").write_text("[env.dev]\n")
    return folder


@pytest.fixture
def loaded(shell: Shell, project: Path) -> Path:
    assert shell("load", *SAMPLES, "--project", project).code == 0
    return project


def test_the_samples_are_a_working_set(shell: Shell, project: Path) -> None:
    planned = shell("load", *SAMPLES, "--project", project, "--dry-run")
    assert planned.code == 0
    assert planned.out.endswith("13 steps\nNext: lakeguard load FILES\n")
    assert shell("status", "--project", project, "--json").data == {"datasets": []}
    result = shell("load", *SAMPLES, "--project", project)
    assert "✓ applied  13 steps" in result.out
    again = shell("load", *SAMPLES, "--project", project, "--json")
    assert again.data["applied"]["apply_id"] is None
    assert again.data["plan"]["steps"] == []


def test_what_is_exported_as_files_is_what_is_registered(shell: Shell, loaded: Path) -> None:
    out = loaded / "out"
    data = shell("export", out, "--project", loaded, "--json").data
    assert data["format"] == "yaml"
    assert sorted(data["files"]) == sorted(
        path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()
    )
    for name in ("definitions", "sql"):
        (out / name).rename(loaded / name)
    assert shell("plan", "--project", loaded).out.startswith("no changes")


def test_what_is_exported_as_rows_is_what_is_registered(shell: Shell, loaded: Path) -> None:
    out = loaded / "out"
    data = shell("export", out, "--format", "rows", "--project", loaded, "--json").data
    assert sorted(data["files"]) == sorted(f"{table}.csv" for table in TABLES)
    files = sorted(out.iterdir())
    assert shell("load", *files, "--project", loaded).out.startswith("no changes")
    assert "env:OPENCELLID_TOKEN" in (out / "md_src_det.csv").read_text("utf-8")


@pytest.mark.parametrize("form", ["yaml", "rows"])
def test_export_overwrites_nothing(shell: Shell, loaded: Path, form: str) -> None:
    (loaded / "out").mkdir()
    (loaded / "out" / "mine.txt").write_text("mine")
    result = shell("export", loaded / "out", "--format", form, "--project", loaded)
    assert result.code == 2
    assert result.err.startswith("LG-1009")
    assert result.err.endswith("Next: lakeguard export ANOTHER-FOLDER\n")
    assert [path.name for path in (loaded / "out").iterdir()] == ["mine.txt"]


def test_an_empty_registry_is_exported_as_nothing(shell: Shell, project: Path) -> None:
    assert shell("export", project / "out", "--project", project).code == 0
    assert list((project / "out").iterdir()) == []


def test_a_mistake_is_shown_at_its_value_and_nothing_is_loaded(
    shell: Shell, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "rows.sql").write_text(MISTAKEN)
    result = shell("load", "rows.sql")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        "rows.sql:2:5  LG-2003  'format of opencellid' is required here",
        "    (101, 'OpenCellID', 'perhaps');",
        "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "rows.sql:2:25  LG-2004  enabled: 'perhaps' is not a boolean; write TRUE or FALSE",
        "    (101, 'OpenCellID', 'perhaps');",
        "                        ^^^^^^^^^",
        "",
        "LG-2000  2 errors in the rows",
        "Next: correct the files, then: lakeguard load FILES",
    ]
    assert shell("load", *SAMPLES, "rows.sql").code == 2
    assert shell("status", "--json").data == {"datasets": []}


def test_what_only_the_plan_sees_is_shown_at_its_row(
    shell: Shell, loaded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(loaded)
    Path("md_jobs.csv").write_text("job_id,job_name,dataset_name\n402,Again,bronze.countries\n")
    Path("more.sql").write_text(
        "INSERT INTO md_jobs (job_id, job_name, dataset_id) VALUES (403, 'Twice', 302);\n"
    )
    result = shell("load", "md_jobs.csv", "more.sql", "--json")
    assert result.code == 2
    (error,) = result.data["error"]["errors"]
    assert error["code"] == "LG-2030"
    assert error["place"]["file"] == "more.sql"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.sql", "INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES\n"
         "    (101, 'password', 'hunter2'), (999, 'x', 'y');"),
        ("more.sql", "INSERT INTO md_src_det (source_id, detail_name, detail_value) VALUES\n"
         "    (999, 'api_key', 'hunter2');"),
        ("md_src_det.csv", "source_id,detail_name,detail_value\n999,password,hunter2\n"),
        ("md_src_det.json", '[{"source_id": 101, "detail_name": "token",\n'
         '  "detail_value": "hunter2"}]'),
        ("source_systems.csv", "source_system_id,source_name,secret_name\n101,x,hunter2\n"),
        ("source_systems.csv", "source_system_id,secret_name,active\n7,hunter2,maybe\n"),
        ("dataset_registry.csv", "dataset_id,details\n9,\"{\"\"pwd\"\": \"\"hunter2\"\"}\"\n"),
        ("md_jobs_det.csv", "job_id,detail_name,detail_value\n401,a.b,AKIAIOSFODNN7EXAMPLE\n"),
    ],
)  # fmt: skip
def test_a_secret_is_refused_and_never_shown(
    shell: Shell, loaded: Path, name: str, text: str
) -> None:
    (loaded / name).write_text(text)
    for extra in ((), ("--json",), ("--debug",)):
        result = shell(*extra, "load", loaded / name, "--project", loaded)
        assert result.code == 2
        assert "hunter2" not in result.out + result.err
        assert "AKIAIOSFODNN7EXAMPLE" not in result.out + result.err
