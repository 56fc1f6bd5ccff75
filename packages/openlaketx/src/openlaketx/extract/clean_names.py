"""Raw names of a source's files under the names that the dataset declares."""

from __future__ import annotations

from dataclasses import replace

from lakeguard_sdk.clean_names import clean_column
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.run import SourceBuild
from lakeguard_sdk.schema import Column, TableSchema
from openlaketx.engine.spark_types import quoted_name
from openlaketx.extract.batch import Batch
from openlaketx.extract.file_order import ROW_FILE


class SameName(ValueError):
    """Two raw names have one clean name; says which."""


def clean_names(raw: tuple[str, ...], declared: tuple[str, ...]) -> tuple[str, ...]:
    """A name that is declared stays; any other is cleaned. ``SameName`` where two become one."""
    names: dict[str, str] = {}
    for name in raw:
        clean = name if name in declared else clean_column(name) or name
        if twin := names.get(clean):
            raise SameName(f"columns {twin!r} and {name!r} are both {clean!r} when cleaned")
        names[clean] = name
    return tuple(names)


def with_clean_names(
    batch: Batch, build: SourceBuild, declared: TableSchema, dataset: str
) -> Batch:
    """The same rows; columns that are declared under their clean names have those."""
    try:
        names = clean_names(batch.live.names, declared.names)
    except SameName as problem:
        raise SourceUnreadable(source=build.source, reason=str(problem), dataset=dataset) from None
    if names == batch.live.names:
        return batch
    both = list(zip(batch.live.columns, names, strict=True))
    frame = batch.frame.select(
        *(batch.frame[quoted_name(column.name)].alias(name) for column, name in both),
        *([ROW_FILE] if batch.order else []),
    )
    live = TableSchema(columns=tuple(Column(name=name, type=column.type) for column, name in both))
    return replace(batch, frame=frame, live=live)
