"""The client of a principal: it shows what may be read, and does what a role allows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lakeguard.access.authorise import grant_of
from lakeguard.access.principal import (
    Principal,
    PrincipalKind,
    Role,
    parse_namespace,
)
from lakeguard.plane import open_state
from lakeguard.service_plane import client_for
from lakeguard.settings import load_settings
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.dataset_name import parse_address
from lakeguard_sdk.core.enums import LoadType, Severity, TaskState
from lakeguard_sdk.errors import (
    FileDamaged,
    LakeGuardError,
    NotPermitted,
    NotRegistered,
    TableUnreadable,
    UnknownRun,
    UnknownTask,
)
from lakeguard_sdk.model.definitions import Definitions, FromSql, RuleDefinition
from lakeguard_sdk.model.given_values import GivenRow
from lakeguard_sdk.model.plan import Plan, Register
from lakeguard_sdk.model.profile import ColumnProfile, Profile
from lakeguard_sdk.model.run import RunPlan, RunResult
from lakeguard_sdk.scheduling.process_identity import this_process
from openlaketx.engine.file_check import check_files, check_shown, checking_files
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.access_logs import AccessRow, access_rows
from tests.support.projects.definitions import rule
from tests.support.projects.planes import NUMBERS, numbers_definitions
from tests.support.projects.projects import make_project

pytestmark = pytest.mark.usefixtures("each_state")

PEOPLE = DatasetName("bronze.people")


def definitions(*tags: str) -> Definitions:
    """Numbers in the domain ``test``, people in the domain ``hr``."""
    found = numbers_definitions(LoadType.APPEND)
    (numbers,) = found.datasets
    column = numbers.columns[0].model_copy(update={"tags": tags})
    tagged = numbers.model_copy(update={"columns": (column,)})
    people = numbers.model_copy(update={"dataset": PEOPLE, "domain": "hr"})
    return found.model_copy(update={"datasets": (tagged, people)})


@dataclass(frozen=True)
class Place:
    folder: Path
    whole: Client

    def as_user(self, *grants: str, name: str = "ada") -> Client:
        """A user with grants such as ``viewer domain:test``."""
        given = []
        for grant in grants:
            role, _, on = grant.partition(" ")
            namespace = parse_namespace(on)
            given.append(grant_of(Role(role), namespace))
        settings = load_settings(self.folder)
        below = settings.service.model_copy(update={"source_roots": (str(self.folder),)})
        settings = settings.model_copy(update={"service": below})
        user = Principal("default", PrincipalKind.USER, f"usr_{name}", name, tuple(given))
        return client_for(settings, open_state(settings), user)

    def log(self, *, refused: bool = False) -> list[AccessRow]:
        state = OrganisationState.of(open_state(load_settings(self.folder)), "default")
        with state.read() as tx:
            return access_rows(tx, refused=refused)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, make_project(tmp_path, definitions()))


def test_what_may_not_be_read_is_not_there(place: Place) -> None:
    run_by_hand(place.whole, [1, 2])
    (run,) = place.whole.reader.runs()
    task = place.whole.operations.submit(PEOPLE, "x")
    table = place.whole.reader.resolve(parse_address(NUMBERS)).table_id
    hidden = place.as_user("viewer domain:hr")
    assert [row.dataset_name for row in hidden.reader.datasets()] == [PEOPLE]
    assert [row.dataset.dataset_name for row in hidden.reader.status()] == [PEOPLE]
    assert list(hidden.reader.runs()) == []
    assert list(hidden.registry.dataset_ids()) == [PEOPLE]
    assert [each.dataset for each in hidden.registry.definitions().datasets] == [PEOPLE]
    assert hidden.registry.definitions().sources == ()
    assert [row.task_id for row in hidden.jobs.tasks()] == [task]
    nowhere, reader = DatasetName("bronze.numberz"), hidden.reader
    for name in ("dataset", "rules", "versions", "profiles", "schemas", "quarantine", "runs"):
        said = []
        for asked in (NUMBERS, nowhere):
            with pytest.raises(NotRegistered) as refused:
                getattr(reader, name)(asked)
            said.append(str(refused.value).replace(asked, "…"))
        assert said[0] == said[1], "as what does not exist, and no hint at a name"
    for name in ("run", "facts", "decision", "samples", "trends"):
        with pytest.raises(UnknownRun):
            getattr(reader, name)(run.run_id)
    with pytest.raises(LakeGuardError):
        reader.published_files(table, 0)
    with pytest.raises(UnknownTask):
        hidden.jobs.task(run.task_id)
    seen = place.as_user("viewer domain:test")
    assert [row.run_id for row in seen.reader.runs(limit=1)] == [run.run_id]
    assert seen.reader.run(run_id=run.run_id).dataset == NUMBERS


def test_as_many_rows_as_were_asked_for(place: Place) -> None:
    for number in range(3):
        run_by_hand(place.whole, [number])
    for _ in range(5):
        plan = place.whole.runs.open_run(
            place.whole.operations.submit(PEOPLE, "x"), this_process("x")
        )
        assert not isinstance(plan, RunResult)
    seen = place.as_user("viewer domain:test")
    assert len(place.whole.jobs.tasks(limit=3)) == 3
    assert [row.dataset for row in seen.jobs.tasks(limit=3)] == [NUMBERS] * 3
    assert [row.dataset for row in seen.jobs.tasks(limit=2)] == [NUMBERS] * 2


@pytest.mark.parametrize(
    ("role", "allowed"), [("viewer", 0), ("engineer", 2), ("steward", 3), ("admin", 3)]
)
def test_roles(place: Place, role: str, allowed: int) -> None:
    run_by_hand(place.whole, [1])
    until = datetime.now(UTC) + timedelta(days=1)
    for client in (place.as_user(role), place.as_user(f"{role} domain:test")):
        calls = (
            lambda client=client: client.operations.submit(NUMBERS, "x"),
            lambda client=client: client.registry.apply(
                client.registry.plan(numbers_definitions(LoadType.FULL).model_copy(
                    update={"sources": ()}
                ))
            ),
            lambda client=client: client.operations.waive(
                NUMBERS, "x", approver="x", reason="x", until=until
            ),
        )  # fmt: skip
        done = 0
        for call in calls:
            try:
                call()
            except NotPermitted:
                continue
            except LakeGuardError:
                pass
            done += 1
        assert done == allowed


def test_each_access_names_one_principal(place: Place) -> None:
    ada, bob = place.as_user("engineer", name="ada"), place.as_user("viewer", name="bob")
    task = ada.operations.submit(NUMBERS, "somebody else")
    assert ada.jobs.task(task).triggered_by == "ada"
    with pytest.raises(NotPermitted, match="engineer"):
        bob.operations.submit(NUMBERS, "ada")
    ada.reader.status()
    refused, done = place.log()
    assert (done.principal, done.action, done.method) == ("ada", "run", "operations.submit")
    assert (done.dataset, done.allowed, done.reason) == (NUMBERS, True, None)
    assert (refused.principal, refused.dataset, refused.allowed) == ("bob", NUMBERS, False)
    assert "engineer" in str(refused.reason)
    assert place.log(refused=True) == [refused]


def test_nobody_moves_a_dataset_into_his_own_domain(place: Place) -> None:
    ada = place.as_user("engineer domain:test")
    (numbers,) = numbers_definitions(LoadType.APPEND).datasets
    mine = numbers.model_copy(update={"dataset": PEOPLE})
    with pytest.raises(NotRegistered):
        ada.registry.plan(Definitions(datasets=(mine,)))
    plan = place.whole.registry.plan(Definitions(datasets=(mine,)))
    with pytest.raises(NotRegistered):
        ada.registry.apply(plan)
    away = numbers.model_copy(update={"domain": "hr"})
    with pytest.raises(NotPermitted):
        ada.registry.apply(ada.registry.plan(Definitions(datasets=(away,))))
    new = numbers.model_copy(update={"dataset": DatasetName("bronze.new")})
    assert ada.registry.apply(ada.registry.plan(Definitions(datasets=(new,)))).steps == 1


def test_rows_that_come_with_a_plan_are_about_datasets_too(place: Place) -> None:
    ada = place.as_user("engineer domain:test")
    changed = definitions("pii").datasets[0]
    plan = ada.registry.plan(Definitions(datasets=(changed,)))

    def row(name: str, kind: str = "dataset") -> GivenRow:
        return GivenRow((kind, name), "dataset_registry", (), {"owner": "TESTS"})

    for name in (PEOPLE, "bronze.nowhere"):
        with pytest.raises(NotRegistered, match=name):
            ada.registry.apply(plan, given=[row(name)])
        with pytest.raises(NotRegistered, match=name):
            ada.registry.apply(plan.model_copy(update={"steps": ()}), given=[row(name)])
    with pytest.raises(NotPermitted):
        ada.registry.apply(plan, given=[row("numbers", "source")])
    assert ada.registry.apply(plan, given=[row(NUMBERS)]).steps == 1
    assert [key for key in place.whole.registry.given_values() if key[1] == PEOPLE] == []
    plan = place.whole.registry.plan(Definitions())
    with pytest.raises(NotRegistered, match="source nowhere"):
        place.whole.registry.apply(plan, given=[row("nowhere", "source")])


def test_what_a_source_was_is_the_organisations_to_see(place: Place) -> None:
    changed = definitions()
    (source,) = changed.sources
    changed = changed.model_copy(
        update={"sources": (source.model_copy(update={"path": "others/*.csv"}),)}
    )

    def steps(*grants: str) -> list[int]:
        return [len(step.changes) for step in place.as_user(*grants).registry.plan(changed).steps]  # type: ignore[union-attr]

    assert steps("viewer") == [1]
    assert steps("viewer domain:test", "viewer domain:hr") == [0]


def test_nobody_builds_on_what_he_may_not_read(place: Place) -> None:
    ada = place.as_user("engineer domain:test")
    (numbers,) = numbers_definitions(LoadType.APPEND).datasets
    new = DatasetName("silver.new")
    built = FromSql(file="new.sql", text=f"SELECT n FROM {PEOPLE}")
    reading = numbers.model_copy(update={"dataset": new, "parents": (PEOPLE,), "build": built})
    to_people = RuleDefinition(
        rule_id="x",
        rule_type="foreign_key",
        expression=f"foreign_key(n, {PEOPLE}.n)",
        severity=Severity.FAIL,
    )
    referring = numbers.model_copy(update={"rules": (to_people,)})
    for definition in (reading, referring):
        changed = Definitions(datasets=(definition,))
        plan = Plan(registry_head="x", steps=(Register(definition=definition),))
        for call in (lambda c=changed: ada.registry.plan(c), lambda p=plan: ada.registry.apply(p)):
            with pytest.raises(NotRegistered, match=PEOPLE):
                call()


@pytest.mark.parametrize("reads", ["build", "rule"])
def test_nobody_opens_a_run_of_what_he_may_not_read(place: Place, reads: str) -> None:
    run_by_hand(place.whole, [1], place.whole.operations.submit(PEOPLE, "test"))
    new = DatasetName("silver.new")
    (numbers,) = numbers_definitions(LoadType.APPEND).datasets
    built = FromSql(file="new.sql", text=f"SELECT n FROM {PEOPLE if reads == 'build' else NUMBERS}")
    reading = numbers.model_copy(
        update={
            "dataset": new,
            "parents": (PEOPLE if reads == "build" else NUMBERS,),
            "build": built,
            "rules": (rule(f"foreign_key(n -> {PEOPLE}(n))"),) if reads == "rule" else (),
        }
    )
    run_by_hand(place.whole, [1])
    registry = place.whole.registry
    registry.apply(registry.plan(Definitions(datasets=(reading,))))
    ada = place.as_user("engineer domain:test")
    task = ada.operations.submit(new, "test")
    with pytest.raises(NotPermitted, match=f"may read elsewhere, but not on {PEOPLE}"):
        ada.runs.open_run(task, this_process("test"))
    assert place.whole.jobs.task(task).state is TaskState.QUEUED
    (refused,) = place.log(refused=True)
    assert (refused.method, refused.dataset) == ("runs.open_run", PEOPLE)
    both = place.as_user("engineer domain:test", "viewer domain:hr")
    plan = both.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan), plan


def test_what_may_not_be_read_is_not_told_to_be_damaged(place: Place) -> None:
    """As a run finds it that was opened before a grant was revoked, or one built again."""
    run_by_hand(place.whole, [1])
    shown = place.whole.reader.resolve(parse_address(NUMBERS))
    where = (NUMBERS, shown.table_id, shown.location)
    reader = place.as_user("engineer domain:hr").reader
    with checking_files(reader):
        with pytest.raises(NotRegistered, match=NUMBERS):
            check_shown(*where, shown.commit, ["a.parquet"])
        with pytest.raises(NotRegistered, match=NUMBERS):
            check_files(*where, ["a.parquet"])
    another = (NUMBERS, "another table", shown.location)
    with checking_files(place.whole.reader):
        with pytest.raises(TableUnreadable, match="its log was altered"):
            check_shown(*another, shown.commit, ["a.parquet"])
        with pytest.raises(FileDamaged):
            check_files(*another, ["a.parquet"])


def test_personal_values_need_a_grant(place: Place) -> None:
    run_by_hand(place.whole, [1, 2])
    column = ColumnProfile(column="n", type="long", nulls=0, least=1, greatest=2)
    profile = Profile(
        dataset=NUMBERS,
        version=1,
        rows=2,
        columns=(column,),
        engine="by hand",
        taken_at=datetime.now(UTC),
    )
    place.whole.operations.record_profile(profile)
    place.whole.registry.apply(place.whole.registry.plan(definitions("pii")))

    def shown(*grants: str) -> ColumnProfile:
        (found,) = place.as_user(*grants).reader.profiles(NUMBERS)
        return found.columns[0]

    for grants in (("viewer",), ("admin",), ("viewer", "pii domain:hr")):
        masked = shown(*grants)
        assert (masked.masked, masked.least, masked.nulls) == (True, None, 0)
    assert place.log() == []
    place.as_user("viewer bronze", "pii domain:test").reader.profiles(name=NUMBERS)
    (row,) = place.log()
    assert (row.principal, row.action, row.dataset) == ("ada", "read_personal", NUMBERS)
    with pytest.raises(NotRegistered):
        place.as_user("pii").reader.profiles(NUMBERS)


def test_who_was_granted_nothing_gets_nothing(place: Place) -> None:
    nobody = place.as_user()
    for call in (nobody.reader.datasets, nobody.jobs.jobs, nobody.registry.definitions):
        with pytest.raises(NotPermitted):
            call()
    with pytest.raises(NotRegistered):
        nobody.reader.dataset(NUMBERS)


def test_a_search_finds_as_many_as_were_asked_for(place: Place) -> None:
    """In the same order as for somebody who sees everything."""
    (numbers, _) = definitions().datasets
    made = tuple(
        numbers.model_copy(
            update={
                "dataset": DatasetName(f"bronze.wide_{number}"),
                "domain": "test" if number % 3 else "hr",
            }
        )
        for number in range(9)
    )
    registry = place.whole.registry
    registry.apply(registry.plan(Definitions(datasets=made)))
    seen = place.as_user("viewer domain:test").reader
    expected = [row for row in place.whole.reader.search("n", limit=50) if row.domain == "test"]
    assert len(expected) == 7
    for limit in (0, 1, 4, 7, 50):
        assert list(seen.search("n", limit=limit)) == expected[:limit]
    assert list(seen.search("n", domain="hr")) == []
    assert list(place.as_user("viewer domain:none").reader.search("n")) == []
