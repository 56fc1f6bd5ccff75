"""One version of a dataset as a frame of the user's session."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.model.evidence import InputVersion
from lakeguard_sdk.model.read_models import ResolvedDataset
from lakeguard_sdk.model.run import InputPin, TableSnapshot
from openlaketx.extract.frame_lineage import Reads
from openlaketx.extract.pinned_inputs import files_to_read, read_pinned


def read_version(
    spark: SparkSession, found: ResolvedDataset, reads: Reads
) -> tuple[DataFrame, InputVersion]:
    """Exactly the files of the version, independent of the session's read settings."""
    pin = pin_of(found)
    files = version_files(pin)
    reads.add(pin, files)
    return read_pinned(spark, pin, files), pin.input


def pin_of(found: ResolvedDataset) -> InputPin:
    return InputPin(
        input=InputVersion(
            dataset=found.dataset, dataset_id=found.dataset_id, version=found.version
        ),
        snapshot=TableSnapshot(
            location=found.location, table_id=found.table_id, commit=found.commit
        ),
        table_schema=found.table_schema,
    )


def version_files(pin: InputPin) -> list[str]:
    return files_to_read(pin, pin.input.dataset)
