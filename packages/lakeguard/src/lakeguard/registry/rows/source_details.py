"""``md_src_det``: fields, options, secrets and details of a source, one per row."""

from __future__ import annotations

import json

from lakeguard.registry.files.source_options import OPTIONS
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.control_rows import (
    AS_DETAIL,
    AS_SECRET,
    Detail,
    set_detail,
    setting_of,
)
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard_sdk.core.enums import Malformed, SourceFormat
from lakeguard_sdk.model.definitions import SourceDefinition

SOURCE_FIELDS = ("format", "path", "url", "header", "malformed", "landing")
_VALUE = "detail_value"


def read_source_details(sheet: Worksheet) -> None:
    """Read the format first, because the options depend on it."""
    found: list[tuple[Draft, Cells, str]] = []
    for cells in sheet.cells("md_src_det"):
        detail = setting_of(cells, "detail_name", _VALUE)
        name = sheet.sources.resolve(cells, "source_id")
        if name is None or detail is None:
            continue
        draft = sheet.drafts.open("source", name, cells.row)
        if detail.lower() == "format":
            form = cells.choice(_VALUE, SourceFormat)
            set_detail(sheet, draft, cells, ("format",), form and form.value)
        else:
            found.append((draft, cells, detail))
    for draft, cells, detail in found:
        _set_detail(sheet, draft, cells, detail)


def _set_detail(sheet: Worksheet, draft: Draft, cells: Cells, detail: str) -> None:
    match detail.lower():
        case "path" | "url" as field:
            set_detail(sheet, draft, cells, (field,), cells.text(_VALUE))
        case "header":
            set_detail(sheet, draft, cells, ("header",), cells.names(_VALUE))
        case "malformed":
            word = cells.choice(_VALUE, Malformed)
            set_detail(sheet, draft, cells, ("malformed",), word and word.value)
        case "landing":
            set_detail(sheet, draft, cells, ("landing",), cells.flag(_VALUE))
        case _ if detail.startswith(AS_SECRET):
            at = ("secrets", detail.removeprefix(AS_SECRET))
            set_detail(sheet, draft, cells, at, cells.text(_VALUE))
        case _:
            place = "options" if detail in _options_of(draft) else "details"
            key = detail.removeprefix(AS_DETAIL)
            set_detail(sheet, draft, cells, (place, key), cells.exact(_VALUE))


def _options_of(draft: Draft) -> frozenset[str]:
    form = draft.value("format")
    return frozenset(OPTIONS[SourceFormat(form)]) if form else frozenset()


def source_details(source: SourceDefinition) -> list[Detail]:
    """The detail rows of a source; the last of two with one name counts."""
    reserved = {*SOURCE_FIELDS, *OPTIONS[source.format]}
    fields = {
        "format": source.format.value,
        "path": source.path,
        "url": source.url,
        "header": json.dumps(list(source.header), ensure_ascii=False),
        "malformed": source.malformed.value,
        "landing": "TRUE" if source.landing else "FALSE",
    }
    found = [Detail((name,), name, value) for name, value in fields.items()]
    found += [Detail(("secrets", k), f"{AS_SECRET}{k}", v) for k, v in source.secrets.items()]
    found += [Detail(("options", k), k, v) for k, v in source.options.items()]
    found += [Detail(("details", k), _free(k, reserved), v) for k, v in source.details.items()]
    return list({detail.name: detail for detail in found}.values())


def _free(key: str, reserved: set[str]) -> str:
    """Prefix a free-form name that is reserved."""
    taken = key.lower() in reserved or key.startswith((AS_DETAIL, AS_SECRET))
    return f"{AS_DETAIL}{key}" if taken else key
