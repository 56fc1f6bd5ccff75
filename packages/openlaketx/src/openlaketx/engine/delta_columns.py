"""Partition columns that are only in the Delta log, not in the data files.

Our runs write every column into every file. Other writers do not, and folder names are unreliable:
writers encode values differently.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType

from lakeguard_sdk.storage.storage import join
from lakeguard_sdk.types.schema import Column, TableSchema
from openlaketx.engine.delta_table import Values
from openlaketx.engine.locations import spark_file_address
from openlaketx.engine.shown_values import refusal
from openlaketx.engine.spark.types import quoted_name, spark_schema, spark_type

_PLACE, _LACKS, _VALUE = "lg_place", "lg_lacks", "lg_value_"


def with_log_columns(
    frame: DataFrame,
    session: SparkSession,
    schema: TableSchema,
    location: str,
    paths: Collection[str],
    values: Values,
) -> DataFrame:
    """The frame over these files, with partition values from the log where a file lacks them."""
    if not values:
        return frame
    names = sorted({name for texts in values.values() for name in texts})
    place = F.regexp_replace(F.col("_metadata.file_path"), "^file:(//)?", "")
    known = F.broadcast(_partition_frame(session, location, paths, values, names))
    extra = [name for name in frame.columns if name not in schema.names]
    joined = frame.withColumn(_PLACE, place).join(known, _PLACE, "left")
    unknown = refusal("no partition values for ", F.col(_PLACE))
    chosen = [
        F.when(F.col(_LACKS).isNull(), unknown)
        .when(F.col(_LACKS), F.col(_VALUE + name).cast(spark_type(str(schema.type_of(name)))))
        .otherwise(F.col(quoted_name(name)))
        .alias(name)
        if name in names
        else F.col(quoted_name(name))
        for name in schema.names
    ]
    return joined.select(*chosen, *(F.col(quoted_name(name)) for name in extra))


def _partition_frame(
    session: SparkSession,
    location: str,
    paths: Collection[str],
    values: Values,
    names: Collection[str],
) -> DataFrame:
    """A row for each file, by the path that Spark reports. Made of a constant, because rows of a
    program have no lineage."""
    columns = (
        Column(name=_PLACE, type="string"),
        Column(name=_LACKS, type="boolean"),
        *(Column(name=_VALUE + name, type="string") for name in names),
    )
    rows = [
        {
            _PLACE: spark_file_address(join(location, path)),
            _LACKS: path in values,
            **{_VALUE + name: values.get(path, {}).get(name) for name in names},
        }
        for path in sorted(paths)
    ]
    listed = F.from_json(
        F.lit(json.dumps(rows)), ArrayType(spark_schema(TableSchema(columns=columns)))
    )
    return session.range(1).select(F.inline(listed))
