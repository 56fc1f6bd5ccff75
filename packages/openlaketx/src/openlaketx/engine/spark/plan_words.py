"""Classes of operators and expressions in Spark's plans, by their effect on columns."""

from __future__ import annotations

import re

from lakeguard_sdk.model.lineage import ROWS_OF_PROGRAM

CLEAN_LEAVES = ("Range", "OneRowRelation")
PASSES_ON = frozenset({
    "CollectMetrics", "Deduplicate", "DeduplicateWithinWatermark", "Distinct", "Filter",
    "EventTimeWatermark", "GlobalLimit", "LocalLimit", "Offset", "RebalancePartitions",
    "Repartition", "RepartitionByExpression", "ResolvedHint", "Sample", "Sort", "SubqueryAlias",
    "Tail", "UnresolvedHint",
})  # fmt: skip
"""Operators that filter, order or alias rows, and change no value."""
DECIDING = frozenset({
    "condition", "groupingExpressions", "keys", "order", "orderSpec", "partitionSpec",
})  # fmt: skip
"""Fields of operators that decide which rows exist, and in which order."""
NAMING = ("aggregateExpressions", "windowExpressions")
"""Fields with the values that an operator computes."""
COMPARES_ROWS = ("Distinct", "Except", "Intersect")
"""Operators that compare whole rows."""
INLINE_TABLES = ("LocalRelation", "ResolvedInlineTable")
ONE_SIDE = ("LeftSemi$", "LeftAnti$")
LEAF_WORDS = {
    **dict.fromkeys((*INLINE_TABLES, "LogicalRDD", "ExternalRDD"), ROWS_OF_PROGRAM),
    **dict.fromkeys(("StreamingRelation", "StreamingRelationV2"), "a streaming source"),
}
FILE_LEAVES = ("LogicalRelation", "DataSourceV2Relation")
ROWS_OF_LOOP = "UnionLoopRef"
"""Rows of a recursive query itself, whose other leaves are in the plan."""
FUNCTIONS = {
    f"org.apache.spark.sql.catalyst.expressions.{name}": frozenset(names)
    for name, names in {
        "Md5": ("md5",),
        "Sha1": ("sha", "sha1"),
        "Sha2": ("sha2",),
    }.items()
}
"""Functions that may mask a value, by class. Others are not recorded."""
CODE_OF_THE_PROGRAM = re.compile(
    "PythonUD|ScalaUD|PandasUD|ScalaAggregator|TypedAggregate|HiveUD|HiveGenericUD"
    "|Map(In|Partitions|Elements|Groups)|(Co)?FlatMap|CoGroup|AppendColumns|TypedFilter"
    "|ScriptTransformation|TransformWithState|CallMethodViaReflection"
)
"""Functions and operators that run code of the program, by class name."""
MADE_OF_NOTHING = frozenset({
    "CommonExpressionRef", "CreateArray", "CreateMap", "CreateNamedStruct", "CumeDist",
    "CurrentCatalog", "CurrentDate", "CurrentDatabase", "CurrentTimeZone", "CurrentTimestamp",
    "CurrentUser", "EulerNumber", "InputFileBlockLength", "InputFileBlockStart", "Literal",
    "LocalTimestamp", "MonotonicallyIncreasingID", "NamedLambdaVariable", "Now", "Pi", "RowNumber",
    "SparkPartitionID", "Uuid", "WindowSpecDefinition",
})  # fmt: skip
"""Expressions without arguments whose value depends on no column. A common expression is an
argument of the expression that refers to it. Others, such as a session variable, may contain
anything."""
FILE_FACTS = frozenset({"file_path", "file_name", "file_size", "file_modification_time"})
FILE_NAME = "InputFileName"
NO_VALUE = "RaiseError"
