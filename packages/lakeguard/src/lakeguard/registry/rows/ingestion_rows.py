"""The tables of the ingestion framework (seed 004)."""

from __future__ import annotations

from lakeguard.registry.files.columns import type_hint
from lakeguard.registry.files.policies import FLAGS, reaction_problem
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.dataset_names import dataset_of, object_dataset
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.row import Cite
from lakeguard.registry.rows.texts import is_own_id, shown
from lakeguard.registry.rows.vendor_types import SYNONYMS, column_type
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard_sdk.core.dataset_name import clean_column
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import (
    HashStrategy,
    LoadType,
    Severity,
    SourceFormat,
)
from lakeguard_sdk.errors import DuplicateDefinition, UnknownReference, UnknownType
from lakeguard_sdk.model.schema_changes import ColumnOrigin

SYSTEM_DETAILS = (
    "secret_name", "secret_reference", "default_database", "business_owner", "technical_owner",
    "escalation_list",
)  # fmt: skip
OBJECT_DETAILS = ("business_owner", "technical_owner", "profiling_enabled", "quarantine_path")
"""Worker settings, stored as details."""
LOAD_ALIASES = {"HYBRID": LoadType.APPEND}
SEVERITY_ALIASES = {"ERROR": Severity.FAIL, "WARNING": Severity.WARN}


def read_source_systems(sheet: Worksheet) -> None:
    for cells in sheet.cells("source_systems"):
        for column in SYSTEM_DETAILS:
            cells.refuse_secret(column, column)
        column = "source_name" if cells.has("source_name") else "system_name"
        draft = sheet.named(sheet.sources, cells, "source_system_id", column)
        if draft is None:
            continue
        _set_source_type(sheet, draft, cells)
        sheet.set_value(draft, cells, ("active",), "active", cells.flag("active"))
        sheet.set_texts(draft, cells, "path", "description", "owner")
        _set_details(sheet, draft, cells, SYSTEM_DETAILS)
        _set_owner(sheet, draft, cells)


