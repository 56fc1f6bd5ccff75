"""``dataset_equal(-> silver.other)`` and ``dataset_equal(a, b -> silver.other(c, d))``"""

from __future__ import annotations

from typing import ClassVar

from lakeguard.gate.grammar.rule import ParsedRule, Reference
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.typecheck.checks import RowCheck, measure_ref
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.core.enums import Scope
from lakeguard_sdk.expressions.conditions import ColumnRef
from lakeguard_sdk.expressions.measures import ComparedPart, ComparedRows, RowCount, UnmatchedRows
from lakeguard_sdk.types.schema import is_nested


class DatasetEqual(RuleType):
    name = "dataset_equal"
    summary = (
        "The table, as it will be after the publish, has exactly the rows of another dataset, "
        "including duplicates and in any order; all columns, or those named. Every row that "
        "one side has more often than the other counts as failing. The other dataset is read "
        "at the version published when the run opened, and both are read in full. If no "
        "columns are named and the column sets differ, the rule cannot be evaluated and "
        "blocks."
    )
    example = "dataset_equal(order_id, amount -> bronze.orders(order_id, amount))"
    nulls = "NULL equals NULL, and NaN equals NaN."
    takes = "any type except nested; comparable with the other dataset's columns"
    columns = (0, None)
    parameters = (
        ParameterSpec(
            "to",
            "reference",
            "the dataset, written after `->`, optionally with columns",
            required=True,
        ),
    )
    refers = True
    reference_columns_optional = True

    def check(self, read: ParsedRule) -> None:
        to = _reference(read)
        if len(to.columns) != len(read.rule.columns):
            message = "name the same number of columns on both sides of ->, or none"
            raise read.error("parameter to", message)
        if len(set(to.columns)) != len(to.columns):
            raise read.error("parameter to", "duplicate column")
        if read.rule.where is not None:
            raise read.error("where 0", "datasets are compared as a whole: where is not supported")
        if read.rule.on_fail == "quarantine":
            message = "a missing row cannot be quarantined: the rule blocks"
            raise read.error("on_fail", message)

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        to = _reference(read)
        own = columns.every or columns.whole_row
        _refuse_nested(read, own)
        differing, every = (
            ComparedRows(
                part=part,
                columns=own,
                dataset=to.dataset,
                to=to.columns,
            )
            for part in (ComparedPart.DIFFERING, ComparedPart.ALL)
        )
        return RowCheck(measure_ref(differing), measure_ref(every))


def _refuse_nested(read: ParsedRule, own: tuple[ColumnRef, ...]) -> None:
    for column in own:
        if is_nested(column.type):
            message = (
                f"{column.name} is {column.type}: name the columns to compare, without this one"
            )
            raise read.error("type", message)


def _reference(read: ParsedRule) -> Reference:
    to = read.rule.parameter("to")
    if not isinstance(to, Reference):
        raise read.error("type", "needs a dataset to compare with")
    return to


# ``foreign_key(column, … -> dataset(column, …))`` and ``not_in_reference``

_READ_AT = (
    " The other dataset is read at the version published when the run opened; a dataset that "
    "references itself is read as it will be after the publish."
)


class ReferenceRule(RuleType):
    """Keys that must, or must not, exist in another dataset."""

    found: ClassVar[bool]
    nulls = "A key with a NULL passes."
    takes = (
        "any type except binary, float, double and nested; comparable with the other dataset's "
        "columns"
    )
    columns = (1, None)
    parameters = (
        ParameterSpec(
            "to", "reference", "the dataset and its columns, written after `->`", required=True
        ),
    )
    refers = True
    scopes = (Scope.TABLE, Scope.BATCH)

    def check(self, read: ParsedRule) -> None:
        to = _key_reference(read)
        if len(to.columns) != len(read.rule.columns):
            raise read.error("parameter to", "name the same number of columns on both sides of ->")
        if len(set(to.columns)) != len(to.columns):
            raise read.error("parameter to", "duplicate column")

    def compile(self, read: ParsedRule, columns: Resolver) -> RowCheck:
        for index, column in enumerate(columns.every):
            if column.type in ("binary", "float", "double"):
                message = f"{column.name} is {column.type}, which cannot be a key"
                raise read.error(f"column {index}", message)
        to, scope = _key_reference(read), read.rule.scope or Scope.TABLE
        measure = UnmatchedRows(
            columns=columns.every,
            dataset=to.dataset,
            to=to.columns,
            found=self.found,
            scope=scope,
            where=columns.where,
        )
        return RowCheck(
            measure_ref(measure), measure_ref(RowCount(scope=scope, where=columns.where))
        )


class ForeignKey(ReferenceRule):
    name = "foreign_key"
    summary = "Every key exists in another dataset." + _READ_AT
    example = "foreign_key(carrier -> silver.carriers(code))"
    found = False


class NotInReference(ReferenceRule):
    name = "not_in_reference"
    summary = "No key exists in another dataset." + _READ_AT
    example = "not_in_reference(tail_num -> silver.retired_planes(tail_num))"
    found = True


def _key_reference(read: ParsedRule) -> Reference:
    to = read.rule.parameter("to")
    if not isinstance(to, Reference):
        raise read.error("type", "needs a dataset to reference")
    return to
