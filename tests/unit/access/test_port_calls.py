"""Every method of every port has one row that says who may call it."""

from __future__ import annotations

import dataclasses
import inspect

import pytest

from lakeguard.access.authorised import Authorised
from lakeguard.access.port_calls import CALLS, About
from lakeguard.access.principal import Action
from lakeguard.access.visible import SHOWN
from lakeguard_sdk.api.operations import PORTS
from lakeguard_sdk.client import Client

LISTS = {"reader.policies", "jobs.dag_versions", "operations.reconcile", "ledger.sync"}
"""Answers about several datasets that name none."""
RECORDS = {f"records.{name}" for name in ("latest", "history", "query", "tail", "kinds")}
"""``VisibleRecords`` answers these."""


def methods(kind: type[object]) -> set[str]:
    found = inspect.getmembers(kind, inspect.isfunction)
    return {name for name, _ in found if not name.startswith("_")}


def test_every_port_of_a_client_is_checked() -> None:
    plain = {"lake", "project", "delivery", "spark_options", "heartbeat_seconds", "url", "env"}
    plain |= {"actions"}
    assert set(PORTS) == {each.name for each in dataclasses.fields(Client)} - plain
    assert set(CALLS) == set(PORTS)


@pytest.mark.parametrize("port", sorted(PORTS))
def test_every_method_of_a_port_has_exactly_one_row(port: str) -> None:
    assert set(CALLS[port]) == methods(PORTS[port])


def test_what_is_about_several_datasets_is_filtered() -> None:
    rows = {f"{port}.{name}": call for port, calls in CALLS.items() for name, call in calls.items()}
    lists = (About.ANYWHERE, About.TASKS_OF_JOB)
    anywhere = {name for name, call in rows.items() if call.about in lists}
    assert anywhere - {"dispatch.check"} == (anywhere & set(SHOWN)) | LISTS | RECORDS
    assert set(SHOWN) <= set(rows)
    optional = {
        f"{port}.{name}"
        for port, kind in PORTS.items()
        for name in methods(kind)
        if "name" in (asked := inspect.signature(getattr(kind, name)).parameters)
        and asked["name"].default is None
    }
    assert optional - {"operations.examine", "history.replay_all"} <= set(SHOWN)


def test_what_changes_something_is_not_a_read() -> None:
    reads = {
        f"{port}.{name}"
        for port, calls in CALLS.items()
        for name, call in calls.items()
        if call.action is Action.READ
    }
    assert {name for name in reads if name.split(".")[0] in ("operations", "runs")} == set()


def test_an_unknown_method_is_none() -> None:
    with pytest.raises(AttributeError):
        Authorised(None, "reader", PORTS["reader"], None).drop_everything()  # type: ignore[arg-type]
