"""The headers of CSV files: files that share one are read together."""

from __future__ import annotations

from dataclasses import dataclass, field

from lakeguard_sdk.evidence import SourceFile
from lakeguard_sdk.storage import local_path
from openlaketx.extract.batch import name_problem
from openlaketx.extract.clean_names import SameName, clean_names
from openlaketx.extract.csv_dialect import CsvDialect, CsvLook, look_at
from openlaketx.extract.file_columns import Declared, Misfit, joint_columns
from openlaketx.extract.manifest import Selection
from openlaketx.extract.text_files import TextProblem


@dataclass
class HeaderGroup:
    """Files of one header, under clean names; lines tell their records apart, or quotes do."""

    names: tuple[str, ...]
    by_lines: bool = True
    files: list[SourceFile] = field(default_factory=list)


@dataclass(frozen=True)
class Headers:
    """Every column of every file, and the files by header."""

    names: tuple[str, ...]
    groups: tuple[HeaderGroup, ...]


def look_at_headers(
    selection: Selection, dialect: CsvDialect, expected: tuple[str, ...], declared: Declared
) -> Headers:
    """What the files say; where the source declares a header, every file has exactly that."""
    groups: dict[tuple[str, ...], HeaderGroup] = {}
    for file in selection.files:
        look = _look(selection, file, dialect)
        header = _header(selection, file, look, expected)
        if header not in groups:
            groups[header] = HeaderGroup(_clean(selection, file, header, declared))
        groups[header].files.append(file)
        groups[header].by_lines &= look.by_lines
    found = {group.files[0].path: group.names for group in groups.values()}
    try:
        names = joint_columns(found, declared)
    except Misfit as problem:
        raise selection.unreadable(str(problem)) from None
    if told := name_problem(names):
        raise selection.unreadable(told)
    return Headers(names, tuple(groups.values()))


def _look(selection: Selection, file: SourceFile, dialect: CsvDialect) -> CsvLook:
    try:
        return look_at(local_path(selection.location(file)), dialect)
    except TextProblem as problem:
        raise selection.unreadable(f"{file.path}: {problem}") from None


def _header(
    selection: Selection, file: SourceFile, look: CsvLook, expected: tuple[str, ...]
) -> tuple[str, ...]:
    if look.header is None:
        raise selection.unreadable(f"{file.path} is empty: not even a header is there")
    if expected and look.header != expected:
        raise selection.unreadable(
            f"{file.path} has not the header of the definition:"
            f" {_difference(look.header, expected)}"
        )
    return look.header


def _clean(
    selection: Selection, file: SourceFile, header: tuple[str, ...], declared: Declared
) -> tuple[str, ...]:
    if told := name_problem(header):
        raise selection.unreadable(f"{file.path}: {told}")
    try:
        return clean_names(header, declared.names)
    except SameName as problem:
        raise selection.unreadable(f"{file.path}: {problem}") from None


def _difference(found: tuple[str, ...], wanted: tuple[str, ...]) -> str:
    for place, (name, other) in enumerate(zip(found, wanted, strict=False), start=1):
        if name != other:
            return f"column {place} is {name!r} instead of {other!r}"
    return f"{len(found)} columns instead of {len(wanted)}"
