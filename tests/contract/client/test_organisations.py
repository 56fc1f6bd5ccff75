"""Organisations that share a State: no method of a port reaches what is another's.

Every method is called with the ids and names of another organisation. It may refuse, or answer as
if there were no such thing; it never shows the other's, and never changes it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from lakeguard.notifications.sender import NotificationSender
from lakeguard.promotion.context import PlaneContext
from lakeguard.promotion.run_port import PromotionRuns
from lakeguard.services.ports.dispatch import EmbeddedDispatch
from lakeguard.services.ports.jobs import EmbeddedJobs
from lakeguard.services.ports.notifications import EmbeddedNotifications
from lakeguard.state import schema as t
from lakeguard.state.tables.metadata import metadata
from lakeguard_sdk import Client
from lakeguard_sdk.errors import LakeGuardError
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.notifications import Notifications, Topic
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.ports import Runs
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import Dispatch, Jobs, TaskReport
from tests.support.projects.jobs import (
    DONE,
    JOB,
    claim_one,
    job_project,
    trigger,
)

pytestmark = pytest.mark.usefixtures("each_state")

OTHERS = "others"
BROKEN = Failure(code="LG-0000", message="no", retryable=True)


def context_of(client: Client) -> PlaneContext:
    assert isinstance(client.jobs, EmbeddedJobs)
    return client.jobs.context


def ports_of(client: Client) -> dict[type[Any], Any]:
    """The ports of the other organisation, on the same State."""
    context = replace(context_of(client), org_id=OTHERS)
    return {
        Dispatch: EmbeddedDispatch(context),
        Jobs: EmbeddedJobs(context),
        Runs: PromotionRuns(context),
        Notifications: EmbeddedNotifications(
            context, {topic: NotificationSender(context, topic, ()) for topic in Topic}
        ),
    }


@dataclass(frozen=True)
class Named:
    """What somebody may know the names of, or make up."""

    ticket: RunTicket
    waiting: str
    version: str
    job: str

    def values(self) -> dict[str, Any]:
        """By the name of a parameter; a port that asks for something else is added here."""
        report = TaskReport(success=False, error=BROKEN)
        return {
            "task_id": self.waiting,
            "only": self.waiting,
            "ticket": self.ticket,
            "tickets": [self.ticket],
            "report": report,
            "reports": [(self.ticket, report)],
            "name": self.job,
            "job": self.job,
            "to": self.version,
            "key": "a",
            "worker": this_process("elsewhere"),
            "failure": BROKEN,
            "enabled": False,
            "triggered_by": "nobody",
            "commit": 1,
            "evidence": Evidence.model_construct(quarantined=None),
            "body": b'{"specversion":"1.0","id":"1","source":"/x","type":"y"}',
            "channel": "webhook",
        }

    def hidden(self, text: str) -> str:
        """The text without the names that were asked for."""
        ticket = self.ticket
        for name in (ticket.task_id, ticket.run_id, self.waiting, self.version, self.job):
            text = text.replace(name, "…")
        return text


def made_up(real: Named) -> Named:
    """Names like those, of nothing at all."""
    ticket = real.ticket.model_copy(
        update={"task_id": _like(real.ticket.task_id), "run_id": _like(real.ticket.run_id)}
    )
    return Named(ticket, _like(real.waiting) + "0", _like(real.version), "no_such_job")


def _like(name: str) -> str:
    return name[:-8] + "0" * 8


def calls(port: type[Any], values: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, method in inspect.getmembers(port, inspect.isfunction):
        if name.startswith("_"):
            continue
        asked = list(inspect.signature(method).parameters.values())[1:]
        fields = {
            each.name: values.get(each.name)
            for each in asked
            if each.name in values or each.default is inspect.Parameter.empty
        }
        if any(each.name == "topic" for each in asked):
            yield from ((name, {**fields, "topic": topic}) for topic in Topic)
        else:
            yield name, fields


def answer_of(call: Callable[..., Any], fields: dict[str, Any]) -> str:
    """What it says, whether it refuses or not."""
    try:
        found = call(**fields)
    except LakeGuardError as error:
        return f"{error.code} {error}"
    return repr(found)


def of_mine(client: Client) -> dict[str, list[str]]:
    """Every row of the first organisation."""
    with context_of(client).read() as tx:
        return {
            table.name: sorted(
                str(tuple(row))
                for row in tx.execute(select(table).where(table.c.org_id == "default"))
            )
            for table in metadata.sorted_tables
        }


def test_no_method_of_a_port_reaches_another_organisation(tmp_path: Path) -> None:
    """What is another's is answered as what does not exist."""
    client = job_project(tmp_path)
    waiting = [trigger(client, key) for key in "ab"]
    claimed = claim_one(client)
    waiting.remove(claimed.ticket.task_id)
    (version,) = (each.dag_version_id for each in client.jobs.dag_versions())
    real = Named(claimed.ticket, waiting[0], version, JOB)
    unreal = made_up(real)
    before, walked = of_mine(client), 0
    for port, theirs in ports_of(client).items():
        for name, fields in calls(port, real.values()):
            method, invented = getattr(theirs, name), unreal.values()
            given = real.hidden(answer_of(method, fields))
            none = answer_of(method, {key: invented.get(key, fields[key]) for key in fields})
            assert given == unreal.hidden(none), f"{port.__name__}.{name}"
            assert of_mine(client) == before, f"{port.__name__}.{name} changed another's"
            walked += 1
    assert walked > 30
    assert client.dispatch.report(claimed.ticket, DONE).task_id == claimed.ticket.task_id


def test_every_row_of_every_table_names_its_organisation() -> None:
    """What a query can be scoped by."""
    assert [table.name for table in metadata.sorted_tables if "org_id" not in table.c] == []
    assert t.tasks.c.org_id is not None
