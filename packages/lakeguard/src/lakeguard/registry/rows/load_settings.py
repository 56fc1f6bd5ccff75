"""``dataset_registry.load_settings``: load settings without a column of their own."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from lakeguard.registry.editing.export import is_sql_path
from lakeguard.registry.files.project_files import path_problem
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.texts import shown
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard.registry.text.characters import flag_of
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import Deletes, LateRows, NullWatermark
from lakeguard_sdk.errors import UnknownKey
from lakeguard_sdk.model.definitions import DatasetDefinition, FromPython, FromSql
from lakeguard_sdk.model.load import Load

COLUMN = "load_settings"
_ELSEWHERE = ("type", "keys", "hash", "watermark", "partition_by")
SETTINGS = tuple(field for field in Load.model_fields if field not in _ELSEWHERE)
_WORDS: dict[str, type[StrEnum]] = {
    "null_watermark": NullWatermark,
    "late": LateRows,
    "deletes": Deletes,
}
_FLAGS = ("inclusive", "allow_empty", "skip_unchanged")
_LISTS = ("order_by",)


def set_load_settings(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    """Set each given setting; others are unchanged."""
    found = cells.json(COLUMN) if cells.text(COLUMN) else None
    if found is None:
        return
    if not isinstance(found, dict):
        cells.wrong(COLUMN, 'write a mapping, such as {"lag": "2 days"}')
        return
    for name, value in found.items():
        if name not in SETTINGS:
            hint = did_you_mean(name, SETTINGS)
            cells.add(UnknownKey(cells.place(COLUMN), key=shown(name), hint=hint))
            continue
        parsed, problem = _setting(name, value)
        if problem:
            cells.wrong(COLUMN, f"{name}: {problem}")
        else:
            sheet.set_value(draft, cells, ("load", name), COLUMN, parsed)


def _setting(name: str, value: Any) -> tuple[Any, str]:
    """The parsed value, or None and the problem."""
    if name in _LISTS:
        names = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return (tuple(value), "") if names else (None, "write a list of columns")
    if name in _FLAGS:
        flag = value if isinstance(value, bool) else flag_of(str(value))
        return flag, "" if flag is not None else "write true or false"
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None, "write a single string"
    text = str(value).strip()
    if name not in _WORDS:
        return text, ""
    words = [word.value for word in _WORDS[name]]
    word = text.lower() if text.lower() in words else None
    return word, "" if word else f"write one of {', '.join(words)}"


def load_settings_text(load: Load) -> str:
    """All settings, so loading them replaces every setting of an earlier load."""
    data = load.to_data()
    return json.dumps({name: data[name] for name in SETTINGS}, ensure_ascii=False)


# Build columns of ``dataset_registry``.


class BuildType(StrEnum):
    SOURCE = "source"
    SQL = "sql"
    PYTHON = "python"
    FRAME = "frame"
    PENDING = "pending"


_PYTHON = {"python_file": "file", "python_function": "function", "python_sha256": "sha256"}


def set_build(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    """The build type may be given explicitly, or follow from the code."""
    kind = cells.choice("build_type", BuildType)
    sheet.set_value(draft, cells, ("build", "build"), "build_type", kind and kind.value)
    _set_sql(sheet, draft, cells)
    _set_python(sheet, draft, cells)


def _set_sql(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    text, file = cells.exact("sql_text"), cells.text("sql_file")
    if text is None and file is None:
        return
    if file is not None and not is_sql_path(file):
        cells.wrong("sql_file", "write a path inside the project, such as sql/orders.sql")
        return
    if file is None and not isinstance(getattr(draft.before, "build", None), FromSql):
        file = f"sql/{draft.name.replace('.', '/')}.sql"
    column = "sql_text" if cells.has("sql_text") else "sql_file"
    sheet.set_value(draft, cells, ("build", "build"), column, "sql")
    sheet.set_value(draft, cells, ("build", "file"), "sql_file", file)
    sheet.set_value(draft, cells, ("build", "text"), "sql_text", text)


def _set_python(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    values = {field: cells.text(column) for column, field in _PYTHON.items()}
    first = next((column for column, field in _PYTHON.items() if values[field] is not None), None)
    if first is None:
        return
    file = values["file"]
    problem = None if file is None else path_problem(file, "python")
    if problem is not None:
        cells.wrong("python_file", problem)
        return
    sheet.set_value(draft, cells, ("build", "build"), first, "python")
    for column, field in _PYTHON.items():
        sheet.set_value(draft, cells, ("build", field), column, values[field])


def code_row(item: DatasetDefinition) -> dict[str, str | int | bool | None]:
    """The build of a dataset as these columns."""
    match item.build:
        case FromSql(file=file, text=text):
            return {"build_type": "sql", "sql_file": file, "sql_text": text}
        case FromPython(file=file, function=function, sha256=sha256):
            code = {"python_file": file, "python_function": function, "python_sha256": sha256}
            return {"build_type": "python", **code}
        case build:
            return {"build_type": build.build}
