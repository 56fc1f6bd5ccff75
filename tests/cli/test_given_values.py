"""Values of rows come back from an export as they were given, whatever they became."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakeguard.registry.rows import Value, read_rows
from lakeguard.registry.rows.tables import TABLES
from lakeguard.registry.text.problems import Findings
from tests.support.cases.odd_rows import BEFORE, ODD, Rows
from tests.support.projects.shell import Shell

Found = dict[str, list[dict[str, Value]]]


def with_columns(rows: Rows) -> set[str]:
    return {column for row in rows for column in row}


def without_former_name(row: dict[str, str]) -> dict[str, str]:
    return {column: text for column, text in row.items() if column != "renamed_from"}


def new_project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "lakeguard.toml").write_text("[env.dev]\n")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return new_project(tmp_path / "lake")


def files_of(shell: Shell, project: Path) -> dict[str, str]:
    names = shell("export", project / "files", "--project", project, "--json").data["files"]
    return {name: (project / "files" / name).read_text("utf-8") for name in names}


def load(shell: Shell, project: Path, rows: dict[str, Rows]) -> str:
    path = project / "rows.json"
    path.write_text(json.dumps(rows), "utf-8")
    result = shell("load", path, "--project", project)
    assert result.code == 0, result.err
    return result.out


def exported(shell: Shell, project: Path, name: str = "out") -> Found:
    out = project / name
    assert shell("export", out, "--format", "rows", "--project", project).code == 0
    found: Found = {path.stem: [] for path in out.iterdir()}
    for row in read_rows(sorted(out.iterdir()), Findings()):
        found[row.table].append(dict(row.values))
    return found


def missing(given: dict[str, Rows], found: Found) -> list[tuple[str, dict[str, str]]]:
    """Rows of which no exported row has every given value, with what is nearest to them."""
    lost = []
    for table, rows in given.items():
        for row in rows:
            differences = [
                {column: f"{text!r} as {other[column]!r}"
                 for column, text in row.items() if other[column] != text}
                for other in found[table]
            ]  # fmt: skip
            nearest = min(differences, key=len, default={"": "no row"})
            if nearest:
                lost.append((table, nearest))
    return lost


def test_every_column_of_every_table_is_given_oddly() -> None:
    assert {table: with_columns(rows) for table, rows in ODD.items()} == {
        table: set(columns) for table, columns in TABLES.items()
    }


@pytest.fixture
def loaded(shell: Shell, project: Path) -> Path:
    load(shell, project, BEFORE)
    load(shell, project, ODD)
    return project


def cells(found: Found, table: str, *columns: str) -> list[tuple[Value, ...]]:
    return [tuple(row[column] for column in columns) for row in found[table]]


def test_every_value_comes_back_as_it_was_given(shell: Shell, loaded: Path) -> None:
    assert missing(ODD, exported(shell, loaded)) == []


def test_the_samples_come_back_as_they_are(shell: Shell, project: Path) -> None:
    samples = sorted((Path(__file__).parents[2] / "metadata" / "dml").glob("*.sql"))
    given: dict[str, Rows] = {}
    for row in read_rows(samples, Findings()):
        columns = [name for name in TABLES[row.table] if row.values.get(name) is not None]
        words = {True: "TRUE", False: "FALSE"}
        values = {name: row.values[name] for name in columns}
        texts = {n: words[v] if isinstance(v, bool) else str(v) for n, v in values.items()}
        given.setdefault(row.table, []).append(texts)
    assert shell("load", *samples, "--project", project).code == 0
    assert missing(given, exported(shell, project)) == []


def test_an_export_changes_nothing_when_it_is_loaded_again(shell: Shell, loaded: Path) -> None:
    found = exported(shell, loaded)
    files = sorted((loaded / "out").iterdir())
    assert shell("load", *files, "--project", loaded).out.startswith("no changes")
    assert exported(shell, loaded, "again") == found


def test_an_export_is_the_same_registry_elsewhere(
    shell: Shell, project: Path, tmp_path: Path
) -> None:
    other = new_project(tmp_path / "other")
    rows = {table: [without_former_name(row) for row in rows] for table, rows in ODD.items()}
    load(shell, project, rows)
    found = exported(shell, project)
    result = shell("load", *sorted((project / "out").iterdir()), "--project", other)
    assert result.code == 0, result.err
    assert exported(shell, other) == found
    assert files_of(shell, other) == files_of(shell, project)


def test_what_changes_later_is_written_as_it_is(shell: Shell, loaded: Path) -> None:
    (name,) = (name for name in files_of(shell, loaded) if "raw_zone" in name)
    text = (loaded / "files" / name).read_text("utf-8")
    path = loaded / name
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("data_lake", "bucket"))
    applied = shell("apply", "--project", loaded)
    assert "1 step" in applied.out, applied.err
    found = exported(shell, loaded)
    columns = ("target_name", "target_type", "zone")
    assert cells(found, "md_tgt_ctrl", *columns) == [("Raw-Zone", "bucket", "RAW Zone")]


def test_another_spelling_alone_is_kept_too(shell: Shell, loaded: Path) -> None:
    row = {"target_id": "raw_zone", "zone": "Raw zone", "status": "ACTIVE"}
    assert load(shell, loaded, {"md_tgt_ctrl": [row]}).startswith("no changes")
    found = exported(shell, loaded)
    columns = ("target_name", "zone", "status")
    assert cells(found, "md_tgt_ctrl", *columns) == [("Raw-Zone", "Raw zone", "ACTIVE")]


def test_a_rule_is_given_back_as_a_whole(shell: Shell, loaded: Path) -> None:
    """The parts of a rule are read together, so they are replaced together."""
    whole = {"rule_id": "QR-1", "dataset_id": "D-2", "severity": "WARN"}
    whole["rule_expression"] = "range(amount, min=0, max=10)"
    assert load(shell, loaded, {"quality_rules": [whole]}).startswith("no changes")
    found = cells(
        exported(shell, loaded), "quality_rules", "rule_type", "rule_expression", "severity"
    )
    assert ("RANGE", "range(amount, min=0, max=10)", "WARN") in found


def test_a_rebuild_brings_them_back(shell: Shell, loaded: Path) -> None:
    found = exported(shell, loaded)
    assert shell("sync", "--project", loaded).code == 0
    (state,) = loaded.rglob("*.db")
    for file in state.parent.glob("*.db*"):
        file.unlink()
    rebuilt = shell("rebuild", "--project", loaded)
    assert rebuilt.code == 0, rebuilt.err
    assert exported(shell, loaded, "again") == found
