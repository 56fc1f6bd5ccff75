"""State and data apart: what holds a State is written to by no delivery, whatever its address."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.plane import open_state
from lakeguard.settings import load_settings
from lakeguard_sdk.core.enums import LoadType
from lakeguard_sdk.errors import DeliveryFailed, StateDatabaseShared
from lakeguard_sdk.model.delivery import ASK, role_mark
from lakeguard_sdk.model.load import Load
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from tests.support.databases.databases import Database, Server
from tests.support.databases.databases import schema as state_schema
from tests.support.lakes.delivered_tables import (
    PASSWORD,
    USER,
    Delivery,
    LiveSchema,
)
from tests.support.lakes.delivered_tables import live as live
from tests.support.lakes.plans import schema
from tests.support.projects.planes import NUMBERS
from tests.support.projects.postgresql_target import served_numbers
from tests.support.projects.projects import make_project, states_of
from tests.unit.openlaketx.governed import DATASET_ID

__all__ = ["live", "state_schema"]

KEYED = Load(type=LoadType.FULL, keys=("id",))


@pytest.fixture
def delivery(tmp_path: Path, live: LiveSchema) -> Delivery:
    return Delivery(tmp_path, live, schema(id="long"), KEYED)


def tables(server: Server, database: str, like: str) -> list[object]:
    query = f"SELECT relname FROM pg_class WHERE relname LIKE '{like}'"
    return [name for (name,) in server.sql(query, database)]


def test_a_database_that_holds_a_state_is_refused_before_anything_is_written(
    delivery: Delivery, state_schema: Database
) -> None:
    """Another name of the server, another schema, a role that may not even look into it."""
    state_schema.migrate()
    server = delivery.live.server
    server.sql(f"GRANT CREATE ON DATABASE postgres TO {USER}")
    delivery.published.publish([{"id": 1}])
    try:
        for host in ("127.0.0.1", "localhost"):
            url = f"postgresql://{host}:{server.port}/postgres"
            with pytest.raises(DeliveryFailed, match="contains a State, in schema "):
                delivery.deliver(database=delivery.live.table(url=url))
    finally:
        server.sql(f"REVOKE CREATE ON DATABASE postgres FROM {USER}")
    assert tables(server, "postgres", "lakeguard_delivered") == []
    assert delivery.deliver() is not None, "a database of its own is taken"


def test_the_role_that_keeps_the_state_is_refused(delivery: Delivery) -> None:
    server = delivery.live.server
    ((system, _),) = server.sql(ASK)
    delivery.published.publish([{"id": 1}])
    keeper = delivery.live.table(apart_from=role_mark(system, USER))
    with pytest.raises(DeliveryFailed, match="role owns the State"):
        delivery.deliver(database=keeper)
    assert delivery.live.sql("SELECT to_regclass('{markers}'), to_regclass('{table}')") == [
        (None, None)
    ]
    other = delivery.live.table(apart_from=role_mark(system, "somebody"))
    assert delivery.deliver(database=other) is not None


def test_a_table_with_the_name_of_one_of_ours_is_no_state(delivery: Delivery) -> None:
    delivery.live.sql(f"CREATE SCHEMA {delivery.live.quoted_name} AUTHORIZATION {USER}")
    delivery.live.sql(f"CREATE TABLE {delivery.live.quoted('outbox')} (n int)")
    assert delivery.publish({"id": 1}) is not None


def test_the_marker_names_organisation_job_and_task(delivery: Delivery) -> None:
    delivery.published.publish([{"id": 1}])
    delivery.deliver(database=delivery.live.table(organisation="shop"))
    (marker,) = delivery.live.sql("SELECT org_id, task_id, job_id, dataset_id FROM {markers}")
    assert marker == ("shop", "task_1", None, DATASET_ID)


def test_a_target_in_the_state_s_own_database_is_refused_when_planned(
    tmp_path: Path, live: LiveSchema
) -> None:
    """And a plan of a run tells its writer who keeps the State, as a mark."""
    with states_of("postgresql"):
        client = make_project(tmp_path, served_numbers(live.url))
        state = open_state(load_settings(tmp_path)).url.database
        beside = f"postgresql://localhost:{live.server.port}/{state}"
        with pytest.raises(StateDatabaseShared, match="target serving"):
            client.registry.plan(served_numbers(beside))
        task = client.operations.submit(NUMBERS, "test")
        plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    assert plan.database is not None
    ((system, keeper),) = live.server.sql(ASK)
    assert plan.database.organisation == "default"
    assert plan.database.apart_from == role_mark(system, keeper)
    assert str(keeper) not in plan.to_json()


def test_a_server_that_is_down_is_told_and_made_good_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The version is published all the same; the next delivery brings it."""
    server = Server()
    server.start()
    try:
        live = LiveSchema.create(server)
        for name, value in {"DELIVERY_USER": USER, "DELIVERY_PASSWORD": PASSWORD}.items():
            monkeypatch.setenv(name, value)
        delivery = Delivery(tmp_path, live, schema(id="long"), KEYED)
        delivery.publish({"id": 1})
        server.stop()
        with pytest.raises(DeliveryFailed, match="onnection"):
            delivery.publish({"id": 2})
        server.start()
        assert (live.rows(), live.version()) == ([(1,)], 1)
        assert delivery.deliver() is not None
        assert (live.rows(), live.version()) == ([(2,)], 2)
    finally:
        server.remove()
