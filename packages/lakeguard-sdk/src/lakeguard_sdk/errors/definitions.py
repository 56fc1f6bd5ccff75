"""Mistakes in definitions, each with its own code and place, and plans that are out of date."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from lakeguard_sdk.errors.tree import UsageError


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a mistake stands; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1
    length: int = 1

    def to_data(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class DefinitionError(UsageError):
    """Correct the file at the place named; nothing was applied."""

    next_command = "lakeguard validate"

    def __init__(self, place: Place, **fields: Any) -> None:
        self.place = place
        super().__init__(**fields)

    def to_data(self) -> dict[str, Any]:
        return {**super().to_data(), "place": self.place.to_data()}


class InvalidDefinitions(UsageError):
    """Correct every place named; nothing was applied."""

    code = "LG-2000"
    what = "{count} in the definitions"
    next_command = "lakeguard validate"

    def __init__(self, errors: Iterable[DefinitionError]) -> None:
        self.errors = tuple(errors)
        mistakes = "1 mistake" if len(self.errors) == 1 else f"{len(self.errors)} mistakes"
        super().__init__(count=mistakes)

    def to_data(self) -> dict[str, Any]:
        return {**super().to_data(), "errors": [error.to_data() for error in self.errors]}


class InvalidRows(InvalidDefinitions):
    """Correct every place named; nothing was loaded."""

    what = "{count} in the rows"
    next_command = "correct the files, then: lakeguard load FILES"


class NotYaml(DefinitionError):
    """The file is not YAML."""

    code = "LG-2001"
    what = "not readable as YAML: {problem}"


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
    """A key that stands twice."""

    code = "LG-2005"
    what = "{key!r} stands twice"


class DuplicateDefinition(DefinitionError):
    """Two files define the same thing."""

    code = "LG-2006"
    what = "{name} is defined twice; the first is at {first}"


class UnknownReference(DefinitionError):
    """A dataset, source or file that does not exist."""

    code = "LG-2007"
    what = "{kind} {name!r} does not exist{hint}"


class LayerChanged(DefinitionError):
    """A dataset belongs to one layer for ever: register a new dataset instead."""

    code = "LG-2008"
    what = "{name} is {layer} and stays so"


class GoldParent(DefinitionError):
    """Gold is built from silver: name a silver parent, and no bronze one."""

    code = "LG-2009"
    what = "{name}: {problem}"


class Cycle(DefinitionError):
    """Datasets that are built from each other."""

    code = "LG-2010"
    what = "a cycle of parents: {path}"


class JobCycle(DefinitionError):
    """Jobs that wait for each other: none of them would ever start."""

    code = "LG-2038"
    what = "a cycle of jobs: {path}"


class ParentAbove(DefinitionError):
    """Parents stand below or beside their child."""

    code = "LG-2011"
    what = "{name} cannot be built from {parent}, which stands above it"


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
    """The rule can be read but means nothing sensible."""

    code = "LG-2015"
    what = "{problem}{hint}"


class DuplicateRule(DefinitionError):
    """Two rules claim one id: give one of them an ``id:``."""

    code = "LG-2016"
    what = "rule id {rule!r} is claimed twice; the first is {first!r}"


class PolicySyntax(DefinitionError):
    """The policy expression does not follow the grammar."""

    code = "LG-2017"
    what = "{problem}{hint}"


class UnknownType(DefinitionError):
    """A column type that does not exist."""

    code = "LG-2018"
    what = "unknown column type {type!r}{hint}"


class BadSql(DefinitionError):
    """The build's SQL is not one SELECT over declared parents."""

    code = "LG-2019"
    what = "{problem}{hint}"


class BadWord(DefinitionError):
    """A name that is not lower snake case."""

    code = "LG-2020"
    what = "{name!r} is not a valid name: lower snake case, a letter first, at most 128 characters"


class SecretValue(DefinitionError):
    """A secret written out: keep it elsewhere and refer to it."""

    code = "LG-2021"
    what = "{key} looks like a secret; write a reference such as env:NAME"


class RowsError(DefinitionError):
    """Correct the file of rows at the place named; nothing of the file was taken."""

    next_command = "correct the file, then: lakeguard load FILE"


class UnknownRowsFile(RowsError):
    """Rows are read from .csv, .json, .jsonl and .sql files."""

    code = "LG-2022"
    what = "{name!r} is not a file of rows; its name ends in .csv, .json, .jsonl or .sql"


class UnreadableRows(RowsError):
    """The file of rows does not keep to its format."""

    code = "LG-2023"
    what = "not readable as {format}: {problem}"


class TooLarge(RowsError):
    """Split the file, or shorten the value."""

    code = "LG-2024"
    what = "{thing} is larger than {limit}"


class RaggedRow(RowsError):
    """A row has one value for each column that was named."""

    code = "LG-2025"
    what = "{found} for {expected}"


class BadColumns(RowsError):
    """Columns are named once each, before the first row."""

    code = "LG-2026"
    what = "{problem}"


class RefusedStatement(RowsError):
    """Only ``INSERT INTO table (columns) VALUES (...)`` is read, and nothing is executed."""

    code = "LG-2027"
    what = "{statement} is not read: {problem}"


class RefusedValue(RowsError):
    """A value is written out: a text, a number, TRUE, FALSE, NULL or the current time."""

    code = "LG-2028"
    what = "{value} is not read: {problem}"


class MissingMapping(DefinitionError):
    """What reads a source writes to a target only over a mapping between the two."""

    code = "LG-2029"
    what = "{dataset} reads {source} and writes to {target}, which has no mapping from {source}"


class SecondJob(DefinitionError):
    """A dataset is built by one job at most."""

    code = "LG-2030"
    what = "{job} builds {dataset}, which job {first} builds already"


class BadRename(DefinitionError):
    """A dataset keeps its id and its versions through a rename; a name never has two owners."""

    code = "LG-2031"
    what = "{name}: {problem}"


class LookAlike(DefinitionError):
    """Two names that people, or some disks, take for one."""

    code = "LG-2032"
    what = "{kind} {name!r} looks like {twin!r}; choose a name that cannot be taken for it"


class NestedTable(DefinitionError):
    """A table lies in a folder of its own, never inside another table."""

    code = "LG-2033"
    what = "the table of {name} would lie at {location}, inside or around that of {other}"


class LoadedFact(RowsError):
    """Load definitions; what happened is written by LakeGuard alone, and cannot be loaded."""

    code = "LG-2034"
    what = "{table} holds what happened, not what is defined, and is not loaded"


class DoubledRows(DefinitionError):
    """What is read again must be told from what is there: give the load ``keys``."""

    code = "LG-2035"
    what = "{key}: rows would be doubled: {problem}"


class TakenColumn(DefinitionError):
    """The load writes columns of its own: call this one otherwise."""

    code = "LG-2036"
    what = "{column!r} is the name of a column that the load writes{hint}"


class BadPython(DefinitionError):
    """The build's file holds no function over a session and its inputs."""

    code = "LG-2037"
    what = "{problem}{hint}"


class RegistryMoved(UsageError):
    """The registry changed after the plan was made: plan again and look at it."""

    code = "LG-2100"
    what = "the registry moved since this plan was made ({planned} then, {now} now)"
    next_command = "lakeguard plan --out FILE, then: lakeguard apply FILE"


class PlanChanged(UsageError):
    """The steps are not what a plan of their definitions would be: plan again."""

    code = "LG-2101"
    what = "this plan was changed after it was made"
    next_command = "lakeguard plan --out FILE, then: lakeguard apply FILE"
