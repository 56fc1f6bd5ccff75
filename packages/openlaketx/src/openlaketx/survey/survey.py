"""A survey: the measures of a run, taken of a version long after its run has ended."""

from __future__ import annotations

from collections.abc import Sequence

from deltalake.exceptions import DeltaError, TableNotFoundError

from lakeguard_sdk.errors import VersionUnreadable
from lakeguard_sdk.measure import AnyMeasure, GroupBreach, measure_key
from lakeguard_sdk.storage import Storage, join, storage_for
from lakeguard_sdk.survey import Surveyed, SurveyPlan
from lakeguard_sdk.words import Scope
from openlaketx.engine.delta_table import LiveFile, left_to_log, live_files, open_table
from openlaketx.measure import Referenced, Subject, take_measures
from openlaketx.measure.references import pinned_rows
from openlaketx.stage import Candidate
from openlaketx.survey.brought import NotKept, brought_files


def survey(plan: SurveyPlan) -> Surveyed:
    """What the run's own evidence would say, by the same engine over the same rows.

    ``VersionUnreadable`` where files of the version are gone. Where only those are gone that told
    its new rows apart, measures of scope batch have no value, and the rest has.
    """
    storage = storage_for(plan.snapshot.location)
    shown = _shown(plan, storage)
    try:
        batch, reason = brought_files(plan, shown, storage), ""
    except NotKept as error:
        batch, reason = Candidate(plan.snapshot.location, (), ()), str(error)
    asked = [item for item in plan.measures if not reason or _scope(item) is Scope.TABLE]
    measured = take_measures(asked, _subject(plan, shown, batch))
    untold = {measure_key(item): reason for item in plan.measures if item not in asked}
    return Surveyed(
        rows=plan.rows,
        table_rows=_rows(shown),
        values=measured.values,
        unmeasured={**measured.unmeasured, **untold},
    )


def _scope(measure: AnyMeasure) -> Scope:
    """Whatever names no scope is asked of the batch."""
    asked = measure.of if isinstance(measure, GroupBreach) else measure
    return getattr(asked, "scope", Scope.BATCH)


def _shown(plan: SurveyPlan, storage: Storage) -> list[LiveFile]:
    """Every file of the version, each in its place."""
    snapshot = plan.snapshot
    try:
        table = open_table(snapshot.location, snapshot.commit)
    except (DeltaError, TableNotFoundError) as error:
        raise _unreadable(plan, next(iter(str(error).splitlines()), "its log is gone")) from None
    found = str(table.metadata().id)
    if found != snapshot.table_id:
        raise _unreadable(plan, f"the table is {found} and not {snapshot.table_id}")
    live = live_files(table)
    files = [live[path] for path in sorted(live)]
    gone = [file for file in files if not storage.exists(join(snapshot.location, file.path))]
    if gone:
        raise _unreadable(
            plan, f"{len(gone)} of its {len(files)} files are gone, such as {gone[0].path}"
        )
    return files


def _subject(plan: SurveyPlan, shown: Sequence[LiveFile], batch: Candidate) -> Subject:
    location, paths = plan.snapshot.location, tuple(file.path for file in shown)
    lacking = left_to_log(open_table(location, plan.snapshot.commit), paths)
    own = Referenced(location, paths, plan.table_schema, lacking)
    return Subject(
        batch,
        plan.table_schema,
        paths,
        _rows(shown),
        lacking=lacking,
        references={plan.dataset: own} | pinned_rows(plan.references, plan.dataset),
    )


def _rows(files: Sequence[LiveFile]) -> int:
    return sum(file.rows or 0 for file in files)


def _unreadable(plan: SurveyPlan, reason: str) -> VersionUnreadable:
    return VersionUnreadable(dataset=plan.dataset, version=plan.version, reason=reason)
