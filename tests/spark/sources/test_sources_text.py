"""Text files are read exactly; malformed lines fail the run, or are quarantined and counted."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import LoadType, Malformed, SourceFormat
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.run import SourceBuild
from lakeguard_sdk.storage.storage import LocalStorage
from lakeguard_sdk.types.schema import TableSchema
from openlaketx.conform import conform
from openlaketx.extract import Batch, extract
from tests.support.fakes.source_history import SourceHistory
from tests.support.fakes.web_server import Page, web_site
from tests.support.lakes.plans import plan, schema

pytestmark = pytest.mark.spark
AB = schema(a="string", b="string")
CSV, JSONL, PARQUET = SourceFormat.CSV, SourceFormat.JSONL, SourceFormat.PARQUET


def build_of(form: SourceFormat, **given: Any) -> SourceBuild:
    fields = {"source": "orders", "format": form, "path": "in/*"}
    return SourceBuild(**{**fields, **given})


def read(
    session: SparkSession,
    lake: Path,
    build: SourceBuild,
    declared: TableSchema = AB,
    reader: SourceHistory | None = None,
    **changed: Any,
) -> Batch | None:
    as_of = datetime(2024, 2, 29, tzinfo=UTC)
    made = plan(lake, build, declared, as_of=as_of, **changed)
    return extract(made, lambda: session, str(lake), LocalStorage(), reader=reader)


def batch_of(
    session: SparkSession, lake: Path, build: SourceBuild, declared: TableSchema = AB
) -> Batch:
    batch = read(session, lake, build, declared)
    assert batch is not None
    return batch


def write(lake: Path, name: str, content: str | bytes) -> None:
    data = content if isinstance(content, bytes) else content.encode()
    (lake / "in").mkdir(parents=True, exist_ok=True)
    (lake / "in" / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


def rows(batch: Batch) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in batch.frame.collect()), key=str)


def folder_of(lake: Path) -> Path:
    return lake / "landing" / "orders" / "ingest_date=2024-02-29" / "execution_id=run_1"


def quarantined(lake: Path) -> list[tuple[str, int, str]]:
    """File, line and text of the quarantined lines."""
    lines = (folder_of(lake) / "malformed.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    assert all(record["reason"] for record in found)
    return [(record["file"], record["line"], record["text"]) for record in found]


def test_json_lines_keep_the_very_text_of_their_values(
    session: SparkSession, tmp_path: Path
) -> None:
    big = "123456789012345678901234567890.123456789000"
    write(
        tmp_path,
        "one.jsonl",
        f'{{"n": 1.10, "t": "é \\u00e9\\n", "j": {{"x" : 1.0,  "y":[1, 2.50]}}, "d": {big}}}\n'
        '\n{"n": true, "t": "", "j": [ ], "d": null}\r\n{"t": "1", "d": 1E3}',
    )
    declared = schema(n="string", t="string", j="string", d="string")
    assert rows(batch_of(session, tmp_path, build_of(JSONL), declared)) == sorted(
        [
            ("1.10", "é é\n", '{"x" : 1.0,  "y":[1, 2.50]}', big),
            ("true", "", "[ ]", None),
            (None, "1", None, "1E3"),
        ],
        key=str,
    )


def test_json_numbers_become_declared_types_without_loss(
    session: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path, "one.jsonl", '{"i": 9223372036854775807, "d": 0.1, "b": true}\n{"b": false}\n')
    declared = schema(i="long", d="decimal(38,18)", b="boolean")
    batch = batch_of(session, tmp_path, build_of(JSONL), declared)
    frame = conform(batch.frame, batch.live, declared, "bronze.orders")
    reported = frame.selectExpr("string(i)", "string(d)", "string(b)").collect()
    assert sorted(map(tuple, reported), key=str) == [
        ("9223372036854775807", "0.100000000000000000", "true"),
        (None, None, "false"),
    ]


def test_keys_of_all_files_are_columns(session: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "one.jsonl", '{"a": 1}\n')
    write(tmp_path, "two.jsonl.gz", '{"b": 2, "c": 3}\n')
    batch = batch_of(session, tmp_path, build_of(JSONL))
    assert batch.live.names == ("a", "b", "c")
    assert rows(batch) == sorted([("1", None, None), (None, "2", "3")], key=str)
    assert batch.position is not None
    assert len(batch.position.files) == 2


@pytest.mark.parametrize(
    ("content", "about"),
    [
        ('{"a": 1}\n[1]\n', "in/x.jsonl: line 2: not a JSON object"),
        ('{"a": 1, "a": 2}\n', "line 1: duplicate key 'a'"),
        ('{"a": 1, "A": 2}\n', "differ in case only"),
        ('{"a": 1}\n{"a"\n', "line 2"),
    ],
)
def test_json_lines_that_are_refused(
    session: SparkSession, tmp_path: Path, content: str, about: str
) -> None:
    write(tmp_path, "x.jsonl", content)
    with pytest.raises(SourceUnreadable) as refusal:
        read(session, tmp_path, build_of(JSONL))
    assert about in str(refusal.value)


@pytest.mark.parametrize(
    ("encoding", "text"), [("UTF-8", "é €"), ("windows-1252", "é €"), ("ISO-8859-1", "é")]
)
def test_json_lines_of_every_encoding(
    session: SparkSession, tmp_path: Path, encoding: str, text: str
) -> None:
    write(tmp_path, "x.jsonl", f'{{"a": "{text}", "b": 1.10}}\n[1]\n'.encode(encoding))
    options = {"encoding": encoding}
    build = build_of(JSONL, options=options, malformed=Malformed.QUARANTINE)
    batch = batch_of(session, tmp_path, build)
    assert (rows(batch), batch.rejected) == ([(text, "1.10")], 1)


@pytest.mark.parametrize("options", [{"mode": "PERMISSIVE"}, {"encoding": "utf-16"}])
def test_options_that_json_lines_lack(
    session: SparkSession, tmp_path: Path, options: dict[str, str]
) -> None:
    write(tmp_path, "x.jsonl", '{"a": 1}\n')
    with pytest.raises(
        SourceUnreadable, match=r"unknown JSON Lines option 'mode'|encoding 'utf-16'"
    ):
        read(session, tmp_path, build_of(JSONL, options=options))


@pytest.mark.parametrize("packed", ["", ".gz"])
def test_bad_lines_of_csv_are_quarantined_and_counted(
    session: SparkSession, tmp_path: Path, packed: str
) -> None:
    good, bad = '"x\ny",2\n', ["1", '"3"4,5', "1,2,3", "6,\udcff", '"7,8']
    lines = "a,b\n" + good + "".join(f"{line}\n9,{n}\n" for n, line in enumerate(bad))
    write(tmp_path, f"x.csv{packed}", lines.encode("utf-8", "surrogateescape"))
    write(tmp_path, f"y.csv{packed}", "a,b\n1,2\n\n")
    batch = batch_of(session, tmp_path, build_of(CSV, malformed=Malformed.QUARANTINE))
    assert rows(batch) == sorted(
        [("x\ny", "2"), ("1", "2"), *(("9", str(n)) for n in range(5))], key=str
    )
    assert batch.rejected == 5
    name = f"in/x.csv{packed}"
    shown = ["1", '"3"4,5', "1,2,3", "6,\\xff", '"7,8']
    assert quarantined(tmp_path) == [(name, 4 + 2 * n, text) for n, text in enumerate(shown)]
    batch.confirm()
    write(tmp_path, f"x.csv{packed}", "a,b\nother\n")
    with pytest.raises(SourceUnreadable, match="changed while"):
        batch.confirm()


@pytest.mark.parametrize("form", [CSV, JSONL])
def test_good_and_bad_lines_are_all_lines(
    session: SparkSession, tmp_path: Path, form: SourceFormat
) -> None:
    right = {CSV: "{n},x\n", JSONL: '{{"a": {n}, "b": "x"}}\n'}[form]
    wrong = {CSV: "{n}\n", JSONL: '{{"a": {n}\n'}[form]
    lines = [(wrong if n % 7 == 0 else right).format(n=n) for n in range(5000)]
    write(tmp_path, f"x.{form}", ("a,b\n" if form is CSV else "") + "".join(lines))
    batch = batch_of(session, tmp_path, build_of(form, malformed=Malformed.QUARANTINE))
    assert (batch.frame.count(), batch.rejected) == (5000 - 715, 715)
    assert len(quarantined(tmp_path)) == 715
    assert [int(row.a) for row in batch.frame.orderBy("a").collect()] == sorted(
        (n for n in range(5000) if n % 7), key=str
    )


def test_without_bad_lines_nothing_is_kept(session: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "x.csv", "a,b\n1,2\n")
    batch = batch_of(session, tmp_path, build_of(CSV, malformed=Malformed.QUARANTINE))
    assert (rows(batch), batch.rejected) == ([("1", "2")], 0)
    assert not (tmp_path / "landing").exists()


def test_a_bad_header_is_refused_though_bad_lines_are_not(
    session: SparkSession, tmp_path: Path
) -> None:
    write(tmp_path, "x.csv", '"a,b\n1,2\n')
    with pytest.raises(SourceUnreadable, match=r"in/x.csv: line 1"):
        read(session, tmp_path, build_of(CSV, malformed=Malformed.QUARANTINE))
    write(tmp_path, "x.csv", "a,c\n1,2\n1\n")
    build = build_of(CSV, malformed=Malformed.QUARANTINE, header=("a", "b"))
    with pytest.raises(SourceUnreadable, match="column 2 is 'c' instead of 'b'"):
        read(session, tmp_path, build)


def test_what_is_landed_is_what_is_read(session: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "x.csv", "a,b\n1,2\n3\n")
    write(tmp_path, "y.csv.gz", "a,b\n4,5\n")
    build = build_of(CSV, landing=True, malformed=Malformed.QUARANTINE)
    batch = batch_of(session, tmp_path, build)
    for name in ("x.csv", "y.csv.gz"):
        (tmp_path / "in" / name).unlink()
    assert (batch.frame.columns, rows(batch)) == (["a", "b"], [("1", "2"), ("4", "5")])
    assert quarantined(tmp_path) == [("in/x.csv", 3, "3")]
    batch.confirm()
    assert sorted(path.name for path in folder_of(tmp_path).iterdir()) == [
        "accepted",
        "malformed.jsonl",
        "manifest.json",
        "x.csv",
        "y.csv.gz",
    ]


def test_a_packed_csv_is_read_like_any_other(session: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "x.csv.gz", 'a,b\n"multi\nline",2\n')
    write(tmp_path, "y.csv.gz", "a,b\n3,4\n")
    batch = batch_of(session, tmp_path, build_of(CSV))
    assert rows(batch) == [("3", "4"), ("multi\nline", "2")]
    write(tmp_path, "z.csv.gz", "a,b\n3\n")
    broken = batch_of(session, tmp_path, build_of(CSV))
    with pytest.raises(Exception) as failure:  # noqa: PT011 - whatever Spark raises
        broken.frame.write.parquet(str(tmp_path / "out"))
    reported = str(broken.explain(failure.value))
    assert "in/z.csv.gz: line 2 has 1 field instead of 2" in reported


def test_a_download_is_read_from_where_it_landed(session: SparkSession, tmp_path: Path) -> None:
    with web_site() as site:
        site.pages["/x.csv.gz"] = Page(gzip.compress(b"a,b\n1,2\n"))
        build = build_of(CSV, path="", url=f"{site.url}/x.csv.gz")
        batch = read(session, tmp_path, build, load=LoadType.APPEND)
        assert batch is not None
        assert rows(batch) == [("1", "2")]
        before = SourceHistory(batch.position)
        again = build.model_copy(update={"position": before.position})
        place = tmp_path / "again"
        assert read(session, place, again, reader=before, load=LoadType.APPEND) is None
        assert len(site.asked) == 2


@pytest.mark.parametrize("form", [CSV, JSONL, PARQUET])
def test_clean_names_of_columns(session: SparkSession, tmp_path: Path, form: SourceFormat) -> None:
    if form is PARQUET:
        made = session.sql("SELECT '1' AS `Cell ID#`, '2' AS `MCC`, '3' AS `New Col`")
        made.coalesce(1).write.parquet(str(tmp_path / "in"))
    else:
        text = {CSV: "Cell ID#,MCC,New Col\n1,2,3\n"}
        write(tmp_path, "x", text.get(form, '{"Cell ID#": 1, "MCC": 2, "New Col": 3}\n'))
    path = "in/*.parquet" if form is PARQUET else "in/*"
    declared = schema(cell_id="string", MCC="string")
    batch = batch_of(session, tmp_path, build_of(form, path=path), declared)
    assert batch.live.names == ("cell_id", "MCC", "new_col")
    assert (batch.frame.columns, rows(batch)) == (["cell_id", "MCC", "new_col"], [("1", "2", "3")])


def test_two_columns_of_one_clean_name_are_refused(session: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, "x.csv", "Cell ID,Cell ID#\n1,2\n")
    with pytest.raises(SourceUnreadable, match="'Cell ID' and 'Cell ID#' both become 'cell_id'"):
        read(session, tmp_path, build_of(CSV))
