"""``lakeguard schema`` as a person calls it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from lakeguard.plane import open_state
from lakeguard.registry.load_folder import load_folder
from lakeguard.settings import load_settings
from lakeguard.state.schema import registry_applies
from lakeguard_sdk import Client, DatasetName, connect
from lakeguard_sdk.model.definitions import Definitions
from lakeguard_sdk.model.notifications import AlertKind, Topic
from lakeguard_sdk.model.run import RunPlan
from lakeguard_sdk.scheduling.process_identity import this_process
from lakeguard_sdk.types.schema import Column, TableSchema
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.terminal import Terminal

ORDERS = DatasetName("bronze.orders")
FILE = "definitions/bronze/orders.yaml"
TEXT = """\
dataset: bronze.orders
owner: sales
domain: shop
source: orders
schema: {profile: STRICT}
columns:
  id: {type: integer}   # the key
  name: {type: string}
  gone: {type: date}
"""
FILES: dict[str, str | bytes] = {
    "lakeguard.toml": "[env.dev]\n",
    "definitions/sources/orders.yaml": "source: orders\nformat: parquet\npath: in/*.parquet\n",
    FILE: TEXT,
}


def schema(**types: str) -> TableSchema:
    return TableSchema(columns=tuple(Column(name=n, type=t) for n, t in types.items()))


FOUND = schema(id="long", name="string", extra="double")


@pytest.fixture
def client(tmp_path: Path) -> Client:
    client = connect(write_folder(tmp_path, FILES))
    client.registry.apply(client.registry.plan(load_folder(tmp_path)))
    return client


def find(client: Client, live: TableSchema) -> str:
    """A run that finds this schema; its id."""
    task = client.operations.submit(ORDERS, "test")
    plan = client.runs.open_run(task, this_process("test"))
    assert isinstance(plan, RunPlan)
    client.runs.submit_schema(plan.ticket, live)
    return plan.ticket.run_id


def test_what_was_seen_against_every_profile(tmp_path: Path, client: Client) -> None:
    terminal = Terminal(tmp_path)
    result = terminal.type("lakeguard schema diff bronze.orders")
    assert (result.code, "no run" in result.out) == (0, True)
    assert terminal.type("lakeguard schema diff bronze.orders --json").data == {"diff": None}
    run_id = find(client, FOUND)
    result = terminal.type("lakeguard schema diff bronze.orders")
    assert run_id in result.out
    for words in ("ADD_NULLABLE", "DROP_NULLABLE", "WIDEN", "PERMISSIVE", "schema approve"):
        assert words in result.out
    data = terminal.type("lakeguard schema diff bronze.orders --json").data["diff"]
    widened = next(item for item in data["differences"] if item["column"] == "id")
    assert (widened["change"], widened["declared"], widened["found"]) == (
        "WIDEN",
        "integer",
        "long",
    )
    assert (widened["reactions"]["strict"], widened["reactions"]["backward"]) == ("BLOCK", "ACCEPT")


def test_the_schemas_that_runs_found(tmp_path: Path, client: Client) -> None:
    terminal = Terminal(tmp_path)
    assert "no run" in terminal.type("lakeguard schema history bronze.orders").out
    first = find(client, schema(id="integer", name="string", gone="date"))
    second = find(client, FOUND)
    result = terminal.type("lakeguard schema history bronze.orders")
    assert result.out.index(second) < result.out.index(first), "the latest first"
    assert "refused" in result.out
    assert "WIDEN id BLOCK" in result.out
    rows = terminal.type("lakeguard schema history bronze.orders --limit 1 --json").data["schemas"]
    assert [(row["run_id"], row["accepted"]) for row in rows] == [(second, False)]


def test_approving_edits_the_file_and_applies_it(tmp_path: Path, client: Client) -> None:
    find(client, FOUND)
    terminal = Terminal(tmp_path)
    result = terminal.type('lakeguard schema approve bronze.orders --reason "agreed with sales"')
    assert result.code == 0, result.err
    assert (tmp_path / FILE).read_text() == TEXT.replace("integer", "long").replace(
        "  gone: {type: date}\n", "  extra: {type: double}\n"
    )
    assert client.reader.definition(ORDERS).declared == FOUND
    assert not client.registry.plan(load_folder(tmp_path)).steps
    with open_state(load_settings(tmp_path)).read() as connection:
        reasons = list(connection.scalars(select(registry_applies.c.reason)))
    assert reasons == [None, "agreed with sales"]
    again = terminal.type("lakeguard schema approve bronze.orders --reason again --json")
    assert (again.code, again.data["error"]["code"]) == (2, "LG-1206")


def test_some_columns_alone(tmp_path: Path, client: Client) -> None:
    find(client, FOUND)
    terminal = Terminal(tmp_path)
    line = "lakeguard schema approve bronze.orders --reason r --column extra"
    assert terminal.type(line).code == 0
    assert client.reader.definition(ORDERS).declared.names == ("id", "name", "gone", "extra")
    result = terminal.type("lakeguard schema approve bronze.orders --reason r --column nmae")
    assert (result.code, "nmae does not differ" in result.err) == (2, True)


def test_a_schema_that_was_never_seen(tmp_path: Path, client: Client) -> None:
    result = Terminal(tmp_path).type("lakeguard schema approve bronze.orders --reason r")
    assert (result.code, "no run has recorded one yet" in result.err) == (2, True)
    assert client.reader.dataset(ORDERS).revision == 1


def test_what_the_registry_refuses_leaves_the_file_as_it_was(
    tmp_path: Path, client: Client
) -> None:
    text = TEXT.replace("source: orders", "source: orders\nload: {type: APPEND, keys: [gone]}")
    (tmp_path / FILE).write_text(text)
    client.registry.apply(client.registry.plan(load_folder(tmp_path)))
    find(client, FOUND)
    result = Terminal(tmp_path).type("lakeguard schema approve bronze.orders --reason r")
    assert result.code == 2
    assert "LG-20" in result.err
    assert (tmp_path / FILE).read_text() == text


def test_a_reason_with_a_secret_is_refused(tmp_path: Path, client: Client) -> None:
    find(client, FOUND)
    token = f"ghp_{'aZ3' * 12}"
    result = Terminal(tmp_path).type(f"lakeguard schema approve bronze.orders --reason {token}")
    assert (result.code, "LG-1012" in result.err) == (2, True)
    assert (tmp_path / FILE).read_text() == TEXT


def test_no_reason_is_no_approval(tmp_path: Path, client: Client) -> None:
    find(client, FOUND)
    result = Terminal(tmp_path).type("lakeguard schema approve bronze.orders --reason ' '")
    assert (result.code, "--reason" in result.err) == (2, True)
    assert (tmp_path / FILE).read_text() == TEXT


def test_a_dataset_without_a_file(tmp_path: Path, client: Client) -> None:
    find(client, FOUND)
    (tmp_path / FILE).unlink()
    result = Terminal(tmp_path).type("lakeguard schema approve bronze.orders --reason r")
    assert (result.code, "it has no definition file" in result.out) == (0, True), result.err
    assert client.reader.definition(ORDERS).declared == FOUND


def test_columns_on_one_line_are_written_anew(tmp_path: Path, client: Client) -> None:
    head = TEXT.partition("columns:")[0]
    (tmp_path / FILE).write_text(
        f"{head}columns: {{id: {{type: integer}}, name: {{type: string}}, gone: {{type: date}}}}\n"
    )
    find(client, FOUND)
    result = Terminal(tmp_path).type("lakeguard schema approve bronze.orders --reason r")
    assert result.code == 0, result.err
    (dataset,) = load_folder(tmp_path).datasets
    assert dataset.declared == FOUND
    assert not client.registry.plan(Definitions(datasets=(dataset,))).steps


def test_why_names_the_way_to_approve(tmp_path: Path, client: Client) -> None:
    find(client, FOUND)
    result = Terminal(tmp_path).type("lakeguard why bronze.orders")
    assert "lakeguard schema diff bronze.orders" in result.out
    assert "lakeguard schema approve bronze.orders" in result.out


def test_a_new_column_is_told_until_somebody_decides_on_it(tmp_path: Path) -> None:
    """Under the default profile it is left out: run, status, why and an alert say so."""
    text = TEXT.replace("schema: {profile: STRICT}\n", "").replace("  gone: {type: date}\n", "")
    client = connect(write_folder(tmp_path, {**FILES, FILE: text}))
    client.registry.apply(client.registry.plan(load_folder(tmp_path)))
    for live in (FOUND, None):  # the second run finds nothing new to read
        plan = client.runs.open_run(client.operations.submit(ORDERS, "test"), this_process("test"))
        assert isinstance(plan, RunPlan)
        if live is not None:
            client.runs.submit_schema(plan.ticket, live)
        client.runs.finish_unchanged(plan.ticket)
    alerts = [row.alert for row in client.notifications.rows(Topic.ALERT, kind=AlertKind.COLUMN)]
    assert [alert.details for alert in alerts] == [{"column": "extra", "type": "double"}]
    (status,) = client.reader.status()
    assert [item.column for item in status.new_columns] == ["extra"]
    terminal = Terminal(tmp_path)
    assert (
        "not in the table: bronze.orders  extra (double)" in terminal.type("lakeguard status").out
    )
    why = terminal.type("lakeguard why bronze.orders").out
    assert "In the input, but not in the table: extra (double)" in why
    assert "lakeguard schema diff bronze.orders" in why
    shown = terminal.type("lakeguard schema diff bronze.orders").out
    assert "schema approve bronze.orders --column extra" in shown
    assert "leave_out: [extra]" in shown

    decided = text.replace("columns:", "schema: {leave_out: [extra]}\ncolumns:")
    (tmp_path / FILE).write_text(decided)
    client.registry.apply(client.registry.plan(load_folder(tmp_path)))
    (status,) = client.reader.status()
    assert status.new_columns == ()
    assert "leave_out: [extra]" not in terminal.type("lakeguard schema diff bronze.orders").out
