"""The result of extraction: a lazy DataFrame and its origin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.evidence import InputVersion, SourcePosition
from lakeguard_sdk.model.lineage import BatchLineage
from lakeguard_sdk.model.run import FrameBuild, PythonBuild, RunPlan, SqlBuild
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.engine.spark.runtime import runtime_of
from openlaketx.extract.frame_lineage import Reads, frame_lineage

Order = tuple[tuple[str, ...], ...]
"""Groups of files, latest last; files of one group have equal rank."""


class Fidelity(StrEnum):
    """How much of a text another engine keeps."""

    TEXT = "text"
    VALUE = "value"
    """A number may be spelled in another way."""
    DOUBLE = "double"
    """A number may be rounded to a double."""


@dataclass(frozen=True)
class PlainTexts:
    """Text files in which every engine finds the same rows and texts."""

    relation: str
    """Their rows for DuckDB, as texts ``c0``, ``c1`` and so on."""
    nulls: tuple[str, ...]
    """Further texts for NULL."""
    rows: int
    size: int
    fidelity: tuple[Fidelity, ...]
    """By column."""


@dataclass(frozen=True)
class Batch:
    """The rows of one run, unchanged from their origin."""

    frame: DataFrame
    live: TableSchema
    inputs: tuple[InputVersion, ...]
    position: SourcePosition | None
    explain: Callable[[Exception], LakeGuardError]
    """Translates a Spark error raised while these rows are computed."""
    confirm: Callable[[], None]
    """Raises if the origin changed during the read."""
    rejected: int = 0
    """Number of malformed lines, quarantined and not among the rows."""
    place_of: Callable[[str, str, str], str] | None = None
    """Location of a value by file, column and text; None if the rows are not from files."""
    reads: Reads = field(default_factory=Reads)
    """The versions that its frame may be made of."""
    origin: SparkSession | None = None
    """The session of the program that made the frame, if it is another one."""
    lineage: BatchLineage | None = None
    """Column lineage from Spark's plan; None if the plan is not visible, or for a source."""
    stream: BatchLineage | None = None
    """For a micro-batch: what its streaming frame is made of."""
    texts: PlainTexts | None = None
    """The files of a frame of texts, column by column, if another engine may read them."""
    order: Order = ()
    """Order of the files, if it decides which row of a key wins. The frame then has an extra column
    with each row's file."""


class ProgramFrame(NamedTuple):
    """A frame that a program publishes, and all that the program has read."""

    frame: DataFrame
    reads: Reads
    stream: BatchLineage | None = None
    """For a micro-batch: what its streaming frame is made of."""


def with_lineage(batch: Batch, plan: RunPlan) -> Batch:
    """The batch with its lineage from Spark's plan, unless it comes from a source. If the plan is
    not visible, the control plane only has the text of the SELECT."""
    if not isinstance(plan.build, SqlBuild | PythonBuild | FrameBuild):
        return batch
    is_select = isinstance(plan.build, SqlBuild) and not plan.transform
    if is_select and not runtime_of(batch.frame).shows_plans:
        return batch
    lineage = frame_lineage(batch.frame, batch.reads, batch.origin)
    if batch.stream is not None:
        lineage = _with_sources(lineage, batch.stream)
    inputs = tuple(dict.fromkeys((*batch.inputs, *lineage.inputs)))
    return replace(batch, lineage=lineage, inputs=inputs)


def _with_sources(batch: BatchLineage, stream: BatchLineage) -> BatchLineage:
    """The plan of a micro-batch shows rows without their sources: those of the streaming frame,
    and what it was joined with, count as read."""
    return batch.model_copy(
        update={
            "inputs": tuple(dict.fromkeys((*batch.inputs, *stream.inputs))),
            "outside": tuple(sorted({*batch.outside, *stream.outside})),
        }
    )


def name_problem(names: tuple[str, ...]) -> str | None:
    """Why these cannot be column names, or None; engines compare names case-insensitively."""
    seen: dict[str, str] = {}
    for name in names:
        if not name.strip():
            return "a column has no name"
        if twin := seen.get(name.casefold()):
            return (
                f"duplicate column {name!r}"
                if twin == name
                else f"columns {twin!r} and {name!r} differ in case only"
            )
        seen[name.casefold()] = name
    return None
