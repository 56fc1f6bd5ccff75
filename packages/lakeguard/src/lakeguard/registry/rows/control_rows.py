"""The control tables of sources, targets and jobs (seed 003)."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.row import Row
from lakeguard.registry.rows.texts import shown
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard.registry.text.characters import flag_of
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.errors import DuplicateDefinition
from lakeguard_sdk.model.definitions import TargetDefinition

ACTIVE_CONFIG = "status#ActiveConfig"
"""The setting that enables or disables a job."""
AS_DETAIL = "detail."
AS_CONFIG = "config."
"""Prefix that marks a free-form name."""
AS_SECRET = "secret."  # noqa: S105 - a prefix, not a secret
"""Prefix of a secret reference."""
TARGET_FIELDS = ("format", "url", "partition_by", "transform")


class Detail(NamedTuple):
    """A row of the details of a source or target."""

    path: tuple[str, ...]
    """Of the field in the definition."""
    name: str
    value: str


def read_source_controls(sheet: Worksheet) -> None:
    for cells in sheet.cells("md_src_ctrl"):
        draft = sheet.named(sheet.sources, cells, "source_id", "source_name")
        if draft is not None:
            sheet.set_value(draft, cells, ("active",), "enabled", cells.flag("enabled"))
            sheet.set_texts(draft, cells, "description", "owner")


def read_targets(sheet: Worksheet) -> None:
    for cells in sheet.cells("md_tgt_ctrl"):
        draft = sheet.named(sheet.targets, cells, "target_id", "target_name")
        if draft is not None:
            sheet.set_texts(draft, cells, "location", "description")
            sheet.set_value(draft, cells, ("type",), "target_type", cells.word("target_type"))
            sheet.set_value(draft, cells, ("zone",), "zone", cells.word("zone"))
            sheet.set_value(draft, cells, ("active",), "status", cells.flag("status"))


def read_target_details(sheet: Worksheet) -> None:
    for cells in sheet.cells("md_tgt_det"):
        detail = setting_of(cells, "detail_name", "detail_value")
        name = sheet.targets.resolve(cells, "target_id")
        if name is None or detail is None:
            continue
        draft = sheet.drafts.open("target", name, cells.row)
        match detail.lower():
            case "format":
                form = cells.choice("detail_value", TargetFormat)
                set_detail(sheet, draft, cells, ("format",), form and form.value)
            case "partition_by":
                set_detail(sheet, draft, cells, ("partition_by",), cells.names("detail_value"))
            case "transform" | "url" as field:
                set_detail(sheet, draft, cells, (field,), cells.text("detail_value"))
            case _ if detail.startswith(AS_SECRET):
                at = ("secrets", detail.removeprefix(AS_SECRET))
                set_detail(sheet, draft, cells, at, cells.text("detail_value"))
            case _:
                at = ("details", detail.removeprefix(AS_DETAIL))
                set_detail(sheet, draft, cells, at, cells.exact("detail_value"))


def set_detail(
    sheet: Worksheet, draft: Draft, cells: Cells, path: tuple[str, ...], value: Any
) -> None:
    """Set a field, option, secret or detail that has a row of its own."""
    sheet.about(draft, cells, *path)
    sheet.set_value(draft, cells, path, "detail_value", value)


def target_details(target: TargetDefinition) -> list[Detail]:
    """The detail rows of a target; the last of two with one name counts."""
    fields = {
        "format": target.format.value,
        "partition_by": json.dumps(list(target.partition_by), ensure_ascii=False),
        "transform": target.transform,
        "url": target.url,
    }
    found = [Detail((name,), name, value) for name, value in fields.items()]
    found += [Detail(("secrets", k), f"{AS_SECRET}{k}", v) for k, v in target.secrets.items()]
    reserved = {*TARGET_FIELDS, *(k.lower() for k in target.details if k.startswith(AS_SECRET))}
    for key, value in target.details.items():
        free = not (key.lower() in reserved or key.startswith(AS_DETAIL))
        found.append(Detail(("details", key), key if free else f"{AS_DETAIL}{key}", value))
    return list({detail.name: detail for detail in found}.values())


def read_mappings(sheet: Worksheet) -> None:
    first: dict[tuple[str, str], Row] = {}
    for cells in sheet.cells("md_src_tgt_ctrl"):
        source = sheet.sources.resolve(cells, "source_id")
        target = sheet.targets.resolve(cells, "target_id")
        if source is None or target is None:
            continue
        row = first.setdefault((source, target), cells.row)
        if row is not cells.row:
            label = f"the mapping from {source} to {target}"
            cells.add(DuplicateDefinition(cells.row.place, name=label, first=row.place))
            continue
        draft = sheet.drafts.open("target", target, cells.row)
        sheet.about(draft, cells, source)
        at = ("sources", source)
        sheet.set_value(draft, cells, (*at, "source"), "source_id", source)
        word = cells.word("relationship_type")
        sheet.set_value(draft, cells, (*at, "relationship"), "relationship_type", word)
        sheet.set_value(
            draft, cells, (*at, "description"), "description", cells.text("description")
        )
        sheet.set_value(draft, cells, (*at, "active"), "enabled", cells.flag("enabled"))


def read_jobs(sheet: Worksheet) -> None:
    for cells in sheet.cells("md_jobs"):
        draft = sheet.named(sheet.jobs, cells, "job_id", "job_name")
        if draft is None:
            continue
        sheet.set_texts(draft, cells, "description", "owner", "title")
        if not cells.has("title") and cells.text("job_name") not in (None, draft.name):
            sheet.set_value(draft, cells, ("title",), "job_name", cells.text("job_name"))
        sheet.set_value(draft, cells, ("type",), "job_type", cells.word("job_type"))
        sheet.set_value(draft, cells, ("active",), "status", cells.flag("status"))
        for column in ("dataset_id", "dataset_name"):
            if cells.has(column):
                dataset = sheet.datasets.resolve(cells, column)
                sheet.set_value(draft, cells, ("dataset",), column, dataset)


def read_job_settings(sheet: Worksheet) -> None:
    for table, field in (("md_jobs_det", "details"), ("md_jobconfig", "config")):
        name_column = "detail_name" if field == "details" else "config_name"
        value_column = "detail_value" if field == "details" else "config_value"
        for cells in sheet.cells(table):
            setting = setting_of(cells, name_column, value_column)
            name = sheet.jobs.resolve(cells, "job_id")
            if name is None or setting is None:
                continue
            draft = sheet.drafts.open("job", name, cells.row)
            if field == "config":
                _switch(draft, cells, setting)
                setting = setting.removeprefix(AS_CONFIG)
            sheet.about(draft, cells, setting)
            path = (field, setting)
            sheet.set_value(draft, cells, path, value_column, cells.exact(value_column))


def _switch(draft: Draft, cells: Cells, setting: str) -> None:
    """A job disabled by its configuration stays disabled, regardless of its status."""
    if setting != ACTIVE_CONFIG:
        return
    active = flag_of(cells.text("config_value") or "")
    if active is None:
        cells.wrong("config_value", "write true or false")
    elif ("active",) not in draft.values or not active:
        draft.values.pop(("active",), None)
        draft.set_value(("active",), active, cells.cite("config_value"), cells.findings)


def setting_of(cells: Cells, name_column: str, value_column: str) -> str | None:
    """The name of a detail that has a valid value."""
    name = cells.needed(name_column)
    if name is None or cells.refuse_secret(value_column, name):
        return None
    if not cells.has(value_column):
        cells.wrong(value_column, f"{shown(name)} has no value; write '' for an empty string")
        return None
    return name
