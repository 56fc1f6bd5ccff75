"""Rules about the table itself: columns, files, partitions."""

from __future__ import annotations

from lakeguard.gate.grammar.literals import Number, Text
from lakeguard.gate.grammar.rule import Listed, ParsedRule
from lakeguard.gate.rule_types.rule_type import ParameterSpec, RuleType
from lakeguard.gate.rule_types.value_range import check_bounds
from lakeguard.gate.typecheck.checks import Bounds, FileCheck, SchemaCheck
from lakeguard.gate.typecheck.resolution import Resolver
from lakeguard_sdk.types.schema import normal_type


class ShapeRule(RuleType):
    """Answered by the declared columns, which the staged ones must equal."""

    nulls = "Values are not read."
    limit_target = "value"
    nested = True

    def check(self, read: ParsedRule) -> None:
        for clause in ("where", "warn_if", "fail_if"):
            if getattr(read.rule, clause) is not None:
                raise read.error(clause, f"{self.name} does not support {clause}")


class ColumnExists(ShapeRule):
    name = "column_exists"
    summary = "The table has the columns; a definition without them is refused."
    example = "column_exists(flight_key, origin)"
    takes = "any type, including nested"
    columns = (1, None)

    def compile(self, read: ParsedRule, columns: Resolver) -> SchemaCheck:
        return SchemaCheck(
            True, f"the table has {', '.join(column.name for column in columns.every)}"
        )


class ColumnType(ShapeRule):
    name = "column_type"
    summary = "The column has the type."
    example = "column_type(amount, type='decimal(9,2)')"
    takes = "any type, including nested"
    parameters = (ParameterSpec("type", "text", "the column type", required=True),)
    principal = "type"

    def check(self, read: ParsedRule) -> None:
        super().check(read)
        try:
            _type(read)
        except ValueError as reason:
            raise read.error("parameter type", str(reason)) from None

    def compile(self, read: ParsedRule, columns: Resolver) -> SchemaCheck:
        column = columns.column()
        return SchemaCheck(column.type == _type(read), f"{column.name} is {column.type}")


class ColumnCount(ShapeRule):
    name = "column_count"
    summary = "The number of columns is within the bounds."
    example = "column_count(min=3, max=40)"
    takes = "no column"
    columns = (0, 0)
    parameters = (
        ParameterSpec("min", "whole", "minimum number of columns"),
        ParameterSpec("max", "whole", "maximum number of columns"),
    )

    def check(self, read: ParsedRule) -> None:
        super().check(read)
        check_bounds(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> SchemaCheck:
        count, bounds = len(columns.names), _bounds(read)
        low, high = bounds.low, bounds.high
        holds = (low is None or count >= low) and (high is None or count <= high)  # type: ignore[operator]
        return SchemaCheck(holds, f"the table has {count} columns", bounds)


class ColumnSequence(ShapeRule):
    name = "column_order"
    summary = "The columns have this relative order in the table; other columns may be in between."
    example = "column_order(flight_key, flight_date, origin)"
    takes = "any type, including nested"
    columns = (2, None)

    def compile(self, read: ParsedRule, columns: Resolver) -> SchemaCheck:
        places = [columns.names.index(column.name) for column in columns.every]
        return SchemaCheck(places == sorted(places), f"the order is {', '.join(columns.names)}")


class SchemaMatch(ShapeRule):
    name = "schema_match"
    summary = "The table has exactly these columns, in any order."
    example = "schema_match(columns=['flight_key', 'origin'])"
    takes = "no column"
    columns = (0, 0)
    parameters = (ParameterSpec("columns", "list", "column names", required=True),)
    principal = "columns"

    def compile(self, read: ParsedRule, columns: Resolver) -> SchemaCheck:
        listed = read.rule.parameter("columns")
        items = listed.items if isinstance(listed, Listed) else ()
        names = [item.value for item in items if isinstance(item, Text)]
        if len(names) != len(items):
            raise read.error("parameter columns", "list columns as texts: ['a', 'b']")
        differing = sorted(set(names) ^ set(columns.names))
        found = f"different: {', '.join(differing)}" if differing else "the columns match"
        return SchemaCheck(not differing, found)


class FileCount(RuleType):
    name = "file_count"
    summary = "The number of files of the run is within the bounds."
    example = "file_count(max=200)"
    nulls = "Values are not read."
    takes = "no column"
    columns = (0, 0)
    parameters = (
        ParameterSpec("min", "whole", "minimum number of files"),
        ParameterSpec("max", "whole", "maximum number of files"),
    )
    limit_target = "value"

    def check(self, read: ParsedRule) -> None:
        _refuse_clauses(read)
        check_bounds(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> FileCheck:
        return FileCheck(_bounds(read))


class PartitionPresent(RuleType):
    name = "partition_present"
    summary = "The run adds a file to the partition."
    example = "partition_present(flight_date, value='2013-12-31')"
    nulls = "Values are not read."
    takes = "partition columns"
    parameters = (
        ParameterSpec("value", "text", "the partition value as in the Delta log", required=True),
    )
    principal = "value"
    limit_target = "value"

    def check(self, read: ParsedRule) -> None:
        _refuse_clauses(read)

    def compile(self, read: ParsedRule, columns: Resolver) -> FileCheck:
        value = read.rule.parameter("value")
        wanted = value.value if isinstance(value, Text) else ""
        return FileCheck(Bounds("long"), (columns.column().name, wanted))


def _refuse_clauses(read: ParsedRule) -> None:
    for clause in ("where", "warn_if", "fail_if"):
        if getattr(read.rule, clause) is not None:
            message = f"{read.rule.rule_type} is about files and does not support {clause}"
            raise read.error(clause, message)


def _bounds(read: ParsedRule) -> Bounds:
    low, high = (read.rule.parameter(name) for name in ("min", "max"))
    return Bounds(
        "long",
        low.value if isinstance(low, Number) else None,
        high.value if isinstance(high, Number) else None,
    )


def _type(read: ParsedRule) -> str:
    text = read.rule.parameter("type")
    return normal_type(text.value if isinstance(text, Text) else "")


TABLE_RULES: tuple[RuleType, ...] = (
    ColumnExists(),
    ColumnType(),
    ColumnCount(),
    ColumnSequence(),
    SchemaMatch(),
    FileCount(),
    PartitionPresent(),
)
