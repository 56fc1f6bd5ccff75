"""Ids of an organisation in which everything has happened once, and requests that name them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.api.operation import Operation
from lakeguard_sdk.api.port_types import types_of
from lakeguard_sdk.api.remote_calls import Request, _request
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.expressions.measures import RowCount
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.evidence import Evidence
from lakeguard_sdk.model.plan import Plan, Revise
from lakeguard_sdk.model.profile import ColumnProfile, Profile
from lakeguard_sdk.model.quarantine import QuarantineSelection
from lakeguard_sdk.model.row_ranges import WHOLE
from lakeguard_sdk.model.run import Failure, RunTicket
from lakeguard_sdk.model.streams import StreamReport, StreamState
from lakeguard_sdk.model.table_operations import Compacted
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.query import MetadataQuery
from lakeguard_sdk.records.record import MetadataRecord, MetadataTarget
from lakeguard_sdk.scheduling.invalidations import Reason
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.tasks import TaskReport
from tests.support.cases.records import quality
from tests.support.lakes.quarantined_by_hand import ByHand, definitions
from tests.support.projects.jobs import JOB, trigger
from tests.support.projects.planes import NUMBERS
from tests.support.projects.served_roles import (
    PRESENT,
)

REPORT = TaskReport(success=False, error=Failure(code="LG-0000", message="no", retryable=True))
STREAM = StreamReport(query_id="q", state=StreamState.RUNNING, process=this_process("elsewhere"))
EVENT = b'{"specversion":"1.0","id":"1","source":"/x","type":"y"}'
OPTIONAL = frozenset({"name", "job", "only", "to", "declared", "dataset"})
"""Parameters that may be left out, and hold an id."""
MADE = re.compile(r"\b(?:[a-z]{2,8}_[0-9A-HJKMNP-TV-Z]{26}|op_[0-9a-f]{32}|[0-9a-f]{40,64})\b")
SIGNATURE = re.compile(r"[A-Za-z0-9+/]{86}==")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+Z")

ODD = MetadataKind(kind="odd", json_schema={"type": "object"})


@dataclass(frozen=True)
class Ids:
    """What an organisation has, or what nobody has."""

    dataset: DatasetName
    dataset_id: str
    table_id: str
    job: str
    graph: str
    waiting: str
    run_id: str
    ticket: RunTicket
    evidence: Evidence
    waiver_id: str
    invalidation_id: str
    profile: Profile
    commit: int
    paths: tuple[str, ...]

    def values(self, operation: Operation) -> dict[str, Any]:
        """By the name of a parameter; one of a new method is added here."""
        job = operation.name.startswith("jobs.")
        defined = definitions(dataset=self.dataset)
        return {
            "name": self.job if job else self.dataset,
            "job": self.job,
            "dataset": self.dataset,
            "dataset_id": self.dataset_id,
            "table_id": self.table_id,
            "task_id": self.waiting,
            "only": self.waiting,
            "run_id": self.run_id,
            "before": self.run_id,
            "after": "" if operation.name == "reader.source_file_page" else self.run_id,
            "ticket": self.ticket,
            "tickets": [self.ticket],
            "reports": [(self.ticket, REPORT)],
            "report": STREAM if operation.name == "operations.record_stream" else REPORT,
            "evidence": self.evidence,
            "profile": self.profile,
            "waiver_id": self.waiver_id,
            "invalidation_id": self.invalidation_id,
            "address": parse_address(self.dataset),
            "to": self.graph if job else 1,
            "version": 1,
            "commit": self.commit,
            "keys": ["numbers/1.csv"],
            "paths": list(self.paths),
            "choice": QuarantineSelection(runs=(self.run_id,)),
            "measures": [RowCount()],
            "plan": self.plan(defined),
            "body": EVENT,
            "draft": defined.datasets[0],
            "declared": defined.datasets[0],
            "definitions": defined,
            "since": datetime(2026, 1, 1, tzinfo=UTC),
            "until": datetime.now(UTC) + timedelta(days=1),
            "worker": this_process("elsewhere"),
            "live": self.evidence.table_schema,
            "samples": (),
            "failure": REPORT.error,
            "compacted": Compacted(base_commit=0, adds=(), removes=(), rows=0, before="", after=""),
            "triggered_by": "nobody",
            "reason": Reason.MANUAL if operation.name == "operations.invalidate" else "a test",
            "why": "a test",
            "approver": "nobody",
            "check": PRESENT,
            "reach": WHOLE,
            "enabled": False,
            "found": [],
            "location": "tables/x",
            "topic": "alerts",
            "channel": "webhook",
            "text": "numbers",
            "record": self.record,
            "records": [self.record],
            "target": self.record.target,
            "query": MetadataQuery(targets=(self.record.target,)),
            "kind": ODD if operation.name == "records.register_kind" else self.record.kind,
        }

    @property
    def record(self) -> MetadataRecord:
        """About the dataset, of an organisation that is none of those asked."""
        layer, _, name = self.dataset.partition(".")
        target = MetadataTarget(source_id="lake", schema_=layer, table=name)
        return quality("a", target=target, run=self.run_id, tenant="third")

    @property
    def secret(self) -> tuple[str, ...]:
        """What no list shows to others."""
        ids = (self.dataset_id, self.table_id, self.waiting, self.run_id, self.ticket.run_id)
        return (*ids, self.dataset, self.waiver_id, self.invalidation_id)

    def plan(self, defined: Definitions) -> Plan:
        """It revises what it may have read elsewhere."""
        (definition,) = defined.datasets
        revise = Revise(key=self.dataset_id, revision=1, definition=definition, changes=())
        return Plan(registry_head="x", steps=(revise,))

    def hidden(self, text: str) -> str:
        """The text without the ids."""
        named = {
            "DATASET_ID": self.dataset_id,
            "TABLE": self.table_id,
            "GRAPH": self.graph,
            "WAITING": self.waiting,
            "RUN": self.run_id,
            "TICKET": self.ticket.run_id,
            "TASK": self.ticket.task_id,
            "WAIVER": self.waiver_id,
            "INVALIDATION": self.invalidation_id,
            "DATASET": self.dataset,
            "JOB": self.job,
        }
        for shown, value in named.items():
            text = text.replace(value, shown)
        text = SIGNATURE.sub("SIGNATURE", text)
        return MOMENT.sub("MOMENT", MADE.sub("MADE", text))


def ids_of(client: Client) -> Ids:
    """Of an organisation in which everything has happened once."""
    hand = ByHand(client)
    hand.run([1, 2, -1])
    table = client.reader.resolve(parse_address(NUMBERS))
    (run,) = client.reader.runs()
    waiting = trigger(client, "waiting")
    plan = hand.opened()
    evidence = hand.evidence(plan, [3])
    profile = Profile(
        dataset=NUMBERS,
        version=1,
        rows=2,
        columns=(ColumnProfile(column="n", type="long", nulls=0, least=1, greatest=2),),
        engine="by hand",
        taken_at=datetime.now(UTC),
    )
    client.operations.record_profile(profile)
    until = datetime.now(UTC) + timedelta(days=1)
    waiver = client.operations.waive(NUMBERS, PRESENT, approver="ada", reason="a test", until=until)
    found = client.operations.invalidate(NUMBERS, WHOLE, Reason.MANUAL)
    client.operations.reconcile()  # or whoever asks for it next launches the repair
    (graph,) = client.jobs.dag_versions()
    return Ids(
        dataset=NUMBERS,
        dataset_id=run.dataset_id,
        table_id=table.table_id,
        job=JOB,
        graph=graph.dag_version_id,
        waiting=waiting,
        run_id=run.run_id,
        ticket=plan.ticket,
        evidence=evidence,
        waiver_id=waiver.waiver.waiver_id,
        invalidation_id=found.invalidation_id,
        profile=profile,
        commit=table.commit,
        paths=tuple(sorted(client.reader.published_files(table.table_id, table.commit))),
    )


def like(text: str) -> str:
    """An id of the same form that nobody has."""
    return text[:-8] + "0" * 8


def unknown(real: Ids) -> Ids:
    ticket = real.ticket.model_copy(
        update={"run_id": like(real.ticket.run_id), "task_id": like(real.ticket.task_id)}
    )
    nowhere = DatasetName("bronze.nowhere")
    return Ids(
        dataset=nowhere,
        dataset_id=like(real.dataset_id),
        table_id=like(real.table_id),
        job="nobody",
        graph=like(real.graph),
        waiting=like(real.waiting),
        run_id=like(real.run_id),
        ticket=ticket,
        evidence=real.evidence.model_copy(update={"dataset": nowhere, "run_id": ticket.run_id}),
        waiver_id=like(real.waiver_id),
        invalidation_id=like(real.invalidation_id),
        profile=real.profile.model_copy(update={"dataset": nowhere}),
        commit=real.commit,
        paths=real.paths,
    )


def request_of(operation: Operation, ids: Ids) -> Request:
    """With these ids wherever the operation takes one."""
    types, values = types_of(operation), ids.values(operation)
    given = {
        name: values[name]
        for name, parameter in types.parameters.items()
        if parameter.is_required or name in OPTIONAL
    }
    return _request(types, given)


def sent(client: httpx.Client, request: Request) -> httpx.Response:
    return client.request(
        request.verb,
        request.url,
        params=list(request.query),
        content=request.body,
        headers=dict(request.headers),
    )


def ask(client: httpx.Client, operation: Operation, ids: Ids) -> httpx.Response:
    return sent(client, request_of(operation, ids))


def ended(client: httpx.Client, reply: httpx.Response) -> tuple[int, str]:
    """Status and body; of what takes long, those of its end."""
    state = {"status": "done"} if reply.status_code != 202 else reply.json()
    while state["status"] == "running":
        state = client.get(reply.headers["location"], params={"wait": "5"}).json()
    if reply.status_code != 202:
        return reply.status_code, reply.text
    problem = state["problem"]
    return (problem["status"] if problem else 200), json.dumps([state["result"], problem])
