"""Checks that the table files that a run read still exist."""

from __future__ import annotations

from deltalake.exceptions import DeltaError, TableNotFoundError

from lakeguard_sdk.errors import NotRebuildable
from lakeguard_sdk.model.history import RebuildPlan
from lakeguard_sdk.model.quarantine import QuarantineBuild
from lakeguard_sdk.storage.storage import Storage, join
from openlaketx.engine.delta_table import live_files, open_table
from openlaketx.extract.pinned_inputs import files_to_read


def check_inputs(plan: RebuildPlan, lake: str, storage: Storage) -> None:
    """``NotRebuildable`` if maintenance removed files of its base, of an input, or of its own."""
    run, run_id = plan.run, plan.run.ticket.run_id
    for pin in run.pins:
        name = f"{pin.input.dataset}@v{pin.input.version}"
        _check(run_id, name, files_to_read(pin, str(run.dataset), run.load.type), storage)
    if run.base is not None:
        _check(run_id, f"its base v{run.base.version}", _base(plan), storage)
    own = [join(run.location, file.path) for file in plan.evidence.files]
    _check(run_id, "what it wrote", own, storage)
    if isinstance(run.build, QuarantineBuild):
        quarantined = [join(lake, file.path) for file in run.build.files]
        _check(run_id, "the quarantined rows", quarantined, storage)


def _base(plan: RebuildPlan) -> list[str]:
    run = plan.run
    commit = None if run.base is None else run.base.commit
    try:
        found = live_files(open_table(run.location, commit))
    except (DeltaError, TableNotFoundError) as error:
        line = next(iter(str(error).splitlines()), type(error).__name__)
        raise NotRebuildable(
            run=run.ticket.run_id, reason=f"cannot read its base: {line}"
        ) from None
    return [join(run.location, path) for path in found]


def _check(run_id: str, what: str, files: list[str], storage: Storage) -> None:
    gone = [file for file in files if not storage.exists(file)]
    if gone:
        reason = f"{len(gone)} of {len(files)} files of {what} were removed since"
        raise NotRebuildable(run=run_id, reason=reason)
