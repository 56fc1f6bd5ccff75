"""Errors in definitions, each with its own code and location, and outdated plans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lakeguard_sdk.errors.tree import UsageError


@dataclass(frozen=True, kw_only=True)
class Place:
    """Location of an error; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1
    length: int = 1

    def to_data(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class DefinitionError(UsageError):
    """Correct the file at the named location; nothing was applied."""

    next_command = "lakeguard validate"

    def __init__(self, place: Place, **fields: Any) -> None:
        self.place = place
        super().__init__(**fields)

    def to_data(self) -> dict[str, Any]:
        return {**super().to_data(), "place": self.place.to_data()}


class InvalidDefinitions(UsageError):
    """Correct every named location; nothing was applied."""

    code = "LG-2000"
    what = "{count} in the definitions"
    next_command = "fix the files, then: lakeguard validate"

    def __init__(self, errors: Iterable[DefinitionError]) -> None:
        self.errors = tuple(errors)
        count = "1 error" if len(self.errors) == 1 else f"{len(self.errors)} errors"
        super().__init__(count=count)

    def to_data(self) -> dict[str, Any]:
        return {**super().to_data(), "errors": [error.to_data() for error in self.errors]}


class InvalidRows(InvalidDefinitions):
    """Correct every named location; nothing was loaded."""

    what = "{count} in the rows"
    next_command = "correct the files, then: lakeguard load FILES"


class NotYaml(DefinitionError):
    """The file is not YAML."""

    code = "LG-2001"
    what = "not valid YAML: {problem}"


class UnknownKey(DefinitionError):
    """A key that no definition has."""

    code = "LG-2002"
    what = "unknown key {key!r}{hint}"


class MissingKey(DefinitionError):
    """A key that every definition of this kind needs."""

    code = "LG-2003"
    what = "{key!r} is required here{hint}"

    def __init__(self, place: Place, *, hint: str = "", **fields: Any) -> None:
        super().__init__(place, hint=hint, **fields)


class WrongValue(DefinitionError):
    """A value of the wrong kind."""

    code = "LG-2004"
    what = "{key}: {problem}{hint}"


class DuplicateKey(DefinitionError):
    """A duplicate key."""

    code = "LG-2005"
    what = "duplicate key {key!r}"


class DuplicateDefinition(DefinitionError):
    """Two files define the same thing."""

    code = "LG-2006"
    what = "{name} is defined twice; the first is at {first}"


class UnknownReference(DefinitionError):
    """A dataset, source or file that does not exist."""

    code = "LG-2007"
    what = "{kind} {name!r} does not exist{hint}"


class LayerChanged(DefinitionError):
    """A dataset never changes its layer: register a new dataset instead."""

    code = "LG-2008"
    what = "{name} is in layer {layer}, which cannot change"


class GoldParent(DefinitionError):
    """Gold is built from silver: name a silver parent, and no bronze parent."""

    code = "LG-2009"
    what = "{name}: {problem}"


class Cycle(DefinitionError):
    """Datasets that depend on each other."""

    code = "LG-2010"
    what = "dependency cycle: {path}"


class JobCycle(DefinitionError):
    """Jobs that wait for each other would never start."""

    code = "LG-2038"
    what = "job cycle: {path}"


class ParentAbove(DefinitionError):
    """A parent is in the same layer as its child, or a lower one."""

    code = "LG-2011"
    what = "{name} cannot be built from {parent}, which is in a higher layer"


class RuleSyntax(DefinitionError):
    """The rule does not follow the grammar."""

    code = "LG-2012"
    what = "{problem}{hint}"


class UnknownRuleType(DefinitionError):
    """A rule type that does not exist."""

    code = "LG-2013"
    what = "unknown rule type {type!r}{hint}"


class UnknownColumn(DefinitionError):
    """A rule on a column that the dataset does not declare."""

    code = "LG-2014"
    what = "{dataset} has no column {column!r}{hint}"


class RuleMeaning(DefinitionError):
    """The rule parses but is not meaningful."""

    code = "LG-2015"
    what = "{problem}{hint}"


class DuplicateRule(DefinitionError):
    """Two rules have the same id: give one of them an ``id:``."""

    code = "LG-2016"
    what = "duplicate rule id {rule!r}; the first is {first!r}"


class PolicySyntax(DefinitionError):
    """The policy expression does not follow the grammar."""

    code = "LG-2017"
    what = "{problem}{hint}"


class UnknownType(DefinitionError):
    """A column type that does not exist."""

    code = "LG-2018"
    what = "unknown column type {type!r}{hint}"


class BadSql(DefinitionError):
    """The build's SQL is not one SELECT over declared parents and their columns."""

    code = "LG-2019"
    what = "{problem}{hint}"


class BadDefinitionName(DefinitionError):
    """A name that is not lower snake case."""

    code = "LG-2020"
    what = (
        "{name!r} is not a valid name: use lower snake case, a letter first, at most 128 characters"
    )


class SecretValue(DefinitionError):
    """A literal secret: store it elsewhere and reference it."""

    code = "LG-2021"
    what = "{key} looks like a secret; write a reference such as env:NAME"


class RowsError(DefinitionError):
    """Correct the rows file at the named location; nothing was loaded from it."""

    next_command = "correct the file, then: lakeguard load FILE"


class UnknownRowsFile(RowsError):
    """Rows are read from .csv, .json, .jsonl and .sql files."""

    code = "LG-2022"
    what = "{name!r} is not a rows file; use .csv, .json, .jsonl or .sql"


class UnreadableRows(RowsError):
    """The rows file does not follow its format."""

    code = "LG-2023"
    what = "not valid {format}: {problem}"


class TooLarge(RowsError):
    """Split the file, or shorten the value."""

    code = "LG-2024"
    what = "{thing} is larger than {limit}"


class RaggedRow(RowsError):
    """A row has one value for each named column."""

    code = "LG-2025"
    what = "{found} for {expected}"


class BadColumns(RowsError):
    """Columns are named once each, before the first row."""

    code = "LG-2026"
    what = "{problem}"


class RefusedStatement(RowsError):
    """Only ``INSERT INTO table (columns) VALUES (...)`` is supported, and nothing is executed."""

    code = "LG-2027"
    what = "{statement} is not supported: {problem}"


class RefusedValue(RowsError):
    """A value is a literal: text, a number, TRUE, FALSE, NULL or the current time."""

    code = "LG-2028"
    what = "{value} is not supported: {problem}"


class MissingMapping(DefinitionError):
    """Reading a source and writing to a target needs a mapping between the two."""

    code = "LG-2029"
    what = "{dataset} reads {source} and writes to {target}, which has no mapping from {source}"


class DuplicateJob(DefinitionError):
    """At most one job builds a dataset."""

    code = "LG-2030"
    what = "{job} builds {dataset}, which job {first} already builds"


class BadRename(DefinitionError):
    """A dataset keeps its id and its versions through a rename; a name never has two owners."""

    code = "LG-2031"
    what = "{name}: {problem}"


class ConfusableName(DefinitionError):
    """Two names that people or some file systems cannot tell apart."""

    code = "LG-2032"
    what = "{kind} {name!r} is too similar to {twin!r}; choose a distinct name"


class NestedTable(DefinitionError):
    """A table has its own folder, never inside another table."""

    code = "LG-2033"
    what = "the table of {name} at {location} would overlap the table of {other}"


class NotLoadable(RowsError):
    """Load definitions only: LakeGuard alone writes recorded events."""

    code = "LG-2034"
    what = "{table} records events, not definitions, and cannot be loaded"


class DuplicatedRows(DefinitionError):
    """Rows that are read again must be matched with existing ones: give the load ``keys``."""

    code = "LG-2035"
    what = "{key}: rows would be duplicated: {problem}"


class ReservedColumn(DefinitionError):
    """The load writes its own columns: rename this one."""

    code = "LG-2036"
    what = "{column!r} is the name of a column written by the load{hint}"


class BadPython(DefinitionError):
    """The build's file has no function that takes a session and inputs."""

    code = "LG-2037"
    what = "{problem}{hint}"


class RegistryChanged(UsageError):
    """The registry changed after the plan was made: plan again and review it."""

    code = "LG-2100"
    what = "the registry changed since this plan was made ({planned} then, {now} now)"
    next_command = "lakeguard plan --out FILE, then: lakeguard apply FILE"


class PlanChanged(UsageError):
    """The steps do not match a plan of their definitions: plan again."""

    code = "LG-2101"
    what = "this plan was modified after it was made"
    next_command = "lakeguard plan --out FILE, then: lakeguard apply FILE"
