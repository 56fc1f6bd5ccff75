"""The error tree: every code once, every way out said, one place to import from."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from lakeguard_sdk import errors
from lakeguard_sdk.errors import (
    DefinitionError,
    DuplicateKey,
    FilesRemoved,
    InvalidDefinitions,
    LakeGuardError,
    Place,
    error_classes,
)

ROOT = Path(__file__).parents[3]
FOLDERS = ("packages", "tests", "bench", "demo", "tools", "examples", "docs")
BRANCHES = [
    import_module(f"{errors.__name__}.{found.name}") for found in iter_modules(errors.__path__)
]
INSIDE = "packages/lakeguard-sdk/src/lakeguard_sdk/errors"


def all_errors() -> list[type[LakeGuardError]]:
    return [error for error in error_classes() if error.__module__.startswith("lakeguard_sdk.")]


def coded() -> list[type[LakeGuardError]]:
    own = [error for error in all_errors() if "code" in vars(error)]
    return [error for error in own if error is not LakeGuardError]


def test_every_code_belongs_to_one_error() -> None:
    codes = [error.code for error in coded()]
    assert sorted(codes) == sorted(set(codes))
    assert all(re.fullmatch(r"LG-[1-6][0-9]{3}", code) for code in codes)


def test_every_error_says_the_way_out() -> None:
    for error in coded():
        assert error.__doc__, error
        assert error.__doc__ != LakeGuardError.__doc__, error


def test_every_error_can_be_said() -> None:
    for error in coded():
        words = set(re.findall(r"{(\w+)", error.what + error.next_command))
        fields = dict.fromkeys(words, "x")
        if issubclass(error, DefinitionError):
            given: LakeGuardError = error(Place(file="f.yaml"), **fields)
        elif error is InvalidDefinitions:
            given = InvalidDefinitions((DuplicateKey(Place(file="f.yaml"), key="x"),))
        elif error is FilesRemoved:
            given = FilesRemoved(dataset="x", version=1, whole=())
        else:
            given = error(**fields)
        data = given.to_data()
        assert data["code"] == error.code
        assert "{" not in data["message"] + data["next"]


def test_a_place_is_told_with_its_error() -> None:
    error = DuplicateKey(Place(file="f.yaml", line=2, column=3), key="x")
    assert error.to_data()["place"] == {"file": "f.yaml", "line": 2, "column": 3, "length": 1}
    assert str(error.place) == "f.yaml:2:3"


def test_the_drawn_tree_is_the_tree() -> None:
    drawn = re.findall(r"(\w+) (LG-[0-9]{4})(\*?)", errors.__doc__ or "")
    described = {(error.__name__, error.code, "*" * error.retryable) for error in coded()}
    assert len(drawn) == len(described)
    assert set(drawn) == described


def test_every_error_stands_under_its_family_and_its_branch() -> None:
    family = branch = ""
    for line in (errors.__doc__ or "").splitlines():
        family = found[1] if (found := re.match(r"[├└]── (\w+):", line)) else family
        branch = found[1] if (found := re.match(r"[│ ]   [├└]── (\w+)$", line)) else branch
        for name in re.findall(r"(\w+) LG-", line):
            error = getattr(errors, name)
            assert family in {parent.__name__ for parent in error.__mro__}, name
            assert error.__module__ == f"{errors.__name__}.{branch}"


def test_every_error_is_imported_from_the_package() -> None:
    """The public names are exactly what the branches define."""
    own = {
        name
        for branch in BRANCHES
        for name, found in vars(branch).items()
        if getattr(found, "__module__", None) == branch.__name__
    }
    modules = {branch.__name__.rpartition(".")[2] for branch in BRANCHES}
    public = {name for name in vars(errors) if name[0].isalpha()} - modules - {"annotations"}
    assert public == own
    assert own >= {error.__name__ for error in all_errors()}


def test_nobody_imports_a_branch() -> None:
    importers = [
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if re.search(rf"(from|import) {errors.__name__}\.", path.read_text("utf-8"))
    ]
    assert [name for name in importers if not name.startswith(INSIDE)] == []
