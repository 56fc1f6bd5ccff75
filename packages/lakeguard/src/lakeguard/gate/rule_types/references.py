"""``foreign_key(column, … -> dataset(column, …))`` and ``not_in_reference``"""

from __future__ import annotations

from typing import ClassVar

from lakeguard.gate.judgement import RowsJudged, ask
from lakeguard.gate.reading import ReadRule
from lakeguard.gate.resolution import Resolver
from lakeguard.gate.rule import Reference
from lakeguard.gate.rule_type import ParameterSpec, RuleType
from lakeguard_sdk.measure import RowCount, UnmatchedRows
from lakeguard_sdk.words import Scope

_READ_AT = (
    " The other dataset is read at the version that was published when the run opened; a dataset"
    " that refers to itself is read as the publish would leave it."
)


class ReferenceRule(RuleType):
    """Keys that another dataset has, or has not."""

    found: ClassVar[bool]
    nulls = "A key with a NULL in it passes."
    takes = "any but binary, float, double and nested; of one kind with the other dataset's"
    columns = (1, None)
    parameters = (
        ParameterSpec(
            "to", "reference", "the dataset and its columns, written after `->`", required=True
        ),
    )
    refers = True
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ReadRule) -> None:
        to = _reference(read)
        if len(to.columns) != len(read.rule.columns):
            raise read.error("parameter to", "name as many columns on either side of ->")
        if len(set(to.columns)) != len(to.columns):
            raise read.error("parameter to", "a column stands twice")

    def compile(self, read: ReadRule, columns: Resolver) -> RowsJudged:
        for index, column in enumerate(columns.every):
            if column.type in ("binary", "float", "double"):
                message = f"{column.name} is {column.type}, which is no key"
                raise read.error(f"column {index}", message)
        to, scope = _reference(read), read.rule.scope or Scope.TABLE
        measure = UnmatchedRows(
            columns=columns.every,
            dataset=to.dataset,
            to=to.columns,
            found=self.found,
            scope=scope,
            where=columns.where,
        )
        return RowsJudged(ask(measure), ask(RowCount(scope=scope, where=columns.where)))


class ForeignKey(ReferenceRule):
    name = "foreign_key"
    summary = "Every key is one that another dataset has." + _READ_AT
    example = "foreign_key(carrier -> silver.carriers(code))"
    found = False


class NotInReference(ReferenceRule):
    name = "not_in_reference"
    summary = "No key is one that another dataset has." + _READ_AT
    example = "not_in_reference(tail_num -> silver.retired_planes(tail_num))"
    found = True


def _reference(read: ReadRule) -> Reference:
    to = read.rule.parameter("to")
    if not isinstance(to, Reference):
        raise read.error("type", "a dataset to refer to is missing")
    return to
