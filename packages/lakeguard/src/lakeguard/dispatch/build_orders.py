"""Builds that somebody asks for by the name of a dataset, and runs himself."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection

from lakeguard.dispatch import tasks
from lakeguard.dispatch.assigning import assigned_jobs
from lakeguard.registry.store import RegisteredDataset, job_id_of_dataset
from lakeguard.settings.dispatch import DispatchSettings
from lakeguard_sdk.job import JobControls
from lakeguard_sdk.words import TaskKind


def submit_build(
    connection: Connection,
    org_id: str,
    dataset: RegisteredDataset,
    *,
    key: str | None,
    parameters: str,
    triggered_by: str,
    at: datetime,
    rules: DispatchSettings,
) -> str:
    """Workers leave it alone for the length of a lease; then it is theirs, and held to the labels,
    the priority and the attempts of the job that builds the dataset."""
    job_id = job_id_of_dataset(connection, org_id, dataset.name)
    controls = JobControls()
    if job_id is not None:
        controls = assigned_jobs(connection, org_id, [job_id])[job_id].terms.controls
    return tasks.submit(
        connection,
        org_id,
        dataset.dataset_id,
        kind=TaskKind.BUILD,
        key=key,
        parameters=parameters,
        triggered_by=triggered_by,
        at=at,
        attempts=controls.attempts or rules.attempts,
        job_id=job_id,
        due_at=at + rules.lease,
        priority=controls.priority,
        labels=controls.labels,
    )
