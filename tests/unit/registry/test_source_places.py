"""Source locations: paths, downloads, databases, secrets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lakeguard.registry.editing.export import definition_files
from lakeguard.registry.planning.plan import make_plan
from lakeguard.registry.snapshot import RegistryState
from lakeguard.registry.store import read_state
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.enums import Malformed, SourceFormat, TargetFormat
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.definitions import (
    Definitions,
    FromSource,
    SourceDefinition,
    SourceMapping,
    TargetDefinition,
)
from tests.support.cases.definition_errors import Case, check
from tests.support.projects.definition_folders import SHOP, load, mistakes
from tests.support.projects.definitions import dataset, source
from tests.support.projects.registries import small_registry

FILE = "definitions/sources/orders.yaml"
WEB = """\
source: orders
format: csv
url: https://data.example/orders.csv?token={token}
secrets: {token: "env:ORDERS_TOKEN"}
"""
DATABASE = """\
source: orders
format: jdbc
url: jdbc:postgresql://db.example:5432/shop
secrets: {user: "env:SHOP_USER", password: "file:/run/secrets/shop"}
options: {slice_by: order_id, slices: 8, fetch_size: 5000}
"""
URL = "https://data.example/orders.csv?token={token}"
FILES = "source: orders\nformat: csv\npath: data/*.csv\n"
MISTAKES = [
    Case("both places", WEB, "secrets:", "path: x\nsecrets:", "LG-2004", "not both"),
    Case("url as path", FILES, "data/*.csv", "«https://h/x.csv»", "LG-2004", "use url"),
    Case("no scheme", WEB, URL, "«data.example/x.csv»", "LG-2004", "https://host"),
    Case("other scheme", WEB, URL, "«ftp://data.example/x.csv»", "LG-2004", "https://host"),
    Case("no host", WEB, URL, "«https:///x.csv»", "LG-2004", "https://host"),
    Case("odd port", WEB, URL, "«https://h:99999/x.csv»", "LG-2004", "https://host"),
    Case("user in an address", WEB, URL, "«https://me@h/x.csv»", "LG-2004", "user is not allowed"),
    Case("blank in an address", WEB, URL, "«https://h/a b.csv»", "LG-2004", "without spaces"),
    Case("fragment", WEB, URL, "«https://h/x.csv#top»", "LG-2004", "after #"),
    Case("open brace", WEB, URL, "«https://h/x.csv?t={token»", "LG-2004", "unbalanced brace"),
    Case("secret host", WEB, URL, "«https://{token}.example/x.csv»", "LG-2004", "after the host"),
    Case("unknown secret", WEB, URL, "«https://h/x.csv?t={tokn}»", "LG-2007",
         "secret 'tokn' does not exist; did you mean token?"),
    Case("password in an address", WEB, URL, "«https://h/x.csv?password=hunter2»", "LG-2021",
         "url looks like"),
    Case("user and password", WEB, URL, "«https://me:hunter2@h/x.csv»", "LG-2021", "url looks"),
    Case("secret written out", WEB, '"env:ORDERS_TOKEN"', "«hunter2»", "LG-2021", "token looks"),
    Case("odd name of a secret", WEB, "{token:", "{«Token»:", "LG-2020", "'Token'"),
    Case("secret is a list", WEB, '"env:ORDERS_TOKEN"', "«[a]»", "LG-2004", "single value"),
    Case("delta from the web", WEB, "format: csv\nurl: " + URL,
         "format: delta\nurl: «" + URL + "»", "LG-2004", "delta is read from a path"),
    Case("database as path", DATABASE, "url: jdbc:postgresql://db.example:5432/shop",
         "path: «shop»", "LG-2004", "from a url"),
    Case("other database", DATABASE, "jdbc:postgresql://db.example:5432/shop",
         "«jdbc:mysql://db/shop»", "LG-2004", "jdbc:postgresql://host/database"),
    Case("secret in a database's url", DATABASE, "jdbc:postgresql://db.example:5432/shop",
         "«jdbc:postgresql://db/shop?user={user}»", "LG-2004", "in secrets, not in the url"),
    Case("password in a database's url", DATABASE, "jdbc:postgresql://db.example:5432/shop",
         "«jdbc:postgresql://db/shop?password=hunter2»", "LG-2021", "url looks"),
    Case("class of a driver", DATABASE, "jdbc:postgresql://db.example:5432/shop",
         "«jdbc:postgresql://db/shop?sslmode=require&socketFactory=a.B»", "LG-2004", "only these"),
    Case("file of a driver", DATABASE, "jdbc:postgresql://db.example:5432/shop",
         "«jdbc:postgresql://db/shop?loggerFile=/tmp/x»", "LG-2004", "only these"),
    Case("escaped parameter", DATABASE, "jdbc:postgresql://db.example:5432/shop",
         "«jdbc:postgresql://db/shop?sslfactor%79=a.B»", "LG-2004", "only these"),
    Case("no slices", DATABASE, "slices: 8", "slices: «0»", "LG-2004", "from 1 to 64"),
    Case("too many slices", DATABASE, "slices: 8", "slices: «65»", "LG-2004", "from 1 to 64"),
    Case("slices of nothing", DATABASE, "slice_by: order_id, slices: 8", "slices: «8»", "LG-2004",
         "slice_by"),
    Case("odd fetch size", DATABASE, "5000", "«-1»", "LG-2004", "from 1 to"),
    Case("option of files", DATABASE, "slices: 8", "«delimiter»: x", "LG-2002", ""),
    Case("odd format", FILES, "", "options: {formats: «{day: dd/yyyy}»}\n", "LG-2004", "MM and dd"),
    Case("format of a list", FILES, "", "options: {formats: «[a]»}\n", "LG-2004", "single value"),
    Case("NULL twice", FILES, "", "options: {null_value: «[NA, NA]»}\n", "LG-2004", "different"),
    Case("unknown malformed", FILES, "", "malformed: «drop»\n", "LG-2004", "refuse or quarantine"),
    Case("lines of parquet", FILES, "csv\npath: data/*.csv\n",
         "parquet\npath: x\nmalformed: «quarantine»\n", "LG-2004", "cannot quarantine lines"),
    Case("header of parquet", FILES, "csv\npath: data/*.csv\n",
         "parquet\npath: x\nheader: «[a, b]»\n", "LG-2004", "only csv"),
    Case("header twice", FILES, "", "header: [a, «a»]\n", "LG-2004", "duplicate column"),
    Case("header alike", FILES, "", "header: «[a, A]»\n", "LG-2004", "duplicate column"),
    Case("landing of a database", DATABASE, "format: jdbc", "format: jdbc\nlanding: «true»",
         "LG-2004", "no files"),
    Case("landing in quotes", FILES, "", "landing: «'true'»\n", "LG-2004", "without quotes"),
]  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES, ids=str)
def test_a_mistake_is_told_where_it_stands(case: Case, tmp_path: Path) -> None:
    if "«" in case.marked:
        errors = check(case, FILE, tmp_path)
    else:
        errors = mistakes(tmp_path, {**SHOP, FILE: case.marked})
        assert [case.says in str(error) for error in errors] == [True]
    assert "hunter2" not in json.dumps([error.to_data() for error in errors])


def test_every_field_is_read(tmp_path: Path) -> None:
    more = "header: [order_id, Amount EUR]\nmalformed: quarantine\nlanding: true\n"
    (found,) = load(tmp_path, {FILE: WEB + more}).sources
    assert found == SourceDefinition(
        source="orders",
        format=SourceFormat.CSV,
        url=URL,
        secrets={"token": "env:ORDERS_TOKEN"},
        header=("order_id", "Amount EUR"),
        malformed=Malformed.QUARANTINE,
        landing=True,
    )


@pytest.mark.parametrize(
    "text",
    [
        WEB,
        DATABASE,
        "source: orders\nformat: jsonl\npath: in/*.jsonl.gz\noptions: {encoding: utf-8}\n",
        "source: orders\nformat: delta\npath: other/table\n",
        "source: orders\nformat: parquet\nurl: http://127.0.0.1:8000/x.parquet\n",
        "source: orders\nformat: csv\nurl: 'https://h.example/a/{key}/x.csv.gz'\n"
        "secrets: {key: 'file:/run/key', spare: 'env:SPARE'}\n",
    ],
)
def test_what_fits_together_is_taken(text: str, tmp_path: Path) -> None:
    bare = {FILE: text}
    assert mistakes(tmp_path, bare) == ()


def shop(**given: Any) -> Definitions:
    """One dataset over one source of a database."""
    held = {"format": SourceFormat.JDBC, "path": "", "url": "jdbc:postgresql://db/shop"}
    return Definitions(
        sources=(source(**held),),
        datasets=(dataset("bronze.orders", build=FromSource(source="orders", **given)),),
    )


def refused(folder: Path, *applied: Definitions) -> list[str]:
    with small_registry(folder) as registry:
        for definitions in applied[:-1]:
            registry.register(definitions)
        with pytest.raises(InvalidDefinitions) as invalid:
            registry.plan(applied[-1])
    return [str(error) for error in invalid.value.errors]


@pytest.mark.parametrize("read", ["", "orders", "public.", "public.orders; drop", 'a."b"'])
def test_a_table_of_a_database_is_named(read: str, tmp_path: Path) -> None:
    (reported,) = refused(tmp_path, shop(object=read))
    assert "source orders is a database; write schema.table as object" in reported


def test_a_named_table_is_taken(tmp_path: Path) -> None:
    with small_registry(tmp_path) as registry:
        registry.register(shop(object="public.orders"))


def test_a_source_that_becomes_a_database_is_held_against_its_readers(tmp_path: Path) -> None:
    files = Definitions(sources=(source(),), datasets=(dataset("bronze.orders"),))
    (reported,) = refused(tmp_path, files, Definitions(sources=shop().sources))
    assert "write schema.table" in reported


@pytest.mark.parametrize("path", ["silver/p", "in/link", "silver/*/*.parquet", "_lakeguard/x"])
def test_a_source_does_not_point_into_the_lake(path: str, tmp_path: Path) -> None:
    (tmp_path / "silver/p").mkdir(parents=True)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/link").symlink_to(tmp_path / "silver/p")
    for kind in (SourceFormat.DELTA, SourceFormat.PARQUET, SourceFormat.CSV, SourceFormat.JSONL):
        definitions = Definitions(sources=(source(format=kind, path=path),))
        with pytest.raises(InvalidDefinitions) as invalid:
            make_plan(definitions, RegistryState(), str(tmp_path))
        (error,) = invalid.value.errors
        assert "parents:" in str(error)
        assert error.to_data()["code"] == "LG-2004"


def test_an_object_of_a_source_does_not_point_into_the_lake(tmp_path: Path) -> None:
    (tmp_path / "silver/p").mkdir(parents=True)
    read = FromSource(source="orders", object="../silver/p")
    definitions = Definitions(
        sources=(source(format=SourceFormat.DELTA, path="in"),),
        datasets=(dataset("bronze.orders", build=read),),
    )
    with pytest.raises(InvalidDefinitions) as invalid:
        make_plan(definitions, RegistryState(), str(tmp_path))
    (error,) = invalid.value.errors
    assert "`parents: [silver.p]`" in str(error)


def delivered(location: str = "zones/z") -> Definitions:
    """A dataset, and the target that delivers it."""
    target = TargetDefinition(
        target="reports",
        location=location,
        zone="raw",
        format=TargetFormat.CSV,
        sources=(SourceMapping(source="orders"),),
    )
    return Definitions(
        sources=(source(),), targets=(target,), datasets=(dataset("bronze.p", target="reports"),)
    )


@pytest.mark.parametrize("path", ["zones/z/bronze/p.files/v*/part-*.csv", "in/link/v1/x.csv"])
@pytest.mark.parametrize("registered", [True, False])
def test_a_source_does_not_point_to_a_delivery_before_it_is_there(
    path: str, registered: bool, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/link").symlink_to(tmp_path / "zones/z/bronze/p.files")
    copy, whole = source(source="copy", path=path), delivered()
    given = Definitions(**{**dict(whole), "sources": (*whole.sources, copy)})
    with small_registry(tmp_path) as registry:
        if registered:
            registry.register(whole)
            given = Definitions(sources=(copy,))
        with (
            OrganisationState.of(registry.database, registry.org_id).read() as tx,
            pytest.raises(InvalidDefinitions) as invalid,
        ):
            make_plan(given, read_state(tx), str(tmp_path))
    (error,) = invalid.value.errors
    assert "`parents: [bronze.p]`" in str(error)


def test_csv_options_of_several_values_are_read_and_written_back(tmp_path: Path) -> None:
    options = "options: {null_value: [NA, '-'], formats: {day: dd/MM/yyyy}, file_name: file}\n"
    (given,) = load(tmp_path, {FILE: FILES + options}).sources
    expected = {"null_value": '["NA","-"]', "formats": '{"day":"dd/MM/yyyy"}', "file_name": "file"}
    assert given.options == expected
    texts = definition_files(Definitions(sources=(given,)))
    (again,) = load(tmp_path, {**texts}).sources
    assert again.options == expected
