"""Assembles definitions from rows, on top of the registered ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from lakeguard.gate.grammar.grammar_error import GrammarError
from lakeguard.gate.rules.compile import compiler_for, default_rule_id
from lakeguard.gate.rules.parse import read_rule
from lakeguard.registry.files.load_columns import LISTS, SINGLE
from lakeguard.registry.files.rules import rule_error
from lakeguard.registry.kinds import Key, every, gathered, key_of
from lakeguard.registry.macros import built_in_rules
from lakeguard.registry.rows import control_rows, ingestion_rows, registry_rows, source_details
from lakeguard.registry.rows.column_rules import read_column_rules
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.row import Row
from lakeguard.registry.rows.tables import accepted
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard.registry.text.definition_positions import file_of
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.validation.kind_invariants import definition_errors
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.errors import DefinitionError, WrongValue
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    DatasetDefinition,
    Definition,
    Definitions,
    FromSql,
    TargetDefinition,
)
from lakeguard_sdk.model.given_values import GivenRow


def assemble(rows: Iterable[Row], registered: Definitions, findings: Findings) -> Definitions:
    """Every definition that the rows mention, complete; errors go to the findings."""
    return Assembly(rows, registered, findings).definitions


class Assembly:
    """The definitions of a load, with the place of each value."""

    def __init__(
        self,
        rows: Iterable[Row],
        registered: Definitions,
        findings: Findings,
        dataset_ids: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """``dataset_ids`` are the ids of the registered datasets by name."""
        known: Mapping[Key, Definition] = {key_of(item): item for item in every(registered)}
        self._sheet = Worksheet(accepted(rows, findings), known, findings, dataset_ids)
        self._read()
        drafts = self._sheet.drafts.drafts
        found = [_finished(self._sheet, draft) for draft in list(drafts.values())]
        self.definitions = gathered(item for item in found if item is not None)
        for item in every(self.definitions):
            draft = drafts[key_of(item)]
            for error in definition_errors(item, draft.locate):
                findings.add(_at_row(error, item, draft))
        self._check_sql_files(known, findings)

    def _read(self) -> None:
        """Referenced kinds are read first; details after their owners."""
        sheet = self._sheet
        ingestion_rows.read_profiles(sheet)
        ingestion_rows.read_catalogue(sheet)
        control_rows.read_source_controls(sheet)
        ingestion_rows.read_source_systems(sheet)
        source_details.read_source_details(sheet)
        control_rows.read_targets(sheet)
        control_rows.read_target_details(sheet)
        control_rows.read_mappings(sheet)
        registry_rows.read_registry(sheet)
        registry_rows.read_catalogue_of_datasets(sheet)
        ingestion_rows.read_objects(sheet)
        registry_rows.read_registry_references(sheet)
        ingestion_rows.read_columns(sheet)
        read_column_rules(sheet, self._catalogue())
        registry_rows.read_rules(sheet)
        registry_rows.read_policies(sheet)
        control_rows.read_jobs(sheet)
        control_rows.read_job_settings(sheet)

    def _check_sql_files(self, known: Mapping[Key, Definition], findings: Findings) -> None:
        """A SQL file must not have two texts, because an export could not write both."""
        defined = {key_of(item): item for item in every(self.definitions)}
        first: dict[str, tuple[Key, str]] = {}
        for key, item in {**known, **defined}.items():
            build = getattr(item, "build", None)
            if not isinstance(build, FromSql):
                continue
            owner, text = first.setdefault(build.file, (key, build.text))
            changed = key if key in defined else owner
            if text != build.text and changed in defined:
                other = owner if changed == key else key
                place = self._sheet.drafts.drafts[changed].place_of(("build", "file"))
                problem = f"{build.file} is also the file of {other[1]}, with different SQL"
                findings.add(WrongValue(place, key="sql_file", problem=problem, hint=""))

    def _catalogue(self) -> dict[str, CatalogueRule]:
        """Catalogue rules by name, after this load."""
        drafts = self._sheet.drafts
        known = [item for (kind, _), item in drafts.registered.items() if kind == "rule"]
        drafted = [draft.finished({}, Findings()) for draft in drafts.of_kind("rule")]
        defined = {
            item.rule: item for item in (*known, *drafted) if isinstance(item, CatalogueRule)
        }
        return {**built_in_rules(), **defined}

    @property
    def given(self) -> list[GivenRow]:
        """The rows as they were given, by what they are about."""
        return self._sheet.given()

    def placed(self, error: DefinitionError) -> DefinitionError:
        """The error moved from the definition file to the row of its value."""
        draft = self._draft_at(error.place.file)
        if draft is None:
            return error
        path = tuple(error.fields.get("at") or ())
        item = next((i for i in every(self.definitions) if key_of(i) == draft.key), None)
        place = draft.place_of(path) if item is None else draft.locate(item, path)
        return type(error)(place, **error.fields)

    def _draft_at(self, file: str) -> Draft | None:
        for item in every(self.definitions):
            if file_of(item) == file:
                return self._sheet.drafts.drafts[key_of(item)]
        return None


def _at_row(error: DefinitionError, item: Definition, draft: Draft) -> DefinitionError:
    """Errors in SQL point to the row, because the SQL file does not exist yet."""
    build = getattr(item, "build", None)
    if isinstance(build, FromSql) and error.place.file == build.file:
        return type(error)(draft.place_of(("build", "text")), **error.fields)
    return error


# Merges registered values and row values of datasets and targets.

_COLUMN_FIELDS = {
    "type": "type",
    "tags": "tags",
    "description": "description",
    "promised": "nullable",
    "origin": "origin",
    "widened_from": "widened_from",
    "source_name": "source_name",
    "source_type": "source_type",
    "dq_rule_set": "dq_rule_set",
    "dq_severity": "dq_severity",
    "derived_from": "derived_from",
    "reason": "reason",
    "clean": "clean",
}
"""Row fields of a column, and the fields of the model."""


def _finished(sheet: Worksheet, draft: Draft) -> Definition | None:
    """The definition, or None after reporting missing values."""
    match draft.key[0]:
        case "source" if draft.value("format") is None and draft.value("source_type"):
            return draft.finished({"format": SourceFormat.OTHER.value}, sheet.findings)
        case "target":
            return draft.finished(_sources(draft), sheet.findings)
        case "dataset":
            definition = draft.finished(_pieces(sheet, draft), sheet.findings)
            if isinstance(definition, DatasetDefinition):
                _check_rules(sheet, draft, definition)
            return definition
        case _:
            return draft.finished({}, sheet.findings)


def _sources(draft: Draft) -> dict[str, Any]:
    """Registered mappings keep their order; new ones are appended."""
    before = draft.before
    found: dict[str, dict[str, Any]] = {}
    if isinstance(before, TargetDefinition):
        found = {item.source: item.to_data() for item in before.sources}
    for source, values in draft.members("sources").items():
        found[source] = {**found.get(source, {}), **values}
    return {"sources": list(found.values())}


def _pieces(sheet: Worksheet, draft: Draft) -> dict[str, Any]:
    """Known parts only; the model reports missing ones."""
    columns, dropped = _columns(sheet, draft)
    pieces: dict[str, Any] = {"rules": _rules(sheet, draft, dropped)}
    if columns:
        pieces["columns"] = columns
    build = _build(draft) or {"build": "pending"}
    if build.get("build") == "pending":
        pieces["columns"] = columns
    pieces["build"] = build
    pieces["load"] = _load(draft)
    return pieces


def _build(draft: Draft) -> dict[str, Any]:
    values = {str(path[1]): item.value for path, item in draft.values.items() if path[0] == "build"}
    before = draft.before.build.to_data() if isinstance(draft.before, DatasetDefinition) else {}
    if values.get("build", before.get("build")) != before.get("build"):
        return values
    return {**before, **values}


def _load(draft: Draft) -> dict[str, Any]:
    """Columns may be given by their names in the source."""
    before = draft.before.load.to_data() if isinstance(draft.before, DatasetDefinition) else {}
    values = {str(path[1]): item.value for path, item in draft.values.items() if path[0] == "load"}
    clean = {item["raw"]: name for name, item in draft.members("columns").items() if "raw" in item}
    for field in LISTS:
        if field in values:
            values[field] = tuple(clean.get(name, name) for name in values[field])
    for field in (*SINGLE, "operation"):
        if field in values:
            values[field] = clean.get(values[field], values[field])
    return {"type": LoadType.FULL.value, **before, **values}


def _columns(sheet: Worksheet, draft: Draft) -> tuple[list[dict[str, Any]], set[str]]:
    """Columns in order, and the names of removed ones."""
    listed, rows = draft.values.get(("columns",)), draft.members("columns")
    before = draft.before.columns if isinstance(draft.before, DatasetDefinition) else ()
    names = {column.name for column in before}
    if listed is not None:
        if rows:
            place, problem = listed.place, "also set in source_object_columns; use one of them"
            sheet.findings.add(WrongValue(place, key="columns", problem=problem, hint=""))
        return listed.value, names - {column["name"] for column in listed.value}
    found = {column.name: column.to_data() for column in before}
    order = {column.name: (index, 1) for index, column in enumerate(before, 1)}
    taken: dict[int, str] = {}
    for name, row in rows.items():
        data = {field: row[word] for word, field in _COLUMN_FIELDS.items() if word in row}
        found[name] = {**found.get(name, {"name": name}), **data}
        if (position := row.get("position")) is not None:
            order[name] = (position, 0)
            if taken.setdefault(position, name) != name:
                place = draft.place_of(("columns", name, "position"))
                problem = f"{position} is already the position of {taken[position]}"
                error = WrongValue(place, key="ordinal_position", problem=problem, hint="")
                sheet.findings.add(error)
        order.setdefault(name, (len(before) + len(rows), 1))
    gone = {name for name, row in rows.items() if row.get("active") is False}
    remaining = sorted((name for name in found if name not in gone), key=lambda name: order[name])
    return [found[name] for name in remaining], gone & names


def _rules(sheet: Worksheet, draft: Draft, dropped: set[str]) -> list[dict[str, Any]]:
    """Registered rules stay unless rows replace them or their column is removed."""
    before = draft.before.rules if isinstance(draft.before, DatasetDefinition) else ()
    row_rules = sheet.rules.get(draft.name, {})
    replaced_columns = sheet.columns_with_rules.get(draft.name, set())
    replaced_rules = sheet.replaced_rules.get(draft.name, set())
    nullable = {n for n, item in draft.members("columns").items() if item.get("nullable") is True}
    found = {}
    for rule in before:
        read = read_rule(rule.expression).rule
        has_default_id = rule.rule_id == default_rule_id(read)
        only_column = read.columns[0] if len(read.columns) == 1 else None
        replaced = has_default_id and (
            only_column in replaced_columns
            or (only_column in nullable and read.rule_type == "not_null")
            or rule.rule_id in replaced_rules
        )
        if rule.rule_id in row_rules or not (only_column in dropped or replaced):
            found[rule.rule_id] = rule
    found |= {rule_id: item.rule for rule_id, item in row_rules.items()}
    return [rule.to_data() for rule in found.values()]


def _check_rules(sheet: Worksheet, draft: Draft, dataset: DatasetDefinition) -> None:
    """Compile each rule against the columns; errors point to its row."""
    row_rules = sheet.rules.get(draft.name, {})
    compiled = compiler_for(dataset.table_schema)
    for rule in dataset.rules:
        try:
            compiled(rule)
        except GrammarError as error:
            place = row_rules[rule.rule_id].cite.place if rule.rule_id in row_rules else draft.place
            sheet.findings.add(rule_error(place, dataset.dataset, error))
