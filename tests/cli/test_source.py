"""Adding a source by looking at its files; what is written can be applied as it is."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from contextlib import chdir
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from lakeguard.cli.terminal.shell_patterns import source_path
from lakeguard.registry.load_folder import load_folder
from lakeguard.services.draft_rules import inspect_and_suggest
from lakeguard.services.propose_definition import key_rules, propose, write_new
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import LoadType, SourceFormat
from lakeguard_sdk.errors import InvalidDefinitions
from lakeguard_sdk.model.source_preview import PreviewColumn, SourcePreview
from lakeguard_sdk.types.plain_types import null_values
from tests.support.projects.shell import Shell

ORDERS = "order_id;Order Date;amount\n{0};2026-01-0{0};1.50\n"


@pytest.fixture
def lake(shell: Shell, tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "shop"
    assert shell("init", folder).code == 0
    (folder / "exports").mkdir()
    for day in (1, 2):
        (folder / "exports" / f"orders-2026-01-0{day}.csv").write_text(ORDERS.format(day))
    with chdir(folder):
        yield folder


def sketch(*names: str, keys: tuple[str, ...] = (), rows: int = 2) -> SourcePreview:
    columns = [PreviewColumn(name=name, type="long", found_as=name, nulls=0) for name in names]
    return SourcePreview(
        format=SourceFormat.CSV,
        columns=tuple(columns),
        keys=keys,
        files=1,
        files_found=1,
        rows=rows,
        bytes=10,
        whole=True,
    )


def test_what_is_proposed_says_what_was_seen(shell: Shell, lake: Path) -> None:
    result = shell("source", "add", "orders", "./exports/orders-*.csv", "--owner", "shop-team")
    assert result.code == 0
    assert result.err == "inspecting exports/orders-*.csv …\n"
    assert result.out.splitlines() == [
        "✓ proposed  bronze.orders   csv, delimiter ';', exports/orders-*.csv",
        "  inspected 2 files, 2 rows, 90 bytes",
        "  all rows inspected: types and keys hold for all of them",
        "  order_id     integer         key",
        "  order_date   date            from 'Order Date'",
        "  amount       decimal(18,2)",
        "",
        "  wrote definitions/bronze/orders.yaml",
        "  wrote definitions/sources/orders.yaml",
        "Next: review them, then: lakeguard plan",
    ]
    assert (lake / "definitions/sources/orders.yaml").read_text() == (
        "source: orders\nformat: csv\npath: exports/orders-*.csv\n"
        "options:\n  delimiter: ;\nowner: shop-team\n"
    )
    assert (lake / "definitions/bronze/orders.yaml").read_text() == (
        "dataset: bronze.orders\nowner: shop-team\ndomain: unassigned\nsource: orders\n"
        "load: {type: APPEND}\ncolumns:\n  order_id: {type: integer, required: true}\n"
        "  order_date: {type: date}\n  amount: {type: 'decimal(18,2)'}\n"
        "rules:\n- unique(order_id)\n- row_count(min=1)\n"
    )


def test_it_is_planned_applied_and_listed(shell: Shell, lake: Path) -> None:
    files = sorted(f"exports/{path.name}" for path in (lake / "exports").iterdir())
    result = shell("source", "add", "orders", *files, "--domain", "sales", "--json").data
    assert result["path"] == "exports/orders-*.csv"
    assert result["sketch"]["rows"] == 2
    assert "bronze.orders   3 columns, 3 rules" in shell("plan").out
    assert shell("source", "list").out.startswith("no sources are registered")
    assert shell("apply").code == 0
    (source,) = shell("source", "list", "--json").data["sources"]
    assert (source["source"], source["read_by"]) == ("orders", ["bronze.orders"])
    assert "orders   csv      exports/orders-*.csv   bronze.orders" in shell("source", "list").out


def test_files_without_a_row_are_told_as_such(shell: Shell, lake: Path) -> None:
    (lake / "exports" / "empty.csv").write_text("a,b\n")
    result = shell("source", "add", "empty", "exports/empty.csv").out
    assert "no rows: every column is proposed as a string" in result
    assert "all rows inspected" not in result


@pytest.mark.parametrize(
    "word", ["https://shop.example/o.csv", "gs://b/*.csv", "jdbc:postgresql://h/d"]
)
def test_an_address_is_no_file(shell: Shell, lake: Path, word: str) -> None:
    result = shell("source", "add", "orders", word)
    assert result.code == 2
    assert f"LG-1203  {word}: it is a URL" in result.err
    assert "replace path: by url:" in result.err
    assert not (lake / "definitions").exists()


def test_nothing_is_overwritten(shell: Shell, lake: Path) -> None:
    assert shell("source", "add", "orders", "exports/*.csv").code == 0
    before = (lake / "definitions/sources/orders.yaml").read_bytes()
    (lake / "definitions/bronze/orders.yaml").unlink()
    result = shell("source", "add", "orders", "exports/orders-2026-01-01.csv")
    assert (result.code, result.out) == (2, "")
    assert (
        "LG-1009  definitions/sources/orders.yaml already exists; nothing was changed" in result.err
    )
    assert result.err.endswith("Next: lakeguard source add ANOTHER-NAME PATTERN\n")
    assert (lake / "definitions/sources/orders.yaml").read_bytes() == before
    assert not (lake / "definitions/bronze/orders.yaml").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("orders", "nothing-*.csv"), "LG-1203"),
        (("orders", "exports"), "LG-1203"),
        (("Orders", "exports/*.csv"), "LG-1001"),
        (("orders",), "LG-1000"),
        (("orders", "exports/*.csv", "--layer", "bronze"), "LG-1000"),
    ],
)
def test_a_wrong_call_writes_nothing(
    shell: Shell, lake: Path, words: tuple[str, ...], code: str
) -> None:
    result = shell("source", "add", *words, "--json")
    assert (result.code, result.data["error"]["code"]) == (2, code)
    assert not (lake / "definitions").exists()


def test_a_group_alone_shows_its_commands(shell: Shell) -> None:
    assert shell("source").code == 2
    assert "add" in shell("source", "--help").out


@pytest.mark.parametrize(
    ("path", "load"), [("in/*.csv", LoadType.APPEND), ("in/all.csv", LoadType.FULL)]
)
def test_a_single_file_is_read_whole_each_time(path: str, load: LoadType) -> None:
    proposed = propose(DatasetName("silver.x"), path, sketch("a"), owner="o", domain="d")
    assert proposed.datasets[0].load.type is load
    assert proposed.sources[0].path == path


def test_odd_names_and_pairs_make_rules_that_can_be_read(tmp_path: Path) -> None:
    seen = sketch("select", "größe", "n", keys=("select", "größe"))
    proposed = propose(DatasetName("bronze.x"), "in/*.csv", seen, owner="o", domain="d")
    assert write_new(tmp_path, proposed) == [
        "definitions/bronze/x.yaml",
        "definitions/sources/x.yaml",
    ]
    assert load_folder(tmp_path) == proposed


def test_what_could_not_be_applied_is_not_written(tmp_path: Path) -> None:
    seen = sketch("fine", "")
    proposed = propose(DatasetName("bronze.x"), "in/*.csv", seen, owner="o", domain="d")
    with pytest.raises(InvalidDefinitions):
        write_new(tmp_path, proposed)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("files", "others", "path"),
    [
        (("in/a-2026-01-05.csv", "in/a-2026-01-06.csv"), (), "in/a-*.csv"),
        (("in/a_1.csv", "in/a_2.csv"), ("in/b_1.csv",), "in/a_*.csv"),
        (("in/a105.csv", "in/a205.csv"), (), "in/a*.csv"),
        (("in/a-1.csv", "in/a-1b.csv"), ("in/a-2.csv",), "in/a-1*.csv"),
        (("in/x[1]-1.csv", "in/x[1]-2.csv"), (), "in/x[[]1]-*.csv"),
        (("x/1.csv", "y/1.csv"), (), "*/1.csv"),
    ],
)
def test_the_pattern_that_a_shell_had_read(
    tmp_path: Path, files: tuple[str, ...], others: tuple[str, ...], path: str
) -> None:
    for name in (*files, *others):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert source_path(files, tmp_path, str(tmp_path)) == path


def test_files_that_no_one_pattern_finds(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).touch()
    with pytest.raises(click.UsageError, match="quote it") as refused:
        source_path(("a.csv", "c.csv"), tmp_path, str(tmp_path))
    assert refused.value.message.endswith(": lakeguard source add NAME '*.csv'")
    (tmp_path / "my files").mkdir()
    for name in ("a.csv.gz", "b.csv.gz", "c.csv.gz"):
        (tmp_path / "my files" / name).touch()
    with pytest.raises(click.UsageError, match=r"NAME 'my files/[*]\.csv\.gz'"):
        source_path(("my files/a.csv.gz", "my files/c.csv.gz"), tmp_path, str(tmp_path))


def test_files_outside_of_the_lake_are_named_in_full(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert source_path(("../in/*.csv",), lake, str(lake)) == f"{tmp_path}/in/*.csv"
    assert source_path(("*.csv",), lake / "in", str(lake)) == "in/*.csv"


SEEN = [
    {"id": n, "doc": f'{{"k":{n}}}', "day": f"2026-01-{1 + n % 28:02d}", "amount": f"{n % 50}.50"}
    for n in range(200)
]
ODD = [
    {"doc": "{not json", "day": "2026-02-28", "amount": "-1.50"},
    {"doc": '{"k":1,"k":2}', "day": "0001-01-01", "amount": "1000000.01"},
    {"doc": "null", "day": "9999-12-31", "amount": "1e300"},
    {"doc": "[]", "day": "2026-02-30", "amount": "NA"},
    {"doc": "-", "day": "-", "amount": "-0.0"},
    {"doc": "it's {}", "day": "n/a", "amount": "00.5"},
]


def holds(rule: str, row: dict[str, str], nulls: list[str]) -> bool:
    """Whether a value of a row satisfies a proposed rule, by other means than its measures."""
    kind, column = re.match(r"(\w+)\((\w+)", rule).groups()  # type: ignore[union-attr]
    value = str(row[column])
    if kind == "not_null":
        return value not in nulls
    if value in nulls:
        return True
    match kind:
        case "range":
            least, most = map(float, re.findall(r"(?:min|max)=([-0-9.e+]+)", rule))
            return least <= float(value) <= most
        case "regex":
            (pattern,) = re.findall(r"pattern='(.*)'\)", rule)
            return re.fullmatch(pattern.replace("''", "'"), value) is not None
        case "not_future":
            return value <= "2026-03-01"
        case "json_valid":
            json.loads(value)
    return kind in ("unique", "increasing", "json_valid")


@pytest.mark.parametrize("odd", ODD)
def test_every_seen_row_satisfies_the_proposed_rules(tmp_path: Path, odd: dict[str, str]) -> None:
    rows = [*SEEN, {"id": 200, **odd}]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(SEEN[0]))
        writer.writeheader()
        writer.writerows(rows)
    now = datetime(2026, 3, 1, tzinfo=UTC)
    seen, found = inspect_and_suggest("a.csv", str(tmp_path), key_rules, now)
    nulls = null_values(seen.options.get("null_value", ""))
    assert found
    for suggestion in found:
        failing = [row for row in rows if not holds(suggestion.rule, row, nulls)]
        assert failing == [], suggestion.rule


@pytest.mark.parametrize("pattern", ["silver/p/*.csv", "exports/link/*.csv", "_lakeguard/*.csv"])
def test_tables_of_the_lake_are_no_source(shell: Shell, lake: Path, pattern: str) -> None:
    for folder in ("silver/p", "_lakeguard"):
        (lake / folder).mkdir(parents=True, exist_ok=True)
        (lake / folder / "a.csv").write_text(ORDERS.format(1))
    (lake / "exports/link").symlink_to(lake / "silver/p")
    result = shell("source", "add", "orders", pattern)
    assert result.code == 2
    assert "parents:" in result.err
    assert not (lake / "definitions/sources/orders.yaml").exists()


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ("orders-2026-01-07.csv", "orders-*.csv"),
        ("orders_20260107T0600.csv.gz", "orders_*.csv.gz"),
        ("part-00000.parquet", "part-*.parquet"),
        ("orders2.csv", "orders2.csv"),
        ("orders.csv", "orders.csv"),
    ],
)
def test_a_pattern_that_a_shell_expanded_to_one_file(tmp_path: Path, file: str, path: str) -> None:
    (tmp_path / file).touch()
    assert source_path((file,), tmp_path, str(tmp_path)) == path
    assert source_path((file,), tmp_path, str(tmp_path), exact=True) == file


def test_one_of_several_such_files_stands_for_itself(tmp_path: Path) -> None:
    for day in (7, 8):
        (tmp_path / f"orders-2026-01-0{day}.csv").touch()
    assert (
        source_path(("orders-2026-01-07.csv",), tmp_path, str(tmp_path)) == "orders-2026-01-07.csv"
    )
