"""The registry tables (seed 000) and the dataset catalogue (seed 003)."""

from __future__ import annotations

import re
from typing import Any

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.grammar.unparse import column_text
from lakeguard.gate.policies import parse_policy, policy_text
from lakeguard.gate.rules.compile import default_rule_id, define_rule
from lakeguard.gate.rules.parse import read_rule
from lakeguard.registry.files.datasets import EVERY
from lakeguard.registry.files.rules import RULE_ID, RULE_ID_FORM, grammar_hint, rule_error
from lakeguard.registry.rows.cells import Cells
from lakeguard.registry.rows.dataset_names import dataset_of, written_dataset
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.ingestion_rows import (
    SEVERITY_ALIASES,
    set_load_columns,
    set_profile,
    set_target,
)
from lakeguard.registry.rows.load_settings import set_build, set_load_settings
from lakeguard.registry.rows.rule_forms import expression_text, type_name
from lakeguard.registry.rows.texts import is_word, shown
from lakeguard.registry.rows.vendor_types import column_type
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.core.enums import (
    Enforcement,
    Layer,
    Lifecycle,
    PolicyType,
    Severity,
)
from lakeguard_sdk.errors import (
    DuplicateDefinition,
    PolicySyntax,
    UnknownReference,
    UnknownType,
    WrongValue,
)
from lakeguard_sdk.model.definitions import PROFILE_EVERY, RuleDefinition
from lakeguard_sdk.model.schema_changes import ColumnOrigin

COLUMN_KEYS = (
    "name",
    "type",
    "tags",
    "description",
    "nullable",
    "origin",
    "widened_from",
    "derived_from",
    "reason",
    "clean",
)
"""Keys of an item of ``dataset_registry.columns``."""


def read_registry(sheet: Worksheet) -> None:
    for cells in sheet.cells("dataset_registry"):
        before = cells.text("renamed_from") or ""
        details = cells.mapping("details") or {}
        for key, value in details.items():
            cells.refuse_secret_text("details", key, value)
        draft = _dataset(sheet, cells, ("dataset_name", "layer"), before)
        if draft is None:
            continue
        if before and draft.before is None:
            draft.before = sheet.drafts.registered.get(("dataset", before))
        sheet.set_texts(draft, cells, "domain", "owner", "description")
        sheet.set_value(draft, cells, ("active",), "active", cells.flag("active"))
        status = cells.choice("status", Lifecycle)
        sheet.set_value(draft, cells, ("status",), "status", status and status.value)
        renamed = cells.has("renamed_from") and _known_layer(cells, before)
        sheet.set_value(
            draft, cells, ("renamed_from",), "renamed_from", before if renamed else None
        )
        sheet.set_value(draft, cells, ("parents",), "parents", cells.names("parents"))
        sheet.set_value(draft, cells, ("leave_out",), "leave_out", cells.names("leave_out"))
        sheet.set_value(draft, cells, ("profile_every",), "profile_every", _profile_every(cells))
        set_build(sheet, draft, cells)
        set_load_columns(sheet, draft, cells)
        set_load_settings(sheet, draft, cells)
        for key, value in details.items():
            sheet.set_value(draft, cells, ("details", key), "details", value)
        if cells.has("columns"):
            _set_columns(sheet, draft, cells)


def _profile_every(cells: Cells) -> str | None:
    text = cells.text("profile_every")
    if text is None or re.fullmatch(PROFILE_EVERY, text):
        return text
    cells.wrong("profile_every", EVERY)
    return None


def read_registry_references(sheet: Worksheet) -> None:
    """References of dataset rows to other kinds, once those are all read."""
    known = sheet.drafts.names("dataset")
    for cells in sheet.cells("dataset_registry"):
        name = sheet.datasets.find(cells.text("dataset_id") or "")
        draft = sheet.drafts.drafts.get(("dataset", name or ""))
        if draft is not None:
            set_profile(sheet, draft, cells)
            set_target(sheet, draft, cells)
            _check_parents(draft, cells, known)


def _check_parents(draft: Draft, cells: Cells, known: set[str]) -> None:
    parents = draft.values.get(("parents",))
    for parent in parents.value if parents else ():
        if parent not in known:
            hint = did_you_mean(parent, known - {draft.name})
            place = cells.place("parents")
            cells.add(UnknownReference(place, kind="dataset", name=shown(parent), hint=hint))


