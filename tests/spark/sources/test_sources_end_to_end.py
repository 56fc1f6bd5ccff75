"""Every source format with the real control plane, and no secret anywhere in the lake."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from lakeguard_sdk import Client
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.model.run import RunResult
from tests.support.databases.databases import Server
from tests.support.fakes.web_server import Page, Site, web_site
from tests.support.projects.definition_folders import write_folder
from tests.support.projects.folders import applied, published
from tests.support.projects.folders import run as run_named

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

TOKEN = f"token-{uuid4().hex}"
PASSWORD = f"word-{uuid4().hex}"
ROLE = f"shop_{uuid4().hex[:8]}"
DATASET = """\
dataset: bronze.{name}
owner: tests
domain: shop
source: {source}
load: {load}
columns:
  id: {{type: long}}
  unit_price: {{type: "decimal(9,2)"}}
"""
SOURCES = {
    "web": "format: csv\nurl: {site}/orders.csv.gz?key={{token}}\n"
    "secrets: {{token: env:SHOP_TOKEN}}",
    "lines": "format: jsonl\npath: lines/*.jsonl\nmalformed: quarantine\nlanding: true",
    "table": "format: delta\npath: table",
    "shop": "format: jdbc\nurl: jdbc:postgresql://127.0.0.1:{port}/postgres\n"
    "secrets: {{user: env:SHOP_USER, password: env:SHOP_PASSWORD}}\n"
    "options: {{slice_by: id, slices: '2'}}",
}


@pytest.fixture
def site() -> Iterator[Site]:
    with web_site() as made:
        made.pages["/orders.csv.gz"] = Page(gzip.compress(b"ID,Unit Price#\n1,1.50\n2,2\n"))
        yield made


@pytest.fixture
def client(
    tmp_path: Path, server: Server, site: Site, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    """A project with one dataset for each source format."""
    for name, value in (("TOKEN", TOKEN), ("USER", ROLE), ("PASSWORD", PASSWORD)):
        monkeypatch.setenv(f"SHOP_{name}", value)
    server.sql(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{PASSWORD}'")
    server.sql(f"CREATE SCHEMA {ROLE} AUTHORIZATION {ROLE}")
    server.sql(f"CREATE TABLE {ROLE}.orders (id bigint, unit_price numeric(9,2))")
    server.sql(f"INSERT INTO {ROLE}.orders VALUES (1, 1.5), (2, 2), (NULL, 3)")
    server.sql(f"GRANT SELECT ON {ROLE}.orders TO {ROLE}")
    for name, given in SOURCES.items():
        text = f"source: {name}\n{given.format(site=site.url, port=server.port)}\n"
        write(tmp_path, f"definitions/sources/{name}.yaml", text)
        source = f"{{name: shop, object: {ROLE}.orders}}" if name == "shop" else name
        load = "{type: APPEND}" if name in ("web", "table") else "{type: FULL}"
        text = DATASET.format(name=name, source=source, load=load)
        write(tmp_path, f"definitions/bronze/{name}.yaml", text)
    yield applied(tmp_path, {})
    server.sql(f"DROP SCHEMA {ROLE} CASCADE")
    server.sql(f"DROP ROLE {ROLE}")


def write(lake: Path, name: str, text: str) -> None:
    write_folder(lake, {name: text})


def run(client: Client, name: str) -> RunResult:
    return run_named(client, f"bronze.{name}")


def rows(client: Client, name: str) -> list[tuple[int | None, str]]:
    return published(client, f"bronze.{name}", "id, unit_price::text")


def holding(lake: Path, secret: str) -> list[str]:
    """Files in the lake, including the State, that contain a secret."""
    return [
        str(file)
        for file in lake.rglob("*")
        if file.is_file() and secret.encode() in file.read_bytes()
    ]


def test_every_kind_is_read_and_published(client: Client, tmp_path: Path) -> None:
    write(
        tmp_path,
        "lines/a.jsonl",
        '{"id": 1, "unit_price": 1.50}\n{"id": 2\n{"unit_price": "2", "id": 2}\n',
    )
    price = pa.array(["1.50", "2.00"]).cast(pa.decimal128(9, 2))
    write_deltalake(str(tmp_path / "table"), pa.table({"id": [1, 2], "unit_price": price}))
    results = {name: run(client, name) for name in SOURCES}
    ended = {name: (r.status, r.version, r.error) for name, r in results.items()}
    assert ended == dict.fromkeys(SOURCES, (RunStatus.SUCCESS, 1, None))
    both: list[tuple[int | None, str]] = [(1, "1.50"), (2, "2.00")]
    assert rows(client, "web") == rows(client, "lines") == rows(client, "table") == both
    assert rows(client, "shop") == [*both, (None, "3.00")]
    (kept,) = (tmp_path / "landing" / "lines").rglob("malformed.jsonl")
    assert json.loads(kept.read_text())["line"] == 2
    again = [run(client, name) for name in ("web", "table")]
    assert [(result.status, result.version) for result in again] == [(RunStatus.SUCCESS, None)] * 2
    assert (holding(tmp_path, TOKEN), holding(tmp_path, PASSWORD)) == ([], [])


def test_no_secret_is_left_by_a_run_that_failed(
    client: Client, tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/orders.csv.gz"] = Page(status=500)
    web = run(client, "web")
    assert web.error is not None
    assert "the server returned 500" in web.error.message
    assert f"key={TOKEN}" in site.asked[0]
    monkeypatch.setenv("SHOP_PASSWORD", f"{PASSWORD}x")
    shop = run(client, "shop")
    assert shop.error is not None
    assert "authentication failed" in shop.error.message
    assert not list((tmp_path / "landing").rglob("execution_id=*"))
    for secret in (TOKEN, PASSWORD):
        assert holding(tmp_path, secret) == []
        assert secret not in web.to_json() + shop.to_json()
