"""Completing an adoption: the table is the dataset's from now on, and what it shows version 1."""

from __future__ import annotations

from sqlalchemy import Connection

from lakeguard.ledger.intents import record_table
from lakeguard.promotion.claims import other_holder
from lakeguard.promotion.heart import Heart, OpenRun
from lakeguard.promotion.partition_states import Partitions
from lakeguard.promotion.publication import publish_version
from lakeguard_sdk.commits import Commit
from lakeguard_sdk.run import Intent, RunResult


def publish_adopted(
    connection: Connection,
    heart: Heart,
    run: OpenRun,
    intent: Intent,
    commit: Commit,
    partitions: Partitions | None,
) -> RunResult:
    record_table(
        connection,
        heart.org_id,
        intent.dataset_id,
        run.dataset.location,
        intent.table_id,
        heart.clock(),
    )
    return publish_version(connection, heart, run, intent, commit, partitions=partitions)


def adoption_difference(heart: Heart, intent: Intent, commit: Commit) -> str | None:
    """Why the commit does more than to adopt what was judged, or None."""
    if commit.added or commit.removes:
        return "an adoption changes no file"
    if commit.table_id != intent.table_id or commit.partition_by != intent.partition_by:
        return "it is of another table, or partitions it otherwise"
    approved = {file.path for file in intent.adds}
    if heart.tables.files_at(intent.location, commit.version) != approved:
        return "it does not show the files that were approved"
    if not heart.tables.keeps_properties(intent.location, commit.version):
        return "it lacks properties of a governed table"
    with heart.database.read() as connection:
        return other_holder(connection, heart, intent.dataset_id, intent.table_id)