def _known_layer(cells: Cells, name: str) -> bool:
    layer, dot, rest = name.partition(".")
    if not name or (dot and rest and layer in Layer.__members__.values()):
        return bool(name)
    cells.wrong("renamed_from", "write layer.name")
    return False


def _dataset(
    sheet: Worksheet, cells: Cells, columns: tuple[str, str], before: str = ""
) -> Draft | None:
    name_column, layer_column = columns
    row_id = cells.needed("dataset_id")
    if row_id is None:
        return None
    if cells.has(name_column):
        name = written_dataset(cells, name_column, layer_column)
    else:
        name = sheet.datasets.find(row_id)
        if name is None:
            cells.missing(name_column)
    if name is None:
        return None
    return sheet.opened(sheet.datasets, cells, ("dataset_id", row_id), name, before)


def read_catalogue_of_datasets(sheet: Worksheet) -> None:
    for cells in sheet.cells("md_datasets"):
        column = "dataset_name" if cells.has("dataset_name") else "table_name"
        draft = _dataset(sheet, cells, (column, "schema"))
        if draft is None:
            continue
        if column == "dataset_name" and cells.has("table_name"):
            written = written_dataset(cells, "table_name", "schema")
            if written not in (None, draft.name):
                cells.wrong("table_name", f"{written} here, but {draft.name} in dataset_name")
        sheet.set_value(draft, cells, ("domain",), "database", cells.text("database"))
        _set_status(sheet, draft, cells)
        set_target(sheet, draft, cells)


