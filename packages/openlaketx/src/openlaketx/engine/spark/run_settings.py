"""Settings of every run: what SQL means, and what is read and written, depends on nothing else.

The lineage of a SELECT is found in its text, before Spark sees it. A setting that gave the text
another meaning would bring columns under names that their tags do not follow.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from openlaketx.engine.spark.runtime import runtime_of

FILE_SETTINGS = {
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.variant.writeShredding.enabled": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.csv.parser.columnPruning.enabled": "false",
    "spark.sql.json.enableExactStringParsing": "true",
    "spark.sql.runSQLOnFiles": "false",
}
"""Micros, because INT96 has no statistics and overflows for old years; no pruning in CSV, because
pruned columns are not checked; exact JSON, because 1.10 is not 1.1 as text; no SQL on files,
because a build reads only its inputs."""

QUERY_SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.legacy.javaCharsets": "true",
    "spark.sql.legacy.parameterSubstitution.constantsOnly": "true",
    "spark.sql.cteRecursionLevelLimit": "100",
    "spark.sql.cteRecursionRowLimit": "1000000",
    "spark.sql.execution.pythonUDF.arrow.enabled": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.legacy.ctePrecedencePolicy": "CORRECTED",
}
"""Java's charsets, because Spark's list lacks some; parameters as constants, because Delta's parser
does not substitute them in the text, as Spark 4.1 does; limits of recursion, because a WITH
RECURSIVE may never end; the last two give SQL the same meaning on Spark 3.5."""

_TEXT = {
    "spark.sql.variable.substitute": "false",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.ansi.relationPrecedence": "false",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.parser.quotedRegexColumnNames": "false",
    "spark.sql.parser.singleCharacterPipeOperator.enabled": "false",
    "spark.sql.operatorPipeSyntaxEnabled": "true",
    "spark.sql.allowNamedFunctionArguments": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.legacy.parser.havingWithoutGroupByAsWhere": "false",
}
"""How Spark parses: values of ``${name}`` would be text that no check has seen; ``"a"`` is a text
and a quoted name is no pattern; ``|`` is an operator on bits; commas, joins and set operations
bind as the lineage has it."""

_NAMES = {
    "spark.sql.caseSensitive": "false",
    "spark.sql.groupByAliases": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.prioritizeOrdinalResolutionInSort.enabled": "true",
    "spark.sql.lateralColumnAlias.enableImplicitResolution": "true",
    "spark.sql.analyzer.singlePassResolver.enabled": "false",
    "spark.sql.analyzer.singlePassResolver.enabledTentatively": "false",
    "spark.sql.functionResolution.sessionOrder": "second",
    "spark.sql.path.enabled": "false",
    "spark.sql.stableDerivedColumnAlias.enabled": "false",
    "spark.sql.selfJoinAutoResolveAmbiguity": "true",
    "spark.sql.retainGroupColumns": "true",
    "spark.sql.parquet.fieldId.read.enabled": "false",
    "spark.sql.parquet.mergeSchema": "false",
    "spark.sql.sources.useV1SourceList": "avro,csv,json,kafka,orc,parquet,text",
    "spark.sql.sources.default": "parquet",
}
"""What a name or number stands for, and how columns without a name are called; columns of files by
name, and files through one interface, whose plans are understood."""

_VALUES = {
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.storeAssignmentPolicy": "ANSI",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.chunkBase64String.enabled": "true",
    "spark.sql.icu.caseMappings.enabled": "true",
    "spark.sql.json.enablePartialResults": "true",
    "spark.sql.jsonGenerator.ignoreNullFields": "true",
    "spark.sql.readSideCharPadding": "true",
    "spark.sql.preserveCharVarcharTypeInfo": "false",
    "spark.sql.crossJoin.enabled": "true",
    "spark.sql.optimizer.metadataOnly": "false",
    "spark.sql.parquet.binaryAsString": "false",
    "spark.sql.parquet.int96AsTimestamp": "true",
    "spark.sql.parquet.int96TimestampConversion": "false",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.parquet.writeLegacyFormat": "false",
    "spark.sql.variant.allowDuplicateKeys": "false",
}
"""Types and results of expressions, and of values in files."""

RUN_SETTINGS = {**FILE_SETTINGS, **QUERY_SETTINGS, **_TEXT, **_NAMES, **_VALUES}

RESET_FAMILIES = (
    "spark.sql.analyzer.",
    "spark.sql.ansi.",
    "spark.sql.collation.",
    "spark.sql.function.",
    "spark.sql.functionResolution.",
    "spark.sql.lateralColumnAlias.",
    "spark.sql.legacy.",
    "spark.sql.optimizer.decorrelate",
    "spark.sql.parser.",
    "spark.sql.session.collation.",
)
"""Settings that change the meaning of queries: those of them that are not above are Spark's own,
also those that a later Spark adds."""

_CODE_SETTINGS = {"spark.sql.codegen.hugeMethodLimit": "8000"}
"""No influence on values. Java never compiles a larger method: with this limit Spark splits it."""


def settle(session: SparkSession) -> None:
    """Reset a run's session to the settings of a run."""
    for name in runtime_of(session).names_of_settings(session):
        other = name.startswith(RESET_FAMILIES) and name not in RUN_SETTINGS
        if other and session.conf.isModifiable(name):
            session.conf.unset(name)
    for key, value in (RUN_SETTINGS | _CODE_SETTINGS).items():
        session.conf.set(key, value)
