"""The columns of ``dataset_registry`` that say what builds a dataset."""

from __future__ import annotations

from enum import StrEnum

from lakeguard.registry.exporting import is_sql_path
from lakeguard.registry.project_files import path_problem
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard_sdk.definition import DatasetDefinition, FromPython, FromSql


class BuildType(StrEnum):
    SOURCE = "source"
    SQL = "sql"
    PYTHON = "python"
    FRAME = "frame"


_PYTHON = {"python_file": "file", "python_function": "function", "python_sha256": "sha256"}


def say_build(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    """The kind of build may stand alone, or follow from the code that is said."""
    kind = cells.choice("build_type", BuildType)
    sheet.say(draft, cells, ("build", "build"), "build_type", kind and kind.value)
    _say_sql(sheet, draft, cells)
    _say_python(sheet, draft, cells)


def _say_sql(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    text, file = cells.exact("sql_text"), cells.text("sql_file")
    if text is None and file is None:
        return
    if file is not None and not is_sql_path(file):
        cells.wrong("sql_file", "write a path inside the project, such as sql/orders.sql")
        return
    if file is None and not isinstance(getattr(draft.before, "build", None), FromSql):
        file = f"sql/{draft.name.replace('.', '/')}.sql"
    column = "sql_text" if cells.has("sql_text") else "sql_file"
    sheet.say(draft, cells, ("build", "build"), column, "sql")
    sheet.say(draft, cells, ("build", "file"), "sql_file", file)
    sheet.say(draft, cells, ("build", "text"), "sql_text", text)


def _say_python(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    said = {field: cells.text(column) for column, field in _PYTHON.items()}
    first = next((column for column, field in _PYTHON.items() if said[field] is not None), None)
    if first is None:
        return
    file = said["file"]
    problem = None if file is None else path_problem(file, "python")
    if problem is not None:
        cells.wrong("python_file", problem)
        return
    sheet.say(draft, cells, ("build", "build"), first, "python")
    for column, field in _PYTHON.items():
        sheet.say(draft, cells, ("build", field), column, said[field])


def code_row(item: DatasetDefinition) -> dict[str, str | int | bool | None]:
    """What builds a dataset, as these columns."""
    match item.build:
        case FromSql(file=file, text=text):
            return {"build_type": "sql", "sql_file": file, "sql_text": text}
        case FromPython(file=file, function=function, sha256=sha256):
            code = {"python_file": file, "python_function": function, "python_sha256": sha256}
            return {"build_type": "python", **code}
        case build:
            return {"build_type": build.build}
