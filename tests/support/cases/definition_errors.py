"""Mistakes written into a good definition, with marks around what must be told."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from lakeguard_sdk.errors import DefinitionError
from tests.support.projects.definition_folders import SHOP, mistakes


class Case(NamedTuple):
    """``old`` in the good text becomes ``new``; without ``old`` it is added at the end.

    « and » stand around the characters that are wrong; they are not part of the file.
    """

    name: str
    good: str
    old: str
    new: str
    code: str
    says: str

    def __str__(self) -> str:
        return self.name

    @property
    def marked(self) -> str:
        if not self.old:
            return self.good + self.new
        assert self.old in self.good
        return self.good.replace(self.old, self.new, 1)


class Marked(NamedTuple):
    """A text without its marks, and what stood between them."""

    text: str
    line: int
    column: int
    length: int

    def place(self, file: str) -> tuple[str, int]:
        return f"{file}:{self.line}:{self.column}", self.length


def marked(case: Case) -> Marked:
    before, _, rest = case.marked.partition("«")
    wrong = rest.partition("»")[0]
    text = case.marked.replace("«", "").replace("»", "")
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1
    return Marked(text, line, column, len(wrong))


def check(case: Case, file: str, folder: Path) -> tuple[DefinitionError, ...]:
    """The first mistake of the case's code stands exactly where the marks are."""
    reported = marked(case)
    errors = mistakes(folder, {**SHOP, file: reported.text})
    found = [error for error in errors if error.code == case.code]
    assert found, [str(error) for error in errors]
    assert case.says in str(found[0])
    assert (str(found[0].place), found[0].place.length) == reported.place(file)
    return errors
