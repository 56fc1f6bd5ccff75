"""Where a definition that stands in a test belongs, and rows as the text of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from textwrap import dedent
from typing import Any

from lakeguard_sdk.errors import WrongArgument
from lakeguard_sdk.names import DatasetName

Rows = Iterable[Mapping[str, Any]]

_FOLDERS = {
    "profile": "profiles",
    "rule": "rules",
    "source": "sources",
    "target": "targets",
    "policy": "policies",
    "job": "jobs",
}
_HEAD = re.compile(rf"^(dataset|{'|'.join(_FOLDERS)}):[ \t]*(\S+)", re.MULTILINE)


def definition_files(text: str) -> dict[str, str]:
    """Each definition of a text by the path of its file; ``---`` stands between two of them."""
    found: dict[str, str] = {}
    for part in re.split(r"^---[ \t]*$", dedent(text), flags=re.MULTILINE):
        if part.strip():
            found[_place(part)] = part.lstrip("\n")
    return found


def _place(text: str) -> str:
    heads = dict(reversed(match) for match in _HEAD.findall(text)[:1])
    for name, kind in heads.items():
        folder = _FOLDERS.get(kind)
        if folder is not None:
            return f"definitions/{folder}/{name}.yaml"
        dataset = DatasetName(name)
        return f"definitions/{dataset.layer}/{dataset.name}.yaml"
    raise WrongArgument(
        method="lake.apply",
        given=f"a text that defines nothing: {text.strip()[:60]!r}",
        call='lake.apply("dataset: silver.orders …"), definitions apart by a line of ---',
    )


def file_text(path: str, rows: Rows) -> str:
    """Rows as CSV or JSON lines, as the name of the file says. None is NULL in both."""
    listed = [dict(row) for row in rows]
    ending = PurePosixPath(path).suffix
    if ending == ".csv" and listed:
        return _csv(path, listed)
    if ending == ".jsonl":
        return "".join(json.dumps(row, default=str) + "\n" for row in listed)
    given = f"no rows for {path}" if ending == ".csv" else f"rows for {path}"
    raise WrongArgument(
        method="lake.write",
        given=given,
        call='lake.write("exports/orders.csv", [{"id": 1}]), or .jsonl; any other as text',
    )


def _csv(path: str, rows: list[dict[str, Any]]) -> str:
    """Every row has the columns of the first: a file of CSV cannot say that one has not."""
    header = list(rows[0])
    for number, row in enumerate(rows, 1):
        if set(row) != set(header):
            raise WrongArgument(
                method="lake.write",
                given=f"row {number} for {path} with {', '.join(row)}",
                call=f"give every row the columns {', '.join(header)}; None where one is empty",
            )
    lines = [header, *([row[name] for name in header] for row in rows)]
    return "".join(",".join(map(_field, line)) + "\n" for line in lines)


def _field(value: Any) -> str:
    """Nothing is NULL, and an empty text has quotes."""
    if value is None:
        return ""
    text = str(value).lower() if isinstance(value, bool) else _plain(value)
    if text and not set(text) & set(',"\r\n') and text == text.strip():
        return text
    return '"' + text.replace('"', '""') + '"'


def _plain(value: Any) -> str:
    """Times as ISO 8601 has them."""
    told = getattr(value, "isoformat", None)
    return str(told()) if told is not None else str(value)
