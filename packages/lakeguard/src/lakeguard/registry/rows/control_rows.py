"""The control tables of sources, targets and jobs (seed 003)."""

from __future__ import annotations

from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.row import Row
from lakeguard.registry.rows.texts import shown
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard.registry.text.characters import flag_of
from lakeguard_sdk.core.enums import TargetFormat
from lakeguard_sdk.errors import DuplicateDefinition

ACTIVE_CONFIG = "status#ActiveConfig"
"""The setting that enables or disables a job."""
AS_DETAIL = "detail."
AS_CONFIG = "config."
"""Prefix that marks a free-form name."""
AS_SECRET = "secret."  # noqa: S105 - a prefix, not a secret
"""Prefix of a secret reference."""
TARGET_FIELDS = ("format", "url", "partition_by", "transform")


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
                sheet.set_value(draft, cells, ("format",), "detail_value", form and form.value)
            case "partition_by":
                names = cells.names("detail_value")
                sheet.set_value(draft, cells, ("partition_by",), "detail_value", names)
            case "transform" | "url" as field:
                sheet.set_value(draft, cells, (field,), "detail_value", cells.text("detail_value"))
            case _ if detail.startswith(AS_SECRET):
                at = ("secrets", detail.removeprefix(AS_SECRET))
                sheet.set_value(draft, cells, at, "detail_value", cells.text("detail_value"))
            case _:
                path = ("details", detail.removeprefix(AS_DETAIL))
                sheet.set_value(draft, cells, path, "detail_value", cells.exact("detail_value"))


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
