"""Builds the batch of one run: extract, transform, conform, stage."""

from __future__ import annotations

from typing import Protocol

from lakeguard_sdk.model.run import RunPlan, SchemaVerdict
from lakeguard_sdk.storage.storage import storage_for
from openlaketx.conform import as_accepted, conform, locate_misfits, with_typed_texts
from openlaketx.engine.known_files import SourceFiles
from openlaketx.engine.shown_values import mask_columns
from openlaketx.engine.spark.session import Sessions
from openlaketx.extract import Batch, ProgramFrame, extract, transform, with_lineage
from openlaketx.isolation.messages import BatchFacts
from openlaketx.loads import StagedBatch, stage_batch
from openlaketx.run import collected_notes, collecting_notes


class BatchBuilder(Protocol):
    """``describe`` is called once, then ``stage`` at most once."""

    def describe(self, plan: RunPlan) -> BatchFacts | None:
        """The batch before any row is written; None if there is nothing new to read."""

    def stage(self, plan: RunPlan, verdict: SchemaVerdict) -> StagedBatch:
        """Write the rows as the verdict accepts them; ``plan`` is under the verdict."""


class LocalBuilder:
    """Builds in this process. A source without new files starts no session."""

    def __init__(
        self,
        sessions: Sessions,
        lake: str,
        project: str,
        frame: ProgramFrame | None = None,
        reader: SourceFiles | None = None,
    ) -> None:
        self._sessions = sessions
        self._lake = lake
        self._project = project
        self._frame = frame
        self._reader = reader
        self._batch: Batch | None = None

    def describe(self, plan: RunPlan) -> BatchFacts | None:
        storage = storage_for(plan.location)
        with collecting_notes(), mask_columns(plan.private):
            batch = extract(
                plan,
                self._sessions,
                self._lake,
                storage,
                project=self._project,
                frame=self._frame,
                reader=self._reader,
            )
            if batch is None:
                return None
            self._batch = batch = with_lineage(transform(batch, plan), plan)
            return BatchFacts(
                live=batch.live,
                inputs=batch.inputs,
                lineage=batch.lineage,
                position=batch.position,
                rejected=batch.rejected,
                ordered=bool(batch.order),
                skip_empty=batch.stream is not None,
                notes=collected_notes(),
            )

    def stage(self, plan: RunPlan, verdict: SchemaVerdict) -> StagedBatch:
        if self._batch is None:
            raise ValueError("the batch was not described")
        with mask_columns(plan.private), with_typed_texts(self._batch, plan) as batch:
            batch = as_accepted(batch, verdict, plan, self._lake)
            batch = locate_misfits(batch, plan.batch_schema)
            frame = conform(batch.frame, batch.live, plan.batch_schema, plan.dataset)
            return stage_batch(frame, batch, plan, storage_for(plan.location))
