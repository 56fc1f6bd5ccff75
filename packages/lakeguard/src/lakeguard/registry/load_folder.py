"""Loads a folder of definitions: all definitions, or all errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from lakeguard.registry.files.datasets import read_dataset
from lakeguard.registry.files.discovery import DefinitionFile, definition_files
from lakeguard.registry.files.job_settings import after_errors
from lakeguard.registry.files.jobs import read_job
from lakeguard.registry.files.parse_cache import ParsedFiles
from lakeguard.registry.files.policies import read_policy, read_profile
from lakeguard.registry.files.project_files import ProjectFiles
from lakeguard.registry.files.rule_catalog import read_catalogue_rule
from lakeguard.registry.files.sources_and_targets import read_source, read_target
from lakeguard.registry.files.table_locations import nested_places, own_place_problem
from lakeguard.registry.kinds import LAYER_FOLDERS, gathered, name_of
from lakeguard.registry.macros import Macros, built_in_rules
from lakeguard.registry.sql.sql_builds import check_sql, read_datasets, sql_error
from lakeguard.registry.text.characters import look_alike
from lakeguard.registry.text.definition_positions import by_file, sharpened
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.sql_lexing import SqlRefused
from lakeguard.registry.text.yaml_nodes import (
    Block,
    Document,
    Items,
    Node,
    Scalar,
)
from lakeguard.registry.validation.invariants import cycle_errors
from lakeguard.registry.validation.kind_invariants import definition_errors
from lakeguard_sdk.core.canonical_json import unordered_hash
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.did_you_mean import did_you_mean
from lakeguard_sdk.errors import (
    BadSql,
    DefinitionError,
    NestedTable,
    Place,
    SecretValue,
    WrongValue,
)
from lakeguard_sdk.model.definitions import (
    CatalogueRule,
    DatasetDefinition,
    Definition,
    Definitions,
    FromPython,
    FromSql,
    JobDefinition,
)
from lakeguard_sdk.security.secret_values import holds_secret

_READERS: dict[str, Callable[[Document, Findings], Definition | None]] = {
    "profiles": read_profile,
    "rules": read_catalogue_rule,
    "sources": read_source,
    "targets": read_target,
    "policies": read_policy,
    "jobs": read_job,
}
"""Parsers by folder, except for datasets, which also need their code."""


def load_folder(folder: Path) -> Definitions:
    """All definitions of a project; InvalidDefinitions with every error if there is one.

    Reads files only: no database, no network. References to definitions outside the folder are
    checked by the plan.
    """
    findings = Findings()
    loader = _Loader(folder, findings)
    for found in sorted(definition_files(folder, findings), key=_after_the_catalogue):
        loader.take(found)
    loader.check_files()
    loader.parsed.save()
    findings.raise_if_any()
    return gathered(loader.definitions)


def _after_the_catalogue(found: DefinitionFile) -> bool:
    """Sort key: catalogue rules first, because datasets use them."""
    return found.folder != "rules"


def _sql_errors(
    build: FromSql, parents: tuple[DatasetName, ...] | None
) -> Iterator[DefinitionError]:
    """Without parents, every table may be one."""
    if parents is None:
        try:
            parents = tuple(read_datasets(build.text))
        except SqlRefused:  # then it is the only problem
            parents = ()
    for problem in check_sql(build.text, frozenset(parents), columns=None):
        yield sql_error(build.file, build.text, problem)


class _Loader:
    def __init__(self, folder: Path, findings: Findings) -> None:
        self.folder = folder
        self.findings = findings
        self.files = ProjectFiles(folder)
        self.parsed = ParsedFiles(folder, self.files)
        self.definitions: list[Definition] = []

    def take(self, found: DefinitionFile) -> None:
        if holds_secret(found.name):
            self.findings.add(SecretValue(Place(file=found.file), key="the file name"))
            return
        with open(found.path, "rb") as file:
            data = file.read()
        known = data + self._catalogue_hash if found.folder in LAYER_FOLDERS else data
        definition = self.parsed.find(found, known)
        if definition is None:
            before = self.findings.count
            definition = self._read(found, data)
            if definition is not None and self.findings.count == before:
                self.parsed.add(found, known, definition)
        if definition is not None:
            self.definitions.append(definition)

    def _read(self, found: DefinitionFile, data: bytes) -> Definition | None:
        from lakeguard.registry.text.yaml_documents import read_document  # not for cached files

        document = read_document(found.file, data, self.findings)
        if document is None:
            return None
        self._refuse_secrets(document, document.root, "")
        if found.folder in LAYER_FOLDERS:
            definition: Definition | None = read_dataset(
                document, self.findings, self.files, self._macros, _sql_errors
            )
        else:
            definition = _READERS[found.folder](document, self.findings)
        if definition is None:
            return None
        for error in definition_errors(definition, lambda _, path: document.locate(path)):
            self.findings.add(error)
        return definition if self._matches_file(document, definition, found) else None

    @cached_property
    def _catalogue(self) -> dict[str, CatalogueRule]:
        """Catalogue rules of the folder, complete before the first dataset is read."""
        return {item.rule: item for item in self.definitions if isinstance(item, CatalogueRule)}

    @cached_property
    def _macros(self) -> Macros:
        return Macros(self._catalogue)

    @cached_property
    def _catalogue_hash(self) -> bytes:
        rules = {**built_in_rules(), **self._catalogue}
        return unordered_hash(rule.content_hash() for rule in rules.values()).encode()

    def _refuse_secrets(self, document: Document, node: Node, key: str) -> None:
        """Refuse secrets in any key or value."""
        match node:
            case Scalar(value=value) if holds_secret(value):
                self.findings.add(SecretValue(document.place(node), key=key))
            case Items(items=items):
                for item in items:
                    self._refuse_secrets(document, item, key)
            case Block(keys=keys, values=values):
                for name, scalar in keys.items():
                    self._refuse_secrets(document, scalar, "a key")
                    self._refuse_secrets(document, values[name], name)

    def _matches_file(
        self, document: Document, definition: Definition, found: DefinitionFile
    ) -> bool:
        name = name_of(definition)
        expected = f"{found.folder}.{found.name}" if found.folder in LAYER_FOLDERS else found.name
        if name == expected:
            return True
        place = document.locate((definition.kind,))
        problem = f"the file name implies {expected}, but it defines {name}"
        self.findings.add(WrongValue(place, key=definition.kind, problem=problem, hint=""))
        return False

    def check_files(self) -> None:
        """Checks across files: cycles, overlapping locations and code files that differ only in
        spelling."""
        datasets = [item for item in self.definitions if isinstance(item, DatasetDefinition)]
        cycles = cycle_errors({dataset.dataset: dataset for dataset in datasets})
        jobs = {item.job: item for item in self.definitions if isinstance(item, JobDefinition)}
        others = (*after_errors(jobs, {}), *_own_place_errors(datasets))
        for error in (*cycles, *others, *_misspelt_parents(datasets)):
            self.findings.add(sharpened(error, self.folder))
        spelled: dict[str, str] = {}
        for dataset in datasets:
            build = dataset.build
            if not isinstance(build, FromSql | FromPython):
                continue
            twin = spelled.setdefault(look_alike(build.file), build.file)
            if twin != build.file:
                problem = f"{build.file} and {twin} are the same file on some file systems"
                at = ["build", build.build]
                error = WrongValue(
                    by_file(dataset, ()), key=build.build, problem=problem, hint="", at=at
                )
                self.findings.add(sharpened(error, self.folder))


def _misspelt_parents(datasets: Sequence[DatasetDefinition]) -> Iterator[DefinitionError]:
    """Parents that neither the folder defines nor the SQL reads, if it reads a dataset of the
    folder with a similar name instead."""
    defined = {dataset.dataset for dataset in datasets}
    for dataset in datasets:
        unknown = [parent for parent in dataset.parents if parent not in defined]
        if not unknown or not isinstance(dataset.build, FromSql):
            continue
        with suppress(SqlRefused):
            read = read_datasets(dataset.build.text)
            meant = (read & defined) - set(dataset.parents)
            for parent in (each for each in unknown if each not in read):
                hint = did_you_mean(parent, meant)
                at = ("parents", dataset.parents.index(parent))
                problem = f"{dataset.build.file} does not read {parent}"
                if hint:
                    yield BadSql(by_file(dataset, at), problem=problem, hint=hint, at=at)


# Explicit locations of datasets must not be equal or nested.


def _own_place_errors(datasets: Iterable[DatasetDefinition]) -> Iterator[DefinitionError]:
    """Invalid locations are reported elsewhere; default locations cannot overlap."""
    first: dict[str, DatasetDefinition] = {}
    for dataset in datasets:
        if not dataset.location or own_place_problem(dataset.location):
            continue
        known = first.setdefault(dataset.location, dataset)
        if known is not dataset:
            yield _nested(dataset, known.dataset)
    places = {place: str(dataset.dataset) for place, dataset in first.items()}
    for place, other in nested_places(places, {}):
        yield _nested(first[place], other)


def _nested(dataset: DatasetDefinition, other: str) -> NestedTable:
    return NestedTable(
        by_file(dataset, ()),
        name=dataset.dataset,
        location=dataset.location,
        other=other,
        at=["location"],
    )
