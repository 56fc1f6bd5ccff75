"""Rows become definitions: what is registered, with everything over it that the rows say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeguard.registry.findings import Findings
from lakeguard.registry.kind_invariants import definition_errors
from lakeguard.registry.kinds import Key, every, gathered, key_of
from lakeguard.registry.locating import file_of
from lakeguard.registry.macros import built_in_rules
from lakeguard.registry.rows import control_rows, ingestion_rows, registry_rows, source_details
from lakeguard.registry.rows.drafts import Draft
from lakeguard.registry.rows.finishing import finished
from lakeguard.registry.rows.row import Row
from lakeguard.registry.rows.tables import accepted
from lakeguard.registry.rows.worksheet import Worksheet
from lakeguard_sdk.definition import CatalogueRule, Definition, Definitions, FromSql
from lakeguard_sdk.errors import DefinitionError, WrongValue


def assemble(rows: Iterable[Row], registered: Definitions, findings: Findings) -> Definitions:
    """Every definition that the rows speak of, whole; mistakes go to the findings."""
    return Assembly(rows, registered, findings).definitions


class Assembly:
    """The definitions of a load, and where in its files each piece of them was said."""

    def __init__(self, rows: Iterable[Row], registered: Definitions, findings: Findings) -> None:
        held: Mapping[Key, Definition] = {key_of(item): item for item in every(registered)}
        self._sheet = Worksheet(accepted(rows, findings), held, findings)
        self._read()
        drafts = self._sheet.drafts.drafts
        found = [finished(self._sheet, draft) for draft in list(drafts.values())]
        self.definitions = gathered(item for item in found if item is not None)
        for item in every(self.definitions):
            draft = drafts[key_of(item)]
            for error in definition_errors(item, draft.locate):
                findings.add(_at_row(error, item, draft))
        self._check_sql_files(held, findings)

    def _read(self) -> None:
        """What others refer to comes first; details after what they belong to."""
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
        checking = ingestion_rows.read_objects(sheet)
        registry_rows.read_registry_arrows(sheet)
        ingestion_rows.read_columns(sheet, checking, self._catalogue())
        registry_rows.read_rules(sheet)
        registry_rows.read_policies(sheet)
        control_rows.read_jobs(sheet)
        control_rows.read_job_settings(sheet)

    def _check_sql_files(self, held: Mapping[Key, Definition], findings: Findings) -> None:
        """One file never holds two texts: an export could not write both."""
        defined = {key_of(item): item for item in every(self.definitions)}
        first: dict[str, tuple[Key, str]] = {}
        for key, item in {**held, **defined}.items():
            build = getattr(item, "build", None)
            if not isinstance(build, FromSql):
                continue
            owner, text = first.setdefault(build.file, (key, build.text))
            changed = key if key in defined else owner
            if text != build.text and changed in defined:
                other = owner if changed == key else key
                place = self._sheet.drafts.drafts[changed].place_of(("build", "file"))
                problem = f"{build.file} is the file of {other[1]}, with another text"
                findings.add(WrongValue(place, key="sql_file", problem=problem, hint=""))

    def _catalogue(self) -> dict[str, CatalogueRule]:
        """Rules by name, as they will be."""
        drafts = self._sheet.drafts
        held = [item for (kind, _), item in drafts.registered.items() if kind == "rule"]
        said = [draft.finished({}, Findings()) for draft in drafts.of_kind("rule")]
        defined = {item.rule: item for item in (*held, *said) if isinstance(item, CatalogueRule)}
        return {**built_in_rules(), **defined}

    def placed(self, error: DefinitionError) -> DefinitionError:
        """A mistake that was found in a definition's own file, at the row that says it."""
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
    """SQL stands in a row here, not in the file that it will be known by."""
    build = getattr(item, "build", None)
    if isinstance(build, FromSql) and error.place.file == build.file:
        return type(error)(draft.place_of(("build", "text")), **error.fields)
    return error
