"""The error tree: every code once, every way out said."""

from __future__ import annotations

import re

from lakeguard_sdk import definition_errors, errors
from lakeguard_sdk.definition_errors import Place
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.rollback_errors import FilesRemoved


def all_errors(root: type[LakeGuardError] = LakeGuardError) -> list[type[LakeGuardError]]:
    found = []
    for child in root.__subclasses__():
        if child.__module__.startswith("lakeguard_sdk"):
            found += [child, *all_errors(child)]
    return found


def coded() -> list[type[LakeGuardError]]:
    return [error for error in all_errors() if "code" in vars(error)]


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
        if issubclass(error, definition_errors.DefinitionError):
            said: LakeGuardError = error(Place(file="f.yaml"), **fields)
        elif error is definition_errors.InvalidDefinitions:
            place = Place(file="f.yaml")
            said = error((definition_errors.DuplicateKey(place, key="x"),))
        elif error is FilesRemoved:
            said = FilesRemoved(dataset="x", version=1, whole=())
        else:
            said = error(**fields)
        data = said.to_data()
        assert data["code"] == error.code
        assert "{" not in data["message"] + data["next"]


def test_the_drawn_tree_names_every_error() -> None:
    drawn = errors.__doc__ or ""
    for error in coded():
        if error.__module__ == errors.__name__:
            assert re.search(rf"{error.__name__} +{error.code}", drawn), error
