"""Whether what a commit of somebody else says of its files is true: readers skip files by it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError

from lakeguard.insight.verifying.showing import ShownFile, as_shown
from lakeguard_sdk.storage import join, local_path

_MILLISECOND = timedelta(milliseconds=1)
"""Engines write the times of statistics in whole milliseconds, and readers know it."""


def why_not_true(location: str, schema: str, files: Sequence[ShownFile]) -> str | None:
    """What is said wrongly of one of the files; None where size and statistics, if there are any,
    hold for the rows."""
    try:
        for file in files:
            path = Path(local_path(join(location, file.path)))
            if path.stat().st_size != file.size:
                return f"the size of {file.path} is not {file.size:,}"
            wrong = _wrong(path, _claims(schema, file)) if file.stats else None
            if wrong is not None:
                return f"the statistics of {file.path} are not those of its rows: {wrong}"
    except (OSError, pa.ArrowException, DeltaError, ValueError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        return f"its statistics cannot be compared: {reason}"
    return None


def _claims(schema: str, file: ShownFile) -> dict[str, pa.Scalar]:
    """As a reader understands them, with the type of the column."""
    (row,) = as_shown(schema, file.partition, [file]).to_batches()
    return {name: row.column(name)[0] for name in row.schema.names}


def _wrong(path: Path, claims: dict[str, pa.Scalar]) -> str | None:
    file = pq.ParquetFile(path)
    rows = file.metadata.num_rows
    if claims["num_records"].as_py() not in (None, rows):
        return "num_records"
    for name in file.schema_arrow.names:
        said = {key: claims.get(f"{key}.{name}") for key in ("null_count", "min", "max")}
        if any(value is not None and value.is_valid for value in said.values()):
            wrong = _wrong_of(file.read(columns=[name])[name], said)
            if wrong:
                return f"{wrong}.{name}"
    return None


def _wrong_of(values: pa.ChunkedArray, said: dict[str, pa.Scalar | None]) -> str | None:
    nulls, least, most = (_value(said[key]) for key in ("null_count", "min", "max"))
    if nulls not in (None, values.null_count):
        return "null_count"
    for key, bound in (("min", least), ("max", most)):
        claim = said[key]
        if bound is None or claim is None:
            continue
        found = pc.min_max(values.cast(claim.type, safe=False))[key].as_py()
        slack = _MILLISECOND if pa.types.is_timestamp(claim.type) and key == "max" else None
        reach = bound + slack if slack else bound
        if found is not None and (found < bound if key == "min" else found > reach):
            return key
    return None


def _value(said: pa.Scalar | None) -> Any:
    return None if said is None else said.as_py()
