"""What must hold of a Python build by itself; what is in its file is looked at with the file."""

from __future__ import annotations

from collections.abc import Iterator

from lakeguard.registry.locating import Locate
from lakeguard.registry.project_files import path_problem
from lakeguard_sdk.canonical import is_sha256
from lakeguard_sdk.definition import DatasetDefinition, FromPython
from lakeguard_sdk.errors import DefinitionError, MissingKey, WrongValue


def python_errors(dataset: DatasetDefinition, locate: Locate) -> Iterator[DefinitionError]:
    """The file can be found again, known again, and its inputs are declared."""
    build, at = dataset.build, ("build", "python")
    if not isinstance(build, FromPython):
        return
    problem = path_problem(build.file, "python")
    if problem is None and not build.function.isidentifier():
        problem = "write the name of a function"
    if problem is None and not is_sha256(build.sha256):
        problem = "write the SHA-256 of the file"
    if problem is not None:
        yield WrongValue(locate(dataset, at), key="python", problem=problem, hint="", at=list(at))
    if not dataset.parents:
        yield MissingKey(locate(dataset, at), key="parents", at=list(at))
