"""Column edits in a definition file leave all other characters unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.registry.editing.column_edits import edited_columns
from lakeguard.registry.load_folder import load_folder
from lakeguard_sdk.model.definitions import ColumnDefinition, DatasetDefinition
from tests.support.projects.definition_folders import SOURCE, write_folder

FILE = "definitions/bronze/orders.yaml"
TEXT = """\
# Orders, as they come.
dataset: bronze.orders
owner: sales   # ask them first
domain: shop
source: orders

columns:
  # The key.
  order_id: {type: string, required: true}
  "Unit Price": {type: "decimal(9,2)", description: 'In euros, {net}.'}
  note:          # free text
    type: string
    tags: [text]
  last: {type: long}   # at the end

rules:
  - row_count(min=1)   # not empty
"""


def read(folder: Path, text: str) -> DatasetDefinition:
    files: dict[str, str | bytes] = {"definitions/sources/orders.yaml": SOURCE, FILE: text}
    (dataset,) = load_folder(write_folder(folder, files)).datasets
    return dataset


def changed(dataset: DatasetDefinition, **columns: ColumnDefinition | None) -> DatasetDefinition:
    """By the name of the column as it was; None takes it away, a new name adds one."""
    kept = [columns.get(column.name, column) for column in dataset.columns]
    known = {column.name for column in dataset.columns}
    new = [column for name, column in columns.items() if name not in known]
    found = tuple(column for column in (*kept, *new) if column is not None)
    return dataset.model_copy(update={"columns": found})


def column(name: str, kind: str, **more: object) -> ColumnDefinition:
    return ColumnDefinition.model_validate({"name": name, "type": kind, **more})


def edited(folder: Path, text: str, **columns: ColumnDefinition | None) -> str:
    before = read(folder / "before", text)
    after = changed(before, **columns)
    made = edited_columns(FILE, text.encode(), before, after)
    assert made is not None
    assert read(folder / "after", made.decode()) == after
    return made.decode()


def test_a_type_is_replaced_where_it_stands(tmp_path: Path) -> None:
    made = edited(tmp_path, TEXT, last=column("last", "decimal(20,0)"))
    assert made == TEXT.replace("{type: long}", "{type: 'decimal(20,0)'}")


def test_a_column_in_lines_of_its_own(tmp_path: Path) -> None:
    made = edited(tmp_path, TEXT, note=column("note", "integer", tags=("text",), nullable=False))
    assert made == TEXT.replace(
        "    type: string\n    tags", "    type: integer\n    nullable: false\n    tags"
    )


def test_new_columns_stand_after_the_last(tmp_path: Path) -> None:
    made = edited(
        tmp_path,
        TEXT,
        extra=column("extra", "string"),
        odd=column("it's: odd", "struct<a:long>", nullable=False),
    )
    line = "  last: {type: long}   # at the end\n"
    added = "  extra: {type: string}\n  'it''s: odd': {type: 'struct<a:long>', nullable: false}\n"
    assert made == TEXT.replace(line, line + added)


def test_a_column_is_taken_away_with_its_lines(tmp_path: Path) -> None:
    lines = "  note:          # free text\n    type: string\n    tags: [text]\n"
    assert edited(tmp_path, TEXT, note=None) == TEXT.replace(lines, "")
    last = "  last: {type: long}   # at the end\n"
    assert edited(tmp_path / "2", TEXT, last=None) == TEXT.replace(last, "")


def test_a_column_takes_another_name(tmp_path: Path) -> None:
    price = column("price", "decimal(9,2)", description="In euros, {net}.")
    made = edited(tmp_path, TEXT, **{"Unit Price": price})
    assert made == TEXT.replace('"Unit Price":', "price:").replace(
        'type: "decimal(9,2)"', "type: 'decimal(9,2)'"
    )


@pytest.mark.parametrize(
    ("drifted", "given"),
    [
        ("{type: string, origin: drift}", "{type: string}"),
        ("{origin: drift, type: string}", "{ type: string}"),
        ("{type: string, widened_from: date, tags: [a]}", "{type: string, tags: [a]}"),
        ("\n    type: string\n    origin: drift", "\n    type: string"),
    ],
)
def test_what_drifted_in_is_declared(tmp_path: Path, drifted: str, given: str) -> None:
    text = TEXT.replace("last: {type: long}   # at the end", f"last: {drifted}")
    tags = ("a",) if "tags: [a]" in drifted else ()
    made = edited(tmp_path, text, last=column("last", "string", tags=tags))
    assert made == text.replace(f"last: {drifted}", f"last: {given}")


def test_a_file_without_a_last_line_end(tmp_path: Path) -> None:
    text = TEXT.partition("\nrules:")[0].rstrip("\n")
    made = edited(tmp_path, text, extra=column("extra", "long"))
    assert made == text + "\n  extra: {type: long}"


def test_columns_on_one_line_leave_no_place(tmp_path: Path) -> None:
    text = (
        "dataset: bronze.orders\nowner: a\ndomain: b\nsource: orders\ncolumns: {a: {type: long}}\n"
    )
    before = read(tmp_path, text)
    after = changed(before, b=column("b", "long"))
    assert edited_columns(FILE, text.encode(), before, after) is None
