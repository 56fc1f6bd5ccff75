"""Positions of definitions: exact while the file can be read, otherwise the file only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path as FilePath

from lakeguard.registry.kinds import KINDS, name_of
from lakeguard.registry.text.problems import Findings
from lakeguard.registry.text.yaml_nodes import Path
from lakeguard_sdk.errors import DefinitionError, Place
from lakeguard_sdk.model.definitions import DatasetDefinition, Definition

Locate = Callable[[Definition, Path], Place]

DEFINITIONS = "definitions"
_FOLDERS = {kind.word: kind.folder for kind in KINDS}


def file_of(definition: Definition) -> str:
    """The file of a definition, relative to the project."""
    if isinstance(definition, DatasetDefinition):
        dataset = definition.dataset
        return f"{DEFINITIONS}/{dataset.layer}/{dataset.name}.yaml"
    return f"{DEFINITIONS}/{_FOLDERS[definition.kind]}/{name_of(definition)}.yaml"


def by_file(definition: Definition, path: Path) -> Place:
    """The place when the file was not read."""
    return Place(file=file_of(definition))


def sharpened(error: DefinitionError, folder: FilePath) -> DefinitionError:
    """The error with its exact place, if the file can still be read."""
    path = error.fields.get("at")
    file = folder / error.place.file
    if not path or not file.is_file():
        return error
    from lakeguard.registry.text.yaml_documents import read_document  # for errors alone

    document = read_document(error.place.file, file.read_bytes(), Findings())
    if document is None:
        return error
    place = document.locate(tuple(path))
    referring = error.fields.get("referring")
    if referring:
        place = document.place_of_reference(*referring) or place
    return type(error)(place, **error.fields)
