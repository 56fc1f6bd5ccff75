"""Export to files or rows and import gives the same registry."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.registry.editing.export import definition_files
from lakeguard.registry.kinds import Key, every, hash_of, key_of
from lakeguard.registry.load_folder import load_folder
from lakeguard.registry.rows import Value, read_rows
from lakeguard.registry.rows.assemble import assemble
from lakeguard.registry.rows.tables import TABLES
from lakeguard.registry.rows.write_rows import csv_files, rows_of
from lakeguard.registry.text.problems import Findings
from lakeguard_sdk.model.definitions import Definitions
from tests.support.examples import examples
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.registries import small_registry
from tests.support.strategies.definitions import definitions
from tests.support.strategies.loads import python_files
from tests.unit.registry.rows.written_rows import Table, json_values, sql_files
from tests.unit.registry.rows.written_rows import csv_files as any_csv

NONE = Definitions()


def hashes(found: Definitions) -> dict[Key, str]:
    return {key_of(item): hash_of(item) for item in every(found)}


def loaded(files: dict[str, str], registered: Definitions = NONE) -> Definitions:
    """What the rows of files come to; no mistake is made."""
    with TemporaryDirectory() as name:
        folder = write_folder(Path(name), dict(files))
        findings = Findings()
        rows = read_rows(sorted(folder.iterdir()), findings)
        found = assemble(rows, registered, findings)
    assert [f"{error.place} {error}" for error in findings.errors()] == []
    return found


def tables_of(found: Definitions) -> list[Table]:
    return [
        (table, list(TABLES[table]), [[row.get(name) for name in TABLES[table]] for row in rows])
        for table, rows in rows_of(found).items()
        if rows
    ]


@given(definitions())
@examples(40)
def test_rows_are_the_same_definitions(found: Definitions) -> None:
    files = csv_files(rows_of(found))
    assert hashes(loaded(files)) == hashes(found)
    assert hashes(loaded(files, found)) == hashes(found)


@given(found=definitions(), data=st.data())
@examples(12)
def test_rows_mean_the_same_in_sql(found: Definitions, data: st.DataObject) -> None:
    answer = data.draw(sql_files(tables_of(found)))
    assert hashes(loaded({"all.sql": answer})) == hashes(found)


@given(found=definitions(), data=st.data())
@examples(12)
def test_rows_mean_the_same_in_any_csv(found: Definitions, data: st.DataObject) -> None:
    files = {f"{table[0]}.csv": data.draw(any_csv(table)) for table in tables_of(found)}
    assert hashes(loaded(files)) == hashes(found)


@given(found=definitions(), data=st.data())
@examples(12)
def test_rows_mean_the_same_in_json(found: Definitions, data: st.DataObject) -> None:
    files = {}
    for name, columns, rows in tables_of(found):
        answer: list[dict[str, Value]] = [dict(zip(columns, row, strict=True)) for row in rows]
        files[f"{name}.json"] = data.draw(json_values(answer))
    assert hashes(loaded(files)) == hashes(found)


@given(definitions())
@examples(40)
def test_files_are_the_same_definitions(found: Definitions) -> None:
    with TemporaryDirectory() as folder:
        files = {**definition_files(found), **python_files(found)}
        assert hashes(load_folder(write_folder(Path(folder), files))) == hashes(found)


@given(definitions())
@examples(6)
def test_what_is_taken_out_of_a_registry_changes_nothing_in_it(found: Definitions) -> None:
    with TemporaryDirectory() as folder, small_registry(Path(folder)) as registry:
        registry.register(found)
        assert registry.plan(loaded(csv_files(rows_of(found)), found)).steps == ()
        files = {**definition_files(found), **python_files(found)}
        project = write_folder(Path(folder) / "project", files)
        assert registry.plan(load_folder(project)).steps == ()