def _set_source_type(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    """The name of a format, or of any system; such a source may get its format by a detail."""
    given = cells.text("source_type")
    if not given:
        return
    form = given.lower() if given.lower() in SourceFormat.__members__.values() else None
    sheet.set_value(draft, cells, ("format",), "source_type", form)
    kind = "" if given == form else given
    sheet.set_value(draft, cells, ("source_type",), "source_type", kind)


def read_profiles(sheet: Worksheet) -> None:
    for cells in sheet.cells("schema_compatibility_rules"):
        draft = _once(sheet, cells, "profile", "profile_name")
        if draft is not None:
            for flag in (*FLAGS, "active"):
                sheet.set_value(draft, cells, (flag,), flag, cells.flag(flag))
            sheet.set_texts(draft, cells, "description")
            if cells.has("reactions"):
                sheet.set_value(draft, cells, ("reactions",), "reactions", _reactions(cells))


def _reactions(cells: Cells) -> dict[str, str] | None:
    """Reactions by schema change, as JSON."""
    reactions = cells.json("reactions")
    if not isinstance(reactions, dict):
        cells.wrong("reactions", 'write {"WIDEN": "BLOCK"}')
        return None
    found = {}
    for change, reaction in reactions.items():
        problem = reaction_problem(str(change), str(reaction))
        if problem is not None:
            cells.wrong("reactions", problem)
            return None
        found[str(change).upper()] = str(reaction)
    return found


def read_catalogue(sheet: Worksheet) -> None:
    for cells in sheet.cells("dq_rule_catalog"):
        draft = _once(sheet, cells, "rule", "rule_name")
        if draft is not None:
            severity = cells.choice("severity", Severity, SEVERITY_ALIASES)
            sheet.set_value(draft, cells, ("severity",), "severity", severity and severity.value)
            text = cells.text("rule_expression")
            sheet.set_value(draft, cells, ("expression",), "rule_expression", text)
            sheet.set_value(draft, cells, ("active",), "active", cells.flag("active"))
            sheet.set_texts(draft, cells, "description")


def _once(sheet: Worksheet, cells: Cells, kind: str, column: str) -> Draft | None:
    """The draft of a kind identified by name only; an error for a duplicate."""
    if cells.needed(column) is None:
        return None
    name = cells.word(column)
    if name is None:
        return None
    draft = sheet.drafts.open(kind, name, cells.row)
    if draft.row is not cells.row:
        place = cells.place(column)
        cells.add(DuplicateDefinition(place, name=f"{kind} {name}", first=draft.place))
        return None
    sheet.about(draft, cells)
    return draft


def read_objects(sheet: Worksheet) -> None:
    for cells in sheet.cells("source_objects"):
        source = sheet.sources.resolve(cells, "source_system_id")
        object_id = cells.needed("source_object_id")
        name = None if object_id is None else _object_name(sheet, cells, object_id, source)
        if name is None or object_id is None or source is None:
            continue
        if not sheet.objects.declare(cells, "source_object_id", object_id, name):
            continue
        sheet.datasets.mention(name, cells.cite("source_object_id"))
        draft = sheet.drafts.open("dataset", name, cells.row)
        sheet.about(draft, cells)
        dataset_id = cells.text("dataset_id") or name
        if dataset_id != name and cells.has("dataset_name"):
            sheet.set_dataset_id(draft, cells, dataset_id)
        _set_build(sheet, draft, cells, source, object_id)
        _set_load(sheet, draft, cells)
        sheet.set_texts(draft, cells, "domain", "description", "owner")
        sheet.set_value(draft, cells, ("active",), "active", cells.flag("active"))
        _set_details(sheet, draft, cells, OBJECT_DETAILS)
        _set_owner(sheet, draft, cells)


def _object_name(sheet: Worksheet, cells: Cells, object_id: str, source: str | None) -> str | None:
    """The dataset named in the row, else the registered one, else layer and object."""
    if cells.has("dataset_name") or cells.has("dataset_id"):
        return dataset_of(sheet, cells)
    known = sheet.objects.find(object_id)
    return known or object_dataset(cells, source)


def _set_build(sheet: Worksheet, draft: Draft, cells: Cells, source: str, object_id: str) -> None:
    if draft.name.partition(".")[0] != "bronze":
        cells.wrong("layer", f"only bronze reads a source, not {draft.name}")
    sheet.set_value(draft, cells, ("build", "build"), "source_system_id", "source")
    sheet.set_value(draft, cells, ("build", "source"), "source_system_id", source)
    sheet.set_value(draft, cells, ("build", "object"), "object_name", cells.text("object_name"))
    external: str | None = None
    if cells.has("external_id"):
        external = cells.text("external_id")
        if external:
            sheet.objects.mention_external(external, draft.name)
    elif object_id not in (draft.name, draft.name.partition(".")[2]) and not is_own_id(object_id):
        external = object_id
    sheet.set_value(draft, cells, ("build", "external_id"), "source_object_id", external)
    enabled = cells.flag("dq_enabled")
    sheet.set_value(draft, cells, ("build", "dq_enabled"), "dq_enabled", enabled)
    behaviour = cells.choice("dq_fail_behavior", Severity, SEVERITY_ALIASES)
    value = behaviour and behaviour.value
    sheet.set_value(draft, cells, ("build", "dq_fail_behavior"), "dq_fail_behavior", value)


def _set_load(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    set_load_columns(sheet, draft, cells)
    set_profile(sheet, draft, cells)
    set_target(sheet, draft, cells)


def set_load_columns(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    kind = cells.choice("load_type", LoadType, LOAD_ALIASES)
    sheet.set_value(draft, cells, ("load", "type"), "load_type", kind and kind.value)
    hashed = cells.choice("hash_strategy", HashStrategy)
    sheet.set_value(draft, cells, ("load", "hash"), "hash_strategy", hashed and hashed.value)
    sheet.set_value(draft, cells, ("load", "keys"), "business_keys", cells.names("business_keys"))
    watermark = cells.text("watermark_column")
    sheet.set_value(draft, cells, ("load", "watermark"), "watermark_column", watermark)
    names = cells.names("partition_by")
    sheet.set_value(draft, cells, ("load", "partition_by"), "partition_by", names)


def set_profile(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    column = "schema_compat_profile"
    name = cells.word(column)
    if name is not None and name not in sheet.profiles:
        hint = did_you_mean(name, sheet.profiles)
        place = cells.place(column)
        cells.add(UnknownReference(place, kind="profile", name=shown(name), hint=hint))
        return
    sheet.set_value(draft, cells, ("profile",), column, name)


def set_target(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    if cells.has("target_id"):
        target = sheet.targets.resolve(cells, "target_id")
        sheet.set_value(draft, cells, ("target",), "target_id", target)


def _set_details(sheet: Worksheet, draft: Draft, cells: Cells, columns: tuple[str, ...]) -> None:
    for column in columns:
        sheet.set_value(draft, cells, ("details", column), column, cells.exact(column))


def _set_owner(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    """The owner defaults to the technical owner, then to the business owner."""
    for column in ("technical_owner", "business_owner"):
        if not draft.value("owner"):
            sheet.set_value(draft, cells, ("owner",), column, cells.text(column))


def read_columns(sheet: Worksheet) -> None:
    seen: dict[tuple[str, str], Cite] = {}
    for cells in sheet.cells("source_object_columns"):
        dataset = sheet.objects.resolve(cells, "source_object_id")
        raw = cells.needed("column_name")
        if dataset is None or raw is None:
            continue
        name = cells.text("clean_name") or clean_column(raw)
        cite = cells.cite("column_name")
        first = seen.setdefault((dataset, name), cite)
        if first.row is not cells.row:
            label = f"{dataset} column {name}"
            cells.add(DuplicateDefinition(cite.place, name=label, first=first.place))
            continue
        draft = sheet.drafts.open("dataset", dataset, cells.row)
        sheet.about(draft, cells, name)
        _set_column(sheet, draft, cells, name)


def _set_column(sheet: Worksheet, draft: Draft, cells: Cells, name: str) -> None:
    at = ("columns", name)
    raw = cells.needed("column_name")
    sheet.set_value(draft, cells, (*at, "raw"), "column_name", raw)
    source_name = "" if raw == name else raw
    sheet.set_value(draft, cells, (*at, "source_name"), "column_name", source_name)
    position = cells.whole("ordinal_position")
    sheet.set_value(draft, cells, (*at, "position"), "ordinal_position", position)
    ours, given = _type(cells), cells.text("data_type")
    sheet.set_value(draft, cells, (*at, "type"), "data_type", ours)
    source_type = None if ours is None else "" if given == ours else given
    sheet.set_value(draft, cells, (*at, "source_type"), "data_type", source_type)
    severity = cells.choice("dq_severity", Severity, SEVERITY_ALIASES)
    sheet.set_value(draft, cells, (*at, "dq_severity"), "dq_severity", severity and severity.value)
    sheet.set_value(draft, cells, (*at, "dq_rule_set"), "dq_rule_set", cells.text("dq_rule_set"))
    sheet.set_value(draft, cells, (*at, "tags"), "tags", cells.words("tags"))
    sheet.set_value(draft, cells, (*at, "description"), "description", cells.text("description"))
    sheet.set_value(draft, cells, (*at, "active"), "active", cells.flag("active"))
    sheet.set_value(draft, cells, (*at, "nullable"), "is_nullable", cells.flag("is_nullable"))
    sheet.set_value(
        draft, cells, (*at, "promised"), "source_nullable", cells.flag("source_nullable")
    )
    widened = cells.text("widened_from")
    sheet.set_value(
        draft, cells, (*at, "widened_from"), "widened_from", widened and column_type(widened)
    )
    made_of = cells.names("derived_from")
    sheet.set_value(draft, cells, (*at, "derived_from"), "derived_from", made_of)
    for key in ("reason", "clean"):
        sheet.set_value(draft, cells, (*at, key), key, cells.text(key))
    origin = cells.choice("origin", ColumnOrigin) if cells.has("origin") else None
    sheet.set_value(draft, cells, (*at, "origin"), "origin", origin and origin.value)


def _type(cells: Cells) -> str | None:
    text = cells.text("data_type")
    if text is None:
        return None
    found = column_type(text)
    if found is None:
        hint = type_hint(text, (word for words in SYNONYMS.values() for word in words))
        cells.add(UnknownType(cells.place("data_type"), type=shown(text), hint=hint))
    return found