def _set_status(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    """A lifecycle status, which enables or disables the dataset, or a flag."""
    word = (cells.text("status") or "").lower()
    if word in Lifecycle.__members__.values():
        sheet.set_value(draft, cells, ("status",), "status", word)
        sheet.set_value(draft, cells, ("active",), "status", True)
    else:
        sheet.set_value(draft, cells, ("active",), "status", cells.flag("status"))


def _set_columns(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    """The complete list of a dataset's columns, in order."""
    found = cells.json("columns")
    if found is None:
        return
    if not isinstance(found, list) or not all(_is_column(item) for item in found):
        cells.wrong("columns", 'write [{"name": "order_id", "type": "string"}, …]')
        return
    columns = []
    for item in found:
        data_type = column_type(item["type"])
        if data_type is None:
            place = cells.place("columns")
            cells.add(UnknownType(place, type=shown(item["type"]), hint=""))
            return
        columns.append({**item, "type": data_type})
    sheet.set_value(draft, cells, ("columns",), "columns", columns)


def _is_column(item: Any) -> bool:
    if not isinstance(item, dict) or set(item) - set(COLUMN_KEYS):
        return False
    tags, derived_from = item.get("tags", []), item.get("derived_from", [])
    keys = ("description", "widened_from", "reason", "clean")
    texts = tuple(item.get(key, "") for key in keys)
    texts += (item.get("name"), item.get("type"))
    if not isinstance(tags, list) or not isinstance(derived_from, list):
        return False
    if not all(isinstance(text, str) for text in (*texts, *tags, *derived_from)):
        return False
    if not isinstance(item.get("nullable", True), bool):
        return False
    if item.get("origin", "declared") not in set(ColumnOrigin):
        return False
    return all(map(is_word, tags)) and len(set(tags)) == len(tags)


def read_rules(sheet: Worksheet) -> None:
    for cells in sheet.cells("quality_rules"):
        name = _rule_dataset(sheet, cells)
        if name is None:
            continue
        layer = cells.choice("layer", Layer)
        if layer is not None and layer.value != name.partition(".")[0]:
            cells.wrong("layer", f"layer is {layer}, but the dataset is {name}")
            continue
        draft = sheet.drafts.open("dataset", name, cells.row)
        rule = _rule(cells, name)
        if rule is not None:
            sheet.about(draft, cells, rule.rule_id)
            sheet.add_rule(draft, rule, cells.cite("rule_expression"))


def _rule_dataset(sheet: Worksheet, cells: Cells) -> str | None:
    if cells.has("dataset_id"):
        return sheet.datasets.resolve(cells, "dataset_id")
    name = dataset_of(sheet, cells)
    if name is not None and sheet.datasets.find(name) is None:
        place = cells.place("dataset_name")
        cells.add(UnknownReference(place, kind="dataset", name=name, hint=""))
        return None
    return name


def _rule(cells: Cells, dataset: str) -> RuleDefinition | None:
    expression = cells.text("rule_expression")
    column = cells.text("column_name") or None
    kind = cells.text("rule_type")
    severity = cells.choice("severity", Severity, SEVERITY_ALIASES)
    active = cells.flag("active")
    if not expression and column is None:
        cells.missing("rule_expression")
        return None
    try:
        named = kind is not None and type_name(kind) is None  # a catalogue rule
        text = expression or (column_text(column) if named and column else "")
        read = read_rule(expression_text(kind, text), column=None if named else column)
        usual = default_rule_id(read.rule)
        rule_id = _rule_id(cells, usual)
        if rule_id is None:
            return None
        enabled = active is not False
        rule = define_rule(read.rule, rule_id=rule_id, severity=severity, active=enabled)
        return rule.model_copy(update={"external_id": _external(cells, "rule_id", rule_id)})
    except GrammarError as error:
        of_type = error.kind == "rule_type" and error.word == kind
        named = not of_type and cells.has("rule_expression")
        where = "rule_expression" if named else "rule_type"
        cells.add(rule_error(cells.place(where), dataset, error))
        return None


def rule_ids(given: str) -> tuple[str, ...]:
    """As given, in lower case, and with ``rule_`` before a digit: the first valid one counts."""
    return (given, given.lower(), f"rule_{given.lower()}")


def _rule_id(cells: Cells, usual: str) -> str | None:
    if not cells.has("rule_id"):
        return usual
    for candidate in rule_ids(cells.text("rule_id") or ""):
        if candidate == usual or RULE_ID.match(candidate):
            return candidate
    cells.add(WrongValue(cells.place("rule_id"), key="rule_id", problem=RULE_ID_FORM, hint=""))
    return None


def _external(cells: Cells, column: str, ours: str) -> str:
    """The id as given: in a column of its own, or where it became another."""
    if cells.has("external_id"):
        return cells.text("external_id") or ""
    given = cells.text(column) or ""
    return "" if given == ours else given


def read_policies(sheet: Worksheet) -> None:
    for cells in sheet.cells("policy_rules"):
        if cells.needed("policy_id") is None or (name := cells.word("policy_id")) is None:
            continue
        draft = sheet.drafts.open("policy", name, cells.row)
        if draft.row is not cells.row:
            place = cells.place("policy_id")
            cells.add(DuplicateDefinition(place, name=f"policy {name}", first=draft.place))
            continue
        sheet.about(draft, cells)
        external = _external(cells, "policy_id", name)
        if external or cells.has("external_id"):
            sheet.set_value(draft, cells, ("external_id",), "policy_id", external)
        layer = cells.choice("applies_to_layer", Layer)
        sheet.set_value(
            draft, cells, ("applies_to_layer",), "applies_to_layer", layer and layer.value
        )
        domain, tag = cells.text("applies_to_domain"), cells.word("applies_to_tag")
        sheet.set_value(draft, cells, ("applies_to_domain",), "applies_to_domain", domain)
        sheet.set_value(draft, cells, ("applies_to_tag",), "applies_to_tag", tag)
        kind = cells.choice("policy_type", PolicyType)
        sheet.set_value(draft, cells, ("type",), "policy_type", kind and kind.value)
        enforcement = cells.choice("enforcement", Enforcement)
        sheet.set_value(
            draft, cells, ("enforcement",), "enforcement", enforcement and enforcement.value
        )
        sheet.set_value(draft, cells, ("active",), "active", cells.flag("active"))
        _set_policy(sheet, draft, cells)


def _set_policy(sheet: Worksheet, draft: Draft, cells: Cells) -> None:
    text, kind = cells.text("policy_expression"), draft.value("type")
    if text is None or kind is None:
        return
    try:
        canonical = policy_text(parse_policy(PolicyType(kind), text))
    except GrammarError as error:
        place = cells.place("policy_expression")
        cells.add(PolicySyntax(place, problem=error.message, hint=grammar_hint(error)))
        return
    sheet.set_value(draft, cells, ("expression",), "policy_expression", canonical)
