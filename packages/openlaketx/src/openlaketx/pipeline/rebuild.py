"""Rebuild of a past run beside its table: the same steps, up to the decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeguard_sdk.client import Progress, WorkerClient
from lakeguard_sdk.errors import LakeGuardError, NotRebuildable
from lakeguard_sdk.model.history import RebuildPlan, Rebuilt
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.model.run import RunPlan, SourceBuild
from lakeguard_sdk.storage.storage import is_remote, join, local_path, storage_for
from openlaketx.engine.file_check import checking_files
from openlaketx.engine.known_files import GivenFiles, SourceFiles
from openlaketx.engine.locations import spark_is_here
from openlaketx.engine.shown_values import mask_columns
from openlaketx.engine.spark.session import Sessions
from openlaketx.isolation.batch_builder import BatchBuilder
from openlaketx.loads import Loaded, apply_load
from openlaketx.measure import measure_options, take_measures
from openlaketx.pipeline.run_dataset import subject_of
from openlaketx.quarantine import QuarantineSplitter
from openlaketx.rebuild import Scratch, check_inputs, compare, gather_source, scratch_place
from openlaketx.stage.run_staging import run_staging


def rebuild_run(
    plan: RebuildPlan,
    client: WorkerClient,
    sessions: Sessions,
    builder: Callable[[str, SourceFiles], BatchBuilder],
    progress: Progress | None,
) -> Rebuilt:
    """Compare the rebuilt rows with those that the run wrote; ``NotRebuildable`` if it cannot be
    rebuilt.

    ``builder`` gets the location of the lake, and the source files that were read before. Nothing
    is submitted or published, and all files are removed.
    """
    storage, run_id = storage_for(plan.run.location), plan.run.ticket.run_id
    try:
        _require_disks(plan, sessions)
        check_inputs(plan, client.lake, storage)
        with (
            checking_files(client.reader),
            scratch_place(client.lake, plan.run.location) as scratch,
        ):
            run, lake, known = _pinned(plan, client, scratch)
            if progress:
                progress("extract", {})
            with _staging(run, lake):
                loaded = _loaded(run, plan, lake, builder(lake, known), sessions)
                if progress:
                    progress("compare", {})
                return compare(plan, loaded, run.under(plan.verdict).table_schema)
    except NotRebuildable:
        raise
    except LakeGuardError as error:
        raise NotRebuildable(run=run_id, reason=str(error)) from error


def _require_disks(plan: RebuildPlan, sessions: Sessions) -> None:
    """A table in an object store is staged on this machine, where its Spark must be."""
    if not is_remote(plan.run.location):
        return
    sessions()
    if not spark_is_here():
        reason = "its table is in an object store, and Spark is on other machines"
        raise NotRebuildable(run=plan.run.ticket.run_id, reason=reason)


@contextmanager
def _staging(run: RunPlan, lake: str) -> Iterator[None]:
    """Of a table in an object store, the store may have copied files that did not change: they are
    removed."""
    with run_staging(run, lake):
        try:
            yield
        finally:
            if is_remote(run.location):
                storage, folder = storage_for(run.location), join(run.location, run.staging)
                for facts in list(storage.files_under(folder)):
                    storage.remove(facts.path, run.location)


def _pinned(
    plan: RebuildPlan, client: WorkerClient, scratch: Scratch
) -> tuple[RunPlan, str, SourceFiles]:
    """The plan over the original input, and the scratch lake that holds it."""
    run, build, known = scratch.plan(plan.run), plan.run.build, GivenFiles({})
    if isinstance(build, QuarantineBuild):
        _put_quarantined(client.lake, scratch.lake, build)
    if isinstance(build, SourceBuild):
        storage = storage_for(plan.run.location)
        gathered, known = gather_source(plan, build, client.lake, scratch.lake, storage)
        run = run.model_copy(update={"build": gathered})
    return run, str(scratch.lake), known


def _put_quarantined(lake: str, place: Path, build: QuarantineBuild) -> None:
    for file in build.files:
        found, target = join(lake, file.path), place / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        if is_remote(found):
            target.write_bytes(storage_for(found).read_bytes(found))
        else:
            target.symlink_to(local_path(found))


def _loaded(
    run: RunPlan, plan: RebuildPlan, lake: str, builder: BatchBuilder, sessions: Sessions
) -> Loaded:
    """Describe, stage and load, as the run did."""
    storage = storage_for(run.location)
    if builder.describe(run) is None:
        raise NotRebuildable(run=plan.run.ticket.run_id, reason="there is nothing to read")
    under = run.under(plan.verdict)
    with mask_columns(under.private):
        splitter = QuarantineSplitter(under, lake, storage, sessions)
        staged = builder.stage(under, plan.verdict)
        loaded = apply_load(staged, sessions, under, storage, splitter.split_rows)
        return _split(under, loaded, splitter, sessions)


def _split(
    run: RunPlan, loaded: Loaded, splitter: QuarantineSplitter, sessions: Sessions
) -> Loaded:
    """The load without the rows that fail a quarantine rule, as in the run."""
    measures = [measure for rule in run.quarantine_rules for measure in (rule.failed, rule.scope)]
    while measures:
        subject = subject_of(run, loaded)
        options = measure_options(run)
        session = options.session(measures, subject, sessions)
        measured = take_measures(measures, subject, options, session)
        left = splitter.split_loaded(loaded, subject, measured)
        if left is None:
            break
        loaded = left
    return loaded
