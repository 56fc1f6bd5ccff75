"""``md_src_det``: fields, options, secrets and details of a source, one per row."""

from __future__ import annotations

import json

from lakeguard.registry.files.source_options import OPTIONS
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.control_rows import AS_DETAIL, AS_SECRET, setting_of
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
            sheet.set_value(draft, cells, ("format",), _VALUE, form and form.value)
        else:
            found.append((draft, cells, detail))
    for draft, cells, detail in found:
        _set_detail(sheet, draft, cells, detail)


def _set_detail(sheet: Worksheet, draft: Draft, cells: Cells, detail: str) -> None:
    match detail.lower():
        case "path" | "url" as field:
            sheet.set_value(draft, cells, (field,), _VALUE, cells.text(_VALUE))
        case "header":
            sheet.set_value(draft, cells, ("header",), _VALUE, cells.names(_VALUE))
        case "malformed":
            word = cells.choice(_VALUE, Malformed)
            sheet.set_value(draft, cells, ("malformed",), _VALUE, word and word.value)
        case "landing":
            sheet.set_value(draft, cells, ("landing",), _VALUE, cells.flag(_VALUE))
        case _ if detail.startswith(AS_SECRET):
            at = ("secrets", detail.removeprefix(AS_SECRET))
            sheet.set_value(draft, cells, at, _VALUE, cells.text(_VALUE))
        case _:
            place = "options" if detail in _options_of(draft) else "details"
            key = detail.removeprefix(AS_DETAIL)
            sheet.set_value(draft, cells, (place, key), _VALUE, cells.exact(_VALUE))


def _options_of(draft: Draft) -> frozenset[str]:
    form = draft.value("format")
    return frozenset(OPTIONS[SourceFormat(form)]) if form else frozenset()


def source_details(source: SourceDefinition) -> dict[str, str]:
    """The detail rows of a source: values by name."""
    reserved = {*SOURCE_FIELDS, *OPTIONS[source.format]}
    return {
        "format": source.format.value,
        "path": source.path,
        "url": source.url,
        "header": json.dumps(list(source.header), ensure_ascii=False),
        "malformed": source.malformed.value,
        "landing": "TRUE" if source.landing else "FALSE",
        **{f"{AS_SECRET}{name}": place for name, place in source.secrets.items()},
        **source.options,
        **{_free(key, reserved): value for key, value in source.details.items()},
    }


def _free(key: str, reserved: set[str]) -> str:
    """Prefix a free-form name that is reserved."""
    taken = key.lower() in reserved or key.startswith((AS_DETAIL, AS_SECRET))
    return f"{AS_DETAIL}{key}" if taken else key
