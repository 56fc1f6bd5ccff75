"""Task tokens: signed for one attempt, and dead with its lease."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import pytest

from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import PrincipalKind, TaskGrants
from lakeguard.access.task_tokens import LONGEST_HEADER, TaskTokens, grants_of
from lakeguard.plane import keys_of, open_state
from lakeguard.service_plane import client_for
from lakeguard.settings import load_settings
from lakeguard_sdk import Client
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import (
    BadToken,
    Fenced,
    LakeGuardError,
    NoteRefused,
    NotPermitted,
    NotRegistered,
)
from lakeguard_sdk.model.evidence import checked_notes
from lakeguard_sdk.model.run import Failure, RunPlan, RunTicket
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.scheduling.task_token import LIFETIME, PREFIX
from lakeguard_sdk.scheduling.tasks import TaskReport
from lakeguard_sdk.security.secret_values import holds_secret, masked
from tests.support.projects.planes import NUMBERS
from tests.support.projects.projects import numbers_project

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TICKET = RunTicket(
    run_id=new_id("run"), task_id=new_id("task"), attempt=3, lease_token=new_id("lease")
)
PINS = (("bronze.a", 3), ("silver.b", 0))
GRANTS = TaskGrants(TICKET, PINS, ("s3://lake/silver/b/_runs/1",), new_id("key"))
KEYS = IdentityKeys()
TOKENS = TaskTokens(KEYS, "default")


def test_a_token_is_what_it_was_issued_for() -> None:
    principal = TOKENS.read(TOKENS.issue(GRANTS, NOW), NOW)
    assert principal.kind is PrincipalKind.TASK
    assert principal.task == GRANTS
    assert principal.until == NOW + LIFETIME
    assert TOKENS.task_of(TOKENS.issue(GRANTS, NOW)).ticket == TICKET


def test_a_token_that_is_over_reports_but_does_nothing_else() -> None:
    text = TOKENS.issue(GRANTS, NOW)
    later = NOW + LIFETIME
    with pytest.raises(BadToken):
        TOKENS.read(text, later)
    assert TOKENS.task_of(text).ticket == TICKET, "the lease decides"


@pytest.mark.parametrize(("inputs", "named"), [(50, 51), (5_000, 1)])
def test_the_token_of_a_worker_fits_into_a_header(inputs: int, named: int) -> None:
    many = tuple((f"silver.dataset_{number}", number) for number in range(1, inputs + 1))
    grants = replace(GRANTS, pins=(*many, ("gold.all", 0)))
    text = TOKENS.issue_to_worker(grants, NOW)
    assert len(text) <= LONGEST_HEADER
    task = TOKENS.read(text, NOW).task
    assert task is not None
    assert len(task.pins) == named
    assert replace(task, pins=()) == replace(GRANTS, pins=())
    assert ("gold.all", 0) in task.pins


def test_nothing_else_is_one() -> None:
    text = TOKENS.issue(GRANTS, NOW)
    head, body, signature = text.split(".")
    claims = jwt.decode(text.removeprefix(PREFIX), options={"verify_signature": False})
    key = KEYS.signing_key()
    wrong = [
        "", PREFIX, text[:-2], f"{text}\n", text.removeprefix(PREFIX), f"{head}.{body}.",
        f"{head}.{head}.{signature}", PREFIX + "A" * 100_000,
        PREFIX + jwt.encode(claims, "", "none"),
        PREFIX + jwt.encode(claims, "k" * 32, "HS256"),
        TaskTokens(IdentityKeys(), "default").issue(GRANTS, NOW),
        TaskTokens(KEYS, "others").issue(GRANTS, NOW),
    ]  # fmt: skip
    for name in claims:
        left = {each: value for each, value in claims.items() if each != name}
        wrong.append(PREFIX + jwt.encode(left, key, "EdDSA"))
    for change in ({"attempt": "3"}, {"aud": "x"}, {"datasets": 1}, {"lease": None}):
        wrong.append(PREFIX + jwt.encode({**claims, **change}, key, "EdDSA"))
    for each in wrong:
        for read in (lambda text: TOKENS.read(text, NOW), TOKENS.task_of):
            with pytest.raises(BadToken):
                read(each)


def test_a_token_is_known_as_a_secret() -> None:
    text = TOKENS.issue(GRANTS, NOW)
    assert holds_secret(f"sent {text} along")
    assert text.rpartition(".")[2] not in masked(f"sent {text} along")
    with pytest.raises(NoteRefused):
        checked_notes({"said": text})


@pytest.mark.parametrize(
    ("location", "inside"),
    [
        ("s3://lake/silver/b/_runs/1/part.parquet", True),
        ("s3://lake/silver/b/_runs/1", False),
        ("s3://lake/silver/b/_runs/10/part.parquet", False),
        ("s3://lake/silver/b/_runs/1/../2/part.parquet", False),
        ("s3://lake/silver/b/part.parquet", False),
    ],
)
def test_a_task_writes_below_its_prefixes(location: str, inside: bool) -> None:
    assert GRANTS.may_write(location) is inside


# What its client may do.


@pytest.fixture
def whole(tmp_path: Path) -> Client:
    return numbers_project(tmp_path)


def opened(client: Client) -> RunPlan:
    plan = client.runs.open_run(client.operations.submit(NUMBERS, "test"), this_process("test"))
    assert isinstance(plan, RunPlan)
    return plan


def held_by(folder: Path, plan: RunPlan) -> Client:
    settings = load_settings(folder)
    database = open_state(settings)
    tokens = TaskTokens(keys_of(settings), settings.organisation)
    now = database.clock()
    text = tokens.issue(grants_of(plan, settings.lake), now, timedelta(minutes=5))
    return client_for(settings, database, tokens.read(text, now))


@pytest.mark.usefixtures("each_state")
def test_a_task_reads_its_datasets_and_reports_on_itself(whole: Client, tmp_path: Path) -> None:
    plan, other = opened(whole), opened(whole)
    client = held_by(tmp_path, plan)
    assert [row.dataset_name for row in client.reader.datasets()] == [NUMBERS]
    assert client.runs.heartbeat(plan.ticket) > 0
    assert client.dispatch.keep([plan.ticket])
    with pytest.raises(NotRegistered):
        client.reader.resolve(parse_address("gold.secrets"))
    refused = (
        lambda: client.runs.heartbeat(other.ticket),
        lambda: client.runs.open_run(plan.ticket.task_id, this_process("x")),
        lambda: client.dispatch.keep([other.ticket]),
        lambda: client.dispatch.report(other.ticket, TaskReport(success=True)),
        lambda: client.dispatch.claim(this_process("x")),
        lambda: client.operations.submit(NUMBERS, "x"),
        lambda: client.registry.definitions(),
        lambda: client.jobs.tick(),
        lambda: client.ledger.verify(),
    )
    for call in refused:
        with pytest.raises(NotPermitted):
            call()
    client.runs.fail_run(plan.ticket, Failure(code="x", message="x"))
    with pytest.raises(Fenced):
        client.runs.heartbeat(plan.ticket)
    with pytest.raises(LakeGuardError):
        client.runs.begin_move(plan.ticket)


def test_a_run_may_write_below_its_own_staging_folder(whole: Client) -> None:
    plan, other = opened(whole), opened(whole)
    grants = grants_of(plan, whole.lake)
    held = TOKENS.read(TOKENS.issue(grants, NOW), NOW).task
    assert held == grants
    quarantine = f"{whole.lake}/quarantine/bronze/numbers"
    assert grants.prefixes == (f"{plan.location}/{plan.staging}", quarantine)
    assert grants.may_write(f"{quarantine}/execution_id={plan.ticket.run_id}/part-0.parquet")
    assert grants.may_write(f"{plan.location}/{plan.staging}/part-0.parquet")
    for elsewhere in (
        f"{plan.location}/part-0.parquet",
        f"{plan.location}/_delta_log/00000000000000000001.json",
        f"{other.location}/{other.staging}/part-0.parquet",
        f"{plan.location}/{plan.staging}/../part-0.parquet",
    ):
        assert not grants.may_write(elsewhere)
