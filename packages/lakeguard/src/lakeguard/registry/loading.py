"""A folder of definitions read whole: every definition, or every mistake."""

from __future__ import annotations

from pathlib import Path

from lakeguard.registry.datasets import read_dataset
from lakeguard.registry.documents import read_document
from lakeguard.registry.findings import Findings
from lakeguard.registry.folder import LAYER_FOLDERS, DefinitionFile, definition_files
from lakeguard.registry.invariants import cycle_errors, dataset_errors
from lakeguard.registry.locating import sharpened
from lakeguard.registry.nodes import Block, Document, Items, Node, Scalar
from lakeguard.registry.policies import read_policy
from lakeguard.registry.sources import read_source
from lakeguard.registry.sql_files import SqlFiles
from lakeguard_sdk.definition import (
    DatasetDefinition,
    Definitions,
    PolicyDefinition,
    SourceDefinition,
)
from lakeguard_sdk.definition_errors import SecretValue, WrongValue
from lakeguard_sdk.secret_values import holds_secret


def load_folder(folder: Path) -> Definitions:
    """All definitions of a project; InvalidDefinitions with every mistake if there is one.

    Reads files only: no database, no network. Whether parents and sources that the folder
    does not define are registered is for the plan to say.
    """
    findings = Findings()
    loader = _Loader(folder, findings)
    for found in definition_files(folder, findings):
        loader.read(found)
    loader.check_cycles()
    findings.raise_if_any()
    return Definitions(
        sources=tuple(loader.sources),
        datasets=tuple(loader.datasets),
        policies=tuple(loader.policies),
    )


class _Loader:
    def __init__(self, folder: Path, findings: Findings) -> None:
        self.folder = folder
        self.findings = findings
        self.sql = SqlFiles(folder)
        self.sources: list[SourceDefinition] = []
        self.datasets: list[DatasetDefinition] = []
        self.policies: list[PolicyDefinition] = []

    def read(self, found: DefinitionFile) -> None:
        document = read_document(found.file, Path(found.path).read_bytes(), self.findings)
        if document is None:
            return
        _refuse_secrets(document, document.root, "", self.findings)
        if found.folder in LAYER_FOLDERS:
            self._read_dataset(document, found)
        elif found.folder == "sources":
            source = read_source(document, self.findings)
            if source and self._stands_right(document, "source", source.source, found):
                self.sources.append(source)
        else:
            policy = read_policy(document, self.findings)
            if policy and self._stands_right(document, "policy", policy.policy, found):
                self.policies.append(policy)

    def _read_dataset(self, document: Document, found: DefinitionFile) -> None:
        dataset = read_dataset(document, self.findings, self.sql.read)
        if dataset is None:
            return
        for error in dataset_errors(dataset, lambda _, path: document.locate(path)):
            self.findings.add(error)
        if self._stands_right(document, "dataset", dataset.dataset, found):
            self.datasets.append(dataset)

    def _stands_right(self, document: Document, key: str, name: str, found: DefinitionFile) -> bool:
        expected = f"{found.folder}.{found.name}" if found.folder in LAYER_FOLDERS else found.name
        if name == expected:
            return True
        place = document.locate((key,))
        problem = f"the file's place says {expected}, its content {name}"
        self.findings.add(WrongValue(place, key=key, problem=problem, hint=""))
        return False

    def check_cycles(self) -> None:
        for error in cycle_errors({dataset.dataset: dataset for dataset in self.datasets}):
            self.findings.add(sharpened(error, self.folder))


def _refuse_secrets(document: Document, node: Node, key: str, findings: Findings) -> None:
    match node:
        case Scalar(value=value) if holds_secret(value):
            findings.add(SecretValue(document.place(node), key=key))
        case Items(items=items):
            for item in items:
                _refuse_secrets(document, item, key, findings)
        case Block(values=values):
            for name, child in values.items():
                _refuse_secrets(document, child, name, findings)
