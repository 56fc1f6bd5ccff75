"""Loads of every type, with settings that fit the type and the columns; and the code of builds."""

from __future__ import annotations

import hashlib
from typing import Any

from hypothesis import strategies as st

from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import (
    Deletes,
    HashStrategy,
    LateRows,
    LoadType,
    NullWatermark,
)
from lakeguard_sdk.model.definitions import ColumnDefinition, Definitions, FromPython
from lakeguard_sdk.model.load import KEYED_LOADS, Load
from lakeguard_sdk.types.schema import FLOATS, is_numeric

FLAGS = st.booleans()
CODE = "def build(spark, inputs):\n    return next(iter(inputs.values()))\n"
_TIMES = ("date", "timestamp")


def any_load(draw: st.DrawFn, columns: tuple[ColumnDefinition, ...]) -> Load:
    """Valid over these columns."""
    names = [column.name for column in columns]
    exact = [column.name for column in columns if column.type not in FLOATS]
    keys = _some(draw, exact)
    types = [kind for kind in LoadType if keys or kind not in KEYED_LOADS]
    kind = draw(st.sampled_from(types))
    by = _some(draw, names, least=1 if kind is LoadType.PARTITION else 0)
    hashes = [word for word in HashStrategy if keys or word is not HashStrategy.KEY_HASH]
    return Load(
        type=kind,
        keys=keys,
        hash=draw(st.sampled_from(hashes)),
        partition_by=by,
        skip_unchanged=draw(FLAGS),
        **_order(draw, kind, keys, names),
        **_of_type(draw, kind, columns),
        **_watermark(draw, columns, again=bool(keys) or kind is not LoadType.APPEND),
    )


def _some(draw: st.DrawFn, names: list[str], least: int = 0) -> tuple[str, ...]:
    if not names:
        return ()
    return tuple(draw(st.lists(st.sampled_from(names), min_size=least, max_size=2, unique=True)))


def _order(
    draw: st.DrawFn, kind: LoadType, keys: tuple[str, ...], names: list[str]
) -> dict[str, Any]:
    least = 1 if kind is LoadType.CDC else 0
    return {"order_by": _some(draw, names, least)} if keys else {}


def _of_type(
    draw: st.DrawFn, kind: LoadType, columns: tuple[ColumnDefinition, ...]
) -> dict[str, Any]:
    """What only this type of load can say."""
    texts = [column.name for column in columns if column.type == "string"]
    operation = draw(st.sampled_from(["op", "Op, #1", *texts]))
    given: dict[str, Any] = {}
    if kind in (LoadType.SNAPSHOT, LoadType.CDC):
        given["deletes"] = draw(st.sampled_from(Deletes))
    if kind is LoadType.SNAPSHOT:
        given["allow_empty"] = draw(FLAGS)
    if kind is LoadType.CDC or (kind is LoadType.SCD2 and draw(FLAGS)):
        given["operation"] = operation
    if kind is LoadType.SCD2:
        times = [column.name for column in columns if column.type in _TIMES]
        given["effective"] = draw(st.sampled_from(["", *times]))
    return given


def _watermark(
    draw: st.DrawFn, columns: tuple[ColumnDefinition, ...], *, again: bool
) -> dict[str, Any]:
    """``again`` says whether rows may be read a second time."""
    ordered = [c for c in columns if c.type in (*_TIMES, "string") or is_numeric(c.type)]
    if not ordered or draw(FLAGS):
        return {}
    column = draw(st.sampled_from(ordered))
    nulls = [word for word in NullWatermark if again or word is not NullWatermark.LOAD]
    return {
        "watermark": column.name,
        "lag": draw(st.sampled_from(["", *_lags(column.type)])) if again else "",
        "inclusive": again and draw(FLAGS),
        "null_watermark": draw(st.sampled_from(nulls)),
        "late": draw(st.sampled_from(LateRows)),
    }


def _lags(data_type: str) -> tuple[str, ...]:
    if is_numeric(data_type):
        return ("100", "0")
    return {"date": ("2 days",), "timestamp": ("36 hours", "1 day")}.get(data_type, ())


def python_build(name: DatasetName) -> FromPython:
    digest = hashlib.sha256(CODE.encode()).hexdigest()
    return FromPython(file=f"jobs/{name.layer}/{name.name}.py", function="build", sha256=digest)


def python_files(definitions: Definitions) -> dict[str, str]:
    """The code that is in no registry, by the files that the definitions name."""
    builds = (dataset.build for dataset in definitions.datasets)
    return {build.file: CODE for build in builds if isinstance(build, FromPython)}
