"""All inputs of a build, each pinned."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.run import InputPin
from lakeguard_sdk.words import LoadType
from openlaketx.extract.pinned_input import files_to_read, read_pinned


def pinned_frames(
    session: SparkSession,
    pins: Mapping[str, InputPin],
    dataset: str,
    load: LoadType = LoadType.APPEND,
) -> dict[str, DataFrame] | None:
    """A frame for each input, by its name; None where an incremental input gained no row."""
    files = {name: files_to_read(pin, dataset, load) for name, pin in pins.items()}
    gained = [files[name] for name, pin in pins.items() if pin.since is not None]
    if gained and not any(gained):
        return None
    return {name: read_pinned(session, pin, files[name]) for name, pin in pins.items()}
