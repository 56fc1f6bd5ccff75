"""The first definition of a dataset that a program publishes before anybody described it."""

from __future__ import annotations

from pyspark.sql import DataFrame

from lakeguard_sdk.definition import (
    ColumnDefinition,
    DatasetDefinition,
    Definitions,
    FromFrame,
)
from lakeguard_sdk.errors import DescribeFirst, NotPublishable
from lakeguard_sdk.load import Load
from lakeguard_sdk.names import DatasetName
from lakeguard_sdk.words import Layer, LoadType
from openlaketx.engine.spark_types import UnsupportedType, live_schema
from openlaketx.extract.batch import name_problem
from openlaketx.notebook.person import person

DOMAIN = "unassigned"


def definitions_of(dataset: DatasetName, frame: DataFrame) -> Definitions:
    """The frame's own columns, replaced whole by each publish; owned by whoever publishes.

    A gold dataset names parents, of which a frame knows nothing.
    """
    if dataset.layer is Layer.GOLD:
        raise DescribeFirst(dataset=dataset)
    try:
        live = live_schema(frame.schema)
    except UnsupportedType as error:
        raise NotPublishable(dataset=dataset, reason=str(error)) from None
    if problem := name_problem(live.names):
        raise NotPublishable(dataset=dataset, reason=problem)
    definition = DatasetDefinition(
        dataset=dataset,
        domain=DOMAIN,
        owner=person(),
        build=FromFrame(),
        load=Load(type=LoadType.FULL),
        columns=tuple(ColumnDefinition(name=c.name, type=c.type) for c in live.columns),
    )
    return Definitions(datasets=(definition,))
