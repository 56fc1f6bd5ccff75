"""A client for one principal, with authorisation of each call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, cast

from lakeguard.access.authorised import Authorised, Guard
from lakeguard.access.permission import OwnRun, OwnTask, Refusing
from lakeguard.access.principal import Principal
from lakeguard.access.session import Session
from lakeguard.access.subjects import Subjects
from lakeguard.access.visible_records import VisibleRecords
from lakeguard.insight.comparison.redacted_answers import redacted_answer
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.privacy.private_columns import hidden_since
from lakeguard.registry.store import require_dataset
from lakeguard_sdk.api.operations import PORTS
from lakeguard_sdk.client import Client
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.model.run import RunTicket
from lakeguard_sdk.ports import Runs
from lakeguard_sdk.scheduling.tasks import Dispatch


def authorised_client(whole: Client, context: PlaneContext, principal: Principal) -> Client:
    """``whole`` has the unchecked ports of the organisation. The client delivers nothing."""
    session, subjects = Session(context, principal), Subjects(context)
    guard = Guard(
        context,
        session,
        subjects,
        lambda name: personal_columns(context, name),
        lambda answer, hidden: redacted_answer(answer, hidden, whole.reader.decision),
    )
    seen = replace(whole, records=VisibleRecords(whole.records, session, subjects))
    ports = {
        name: Authorised(getattr(seen, name), name, kind, guard) for name, kind in PORTS.items()
    }
    client = replace(whole, delivery=None, spark_options={}, **cast("dict[str, Any]", ports))
    if principal.task is None:
        return client
    return _of_task(client, whole, principal.task.ticket)


def _of_task(client: Client, whole: Client, ticket: RunTicket) -> Client:
    """A task reads its inputs, and reports on itself."""
    holder = f"run {ticket.run_id}"
    own = ("reader", "runs", "dispatch")
    refusing = {name: Refusing(holder, name) for name in PORTS if name not in own}
    return replace(
        client,
        runs=cast(Runs, OwnRun(whole.runs, ticket)),
        dispatch=cast(Dispatch, OwnTask(whole.dispatch, ticket)),
        **cast("dict[str, Any]", refusing),
    )


def personal_columns(context: PlaneContext, name: DatasetName) -> Collection[str]:
    """Columns that are or were tagged, or are covered by a current PII policy."""
    with context.read() as tx:
        return hidden_since(tx, require_dataset(tx, name), None)
