"""Notes on the control tables of jobs, datasets, sources and targets."""

from __future__ import annotations

from lakeguard.state.table_note import Family, Invariant, TableNote

_TOLD = ("tests/contract/test_seed_views.py::test_every_view_tells_the_truth",)
_SECRETS = (
    "tests/unit/registry/test_hostile.py::test_a_secret_is_refused_anywhere_and_shown_nowhere",
)


def _latest(of: str) -> Invariant:
    return Invariant(f"One row per key: the latest revision in `{of}`.", tests=_TOLD)


def _detail(of: str) -> Invariant:
    return Invariant(
        f"Each name is there once per {of}, with its value in the latest revision.", tests=_TOLD
    )


CONTROL_NOTES: dict[str, TableNote] = {
    "md_jobs": TableNote(
        Family.CONTROL,
        "The jobs there are, whose they are and which dataset each of them builds.",
        (_latest("md_jobs_revisions"),),
        key=("job_id",),
        nullable=("dataset_name",),
    ),
    "md_jobs_det": TableNote(
        Family.CONTROL,
        "What a job's worker is given as parameters, name by name.",
        (_detail("job"), Invariant("A secret is a reference to it.", tests=_SECRETS)),
        key=("job_id", "detail_name"),
    ),
    "md_jobconfig": TableNote(
        Family.CONTROL,
        "What controls when and how a job is started, name by name.",
        (_detail("job"),),
        key=("job_id", "config_name"),
    ),
    "md_job_execution": TableNote(
        Family.CONTROL,
        "Every attempt of every task as an execution of its job: STARTED, COMPLETED or FAILED. A"
        " task that was refused or canceled while it waited is one more each time: the first before"
        " any attempt under its own id, each other with the number of its change.",
        (
            Invariant(
                "An attempt without a row in `run_history` or `task_results` is STARTED and has no"
                " end.",
                tests=_TOLD,
            ),
            Invariant(
                "A blocked run is FAILED, and its error code says that it was blocked.",
                tests=_TOLD,
            ),
            Invariant(
                "A launch that was refused, or canceled before it began, is FAILED and says why;"
                " what becomes of the task later stands beside it.",
                tests=_TOLD,
            ),
            Invariant(
                "Without a job, the dataset's own id stands for it; a job that builds no dataset"
                " names none.",
                tests=_TOLD,
            ),
            Invariant(
                "An execution that has ended never changes, and the ledger has it once.",
                tests=(
                    "tests/contract/test_executions.py::test_the_ledger_has_each_execution_once",
                    "tests/contract/test_job_history.py::test_what_came_before_is_not_overwritten",
                ),
            ),
        ),
        key=("execution_id",),
        nullable=("end_time", "error_code", "dataset_id", "config_hash"),
    ),
    "md_datasets": TableNote(
        Family.CONTROL,
        "Each dataset as a table with its domain, its layer and the target that it lies in.",
        (
            Invariant(
                "One row per dataset of `dataset_registry`; without a target the lake itself is"
                " meant.",
                tests=_TOLD,
            ),
        ),
        key=("dataset_id",),
        nullable=("target_id",),
    ),
    "md_src_ctrl": TableNote(
        Family.CONTROL,
        "The sources there are, and whether they may be read.",
        (
            Invariant("One row per source of `source_systems`.", tests=_TOLD),
            Invariant(
                "A source that is not enabled is not read.",
                tests=(
                    "tests/contract/test_opening.py::test_a_disabled_source_is_refused_by_name",
                ),
            ),
        ),
        key=("source_id",),
    ),
    "md_src_det": TableNote(
        Family.CONTROL,
        "How a source is reached and read: format, path or url, options, details and secrets.",
        (
            _detail("source"),
            Invariant(
                "A detail named like the format, the place or an option gives way to it.",
                tests=_TOLD,
            ),
            Invariant("A secret is a reference to it.", tests=_SECRETS),
        ),
        key=("source_id", "detail_name"),
    ),
    "md_tgt_ctrl": TableNote(
        Family.CONTROL,
        "The targets there are: where they lie, of which type, in which zone, active or not.",
        (_latest("md_tgt_ctrl_revisions"),),
        key=("target_id",),
    ),
    "md_tgt_det": TableNote(
        Family.CONTROL,
        "How tables of a target are written: format, partitions, transform and further details.",
        (
            _detail("target"),
            Invariant("What a target does not say has no row.", tests=_TOLD),
        ),
        key=("target_id", "detail_name"),
    ),
    "md_src_tgt_ctrl": TableNote(
        Family.CONTROL,
        "Which source may write to which target, in what relationship.",
        (
            Invariant(
                "One row for each source that the target's latest revision names; one that is"
                " switched off stays, not enabled.",
                tests=_TOLD,
            ),
        ),
        key=("source_id", "target_id"),
    ),
}
