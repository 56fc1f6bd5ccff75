"""CSV is read exactly, or the run reports file and line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakeguard_sdk.core.enums import CSV_ENCODINGS, Malformed
from lakeguard_sdk.errors import SourceUnreadable
from lakeguard_sdk.model.run import SchemaVerdict
from lakeguard_sdk.storage.storage import LocalStorage
from openlaketx.conform import as_accepted, conform
from openlaketx.engine.spark.errors import SPARK_ERRORS
from openlaketx.extract import Batch, extract
from tests.support.lakes.plans import csv, plan, schema, write_files

pytestmark = pytest.mark.spark
AB = schema(a="string", b="string")


def read(session: SparkSession, lake: Path, **options: str) -> Batch:
    batch = extract(plan(lake, csv(**options), AB), lambda: session, str(lake), LocalStorage())
    assert batch is not None
    return batch


def rows(batch: Batch) -> list[tuple[str | None, ...]]:
    return sorted((tuple(row) for row in batch.frame.collect()), key=str)


def failure(session: SparkSession, lake: Path, **options: str) -> str:
    """The run's error, found by the scan or while Spark reads."""
    try:
        batch = read(session, lake, **options)
        frame = conform(batch.frame, batch.live, schema(a="string"), "bronze.orders")
        frame.write.parquet(str(lake / "out"))
    except SPARK_ERRORS as error:
        return str(batch.explain(error))
    except SourceUnreadable as error:
        return str(error)
    raise AssertionError("it was read")


def test_what_stands_in_the_files_is_what_is_read(session: SparkSession, tmp_path: Path) -> None:
    write_files(
        tmp_path,
        plain="a,b\n1,2\n,\n  x , y\n",
        quoted='a,b\r\n"multi\nline","say ""hi"""\r\n"","\r\n"\r\n5" pipe,x\r\n',
        marked="\ufeffa,b\nä,日本💥\n",
        unfinished="a,b\nno,newline at the end",
        only_header="a,b\n",
    )
    batch = read(session, tmp_path)
    assert batch.live == AB
    assert rows(batch) == sorted(
        [
            ("1", "2"),
            (None, None),
            ("  x ", " y"),
            ("multi\nline", 'say "hi"'),
            ("", "\n"),
            ('5" pipe', "x"),
            ("ä", "日本💥"),
            ("no", "newline at the end"),
        ],
        key=str,
    )
    batch.confirm()


def test_a_line_of_blanks_is_a_value_and_no_empty_line(
    session: SparkSession, tmp_path: Path
) -> None:
    write_files(tmp_path, one="a\n1\n  \n\n\t\n")
    assert rows(read(session, tmp_path)) == sorted([("1",), ("  ",), ("\t",)], key=str)
    write_files(tmp_path, one="a\tb\n\t\n")
    assert rows(read(session, tmp_path, delimiter="tab")) == [(None, None)]


def test_options_say_how_the_files_are_written(session: SparkSession, tmp_path: Path) -> None:
    content = "a;b\n'x;y';NA\n'it\\'s';'NA'\né;\n"
    write_files(tmp_path, one=content.encode("latin1"))
    found = read(
        session,
        tmp_path,
        delimiter=";",
        quote="'",
        escape="\\",
        null_value="NA",
        encoding="ISO-8859-1",
    )
    assert rows(found) == sorted([("x;y", None), ("it's", None), ("é", None)], key=str)


@pytest.mark.parametrize("encoding", CSV_ENCODINGS)
def test_every_encoding_that_a_source_may_have_is_read(
    session: SparkSession, tmp_path: Path, encoding: str
) -> None:
    letter = {"US-ASCII": "e", "ISO-8859-1": "é"}.get(encoding, "€")
    write_files(tmp_path, one=f"a,b\n{letter},1\n".encode(encoding))
    assert rows(read(session, tmp_path, encoding=encoding)) == [(letter, "1")]


def test_files_of_a_header_alone_are_an_empty_batch(session: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, one="a,b\n", two="a,b")
    batch = read(session, tmp_path)
    assert (batch.live, rows(batch)) == (AB, [])
    assert batch.position is not None
    assert len(batch.position.files) == 2


@pytest.mark.parametrize("text", ["", "\n"])
def test_a_file_without_a_header_is_refused(
    session: SparkSession, tmp_path: Path, text: str
) -> None:
    write_files(tmp_path, one="a,b\n1,2\n", two=text)
    with pytest.raises(SourceUnreadable, match=r"two.csv is empty"):
        read(session, tmp_path)


def test_odd_names_of_files_and_columns(session: SparkSession, tmp_path: Path) -> None:
    lake = tmp_path / "la ke {1} [2] *"
    write_files(
        lake, **{"b [1] {x} %20 é": "a b,c.d,`e`\n1,2,3\n", "b [1] {x} %20 f": "a b,c.d,`e`\n"}
    )
    declared = schema(**{"`e`": "long", "c.d": "string", "a b": "integer"})
    batch = extract(plan(lake, csv(), declared), lambda: session, str(lake), LocalStorage())
    assert batch is not None
    assert batch.live.names == ("a b", "c.d", "`e`")
    frame = conform(batch.frame, batch.live, declared, "bronze.orders")
    assert (frame.columns, frame.collect()) == (["`e`", "c.d", "a b"], [(3, "2", 1)])


@pytest.mark.parametrize(
    ("files", "about"),
    [
        ({"x": "a,b\n1,2\n", "y": "a,b\n1,2\n3\n"}, "in/y.csv: line 3 has 1 field instead of 2"),
        ({"x": "a,b\n1,2,3\n"}, "in/x.csv: line 2 has 3 fields instead of 2"),
        ({"x": "a,b\n1,2\n  \n"}, "in/x.csv: line 3 has 1 field instead of 2"),
        ({"x": 'a,b\n"1",2\n"3\n'}, "in/x.csv: line"),
        ({"x": 'a,b\n"1"2,3\n'}, "in/x.csv: line 2"),
        ({"x": "a,b\n1,2\n", "y": "a,bb\n1,2\n"}, "in/y.csv has no column 'b', which in/x.csv has"),
        ({"x": "a,b\n1,2\n", "y": "a,bb\n1,2\n"}, "but has the undeclared column 'bb'"),
        ({"x": "a,b\n1,2\n", "y": "a,b\n1,2\n", "z": "b\n1\n2,3\n"}, "in/z.csv: line 3"),
        ({"x": "a,a\n1,2\n"}, "in/x.csv: duplicate column 'a'"),
        ({"x": "a,A\n1,2\n"}, "differ in case only"),
        ({"x": "a,\n1,2\n"}, "no name"),
        ({"x": b"a,b\n1,\xff\n"}, "in/x.csv: line 2: a byte is not UTF-8"),
        ({}, "no file matches /"),
    ],
    ids=str,
)
def test_files_that_cannot_be_read_as_they_are(
    session: SparkSession, tmp_path: Path, files: dict[str, str | bytes], about: str
) -> None:
    write_files(tmp_path, **files)
    reported = failure(session, tmp_path)
    assert about in reported
    assert "\n" not in reported


def test_a_line_is_checked_though_its_column_is_left_out(
    session: SparkSession, tmp_path: Path
) -> None:
    write_files(tmp_path, x="a,b\n1,2\n3,4,5\n")
    assert "line 3" in failure(session, tmp_path)


@pytest.mark.parametrize(
    ("header", "about"),
    [
        (
            ("a", "c"),
            "in/x.csv does not have the declared header: column 2 is 'b' instead of 'c'",
        ),
        (("b", "a"), "column 1 is 'a' instead of 'b'"),
        (("a",), "2 columns instead of 1"),
        (("a", "b", "c"), "2 columns instead of 3"),
        (("A", "b"), "column 1 is 'a' instead of 'A'"),
    ],
)
def test_every_file_has_the_header_of_the_definition(
    session: SparkSession, tmp_path: Path, header: tuple[str, ...], about: str
) -> None:
    write_files(tmp_path, x="a,b\n1,2\n")
    build = csv().model_copy(update={"header": header})
    with pytest.raises(SourceUnreadable) as refusal:
        extract(plan(tmp_path, build, AB), lambda: session, str(tmp_path), LocalStorage())
    assert about in str(refusal.value)


def test_the_second_file_is_held_to_the_header_too(session: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, x="a,b\n1,2\n", y="a,c\n1,2\n")
    build = csv().model_copy(update={"header": ("a", "b")})
    with pytest.raises(SourceUnreadable, match=r"in/y.csv does not have the declared header"):
        extract(plan(tmp_path, build, AB), lambda: session, str(tmp_path), LocalStorage())
    (tmp_path / "in" / "y.csv").unlink()
    batch = extract(plan(tmp_path, build, AB), lambda: session, str(tmp_path), LocalStorage())
    assert batch is not None
    assert rows(batch) == [("1", "2")]


def test_files_under_different_headers_are_read_by_name(
    session: SparkSession, tmp_path: Path
) -> None:
    """With or without quotes, and with columns in any order."""
    write_files(
        tmp_path,
        u="a,b\n1,2\n",
        v='b,a\n"4\n",3\n"",5\n',
        w="a\n6\n",
        x='a\n"7"\n',
        y="b,c,a\n9,ignored,8\n",
    )
    batch = read(session, tmp_path)
    assert batch.live.names == ("a", "b", "c")
    assert rows(batch) == sorted(
        [
            ("1", "2", None),
            ("3", "4\n", None),
            ("5", "", None),
            ("6", None, None),
            ("7", None, None),
            ("8", "9", "ignored"),
        ],
        key=str,
    )


def test_one_name_may_be_spelt_in_two_ways(session: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, x="Unit Price#,b\n1,2\n", y="b,unit_price\n4,3\n")
    declared = schema(unit_price="long", b="long")
    batch = extract(plan(tmp_path, csv(), declared), lambda: session, str(tmp_path), LocalStorage())
    assert batch is not None
    assert batch.live.names == ("unit_price", "b")
    assert rows(batch) == [("1", "2"), ("3", "4")]


@pytest.mark.parametrize("required", [(), ("b",)])
def test_a_column_that_must_have_a_value_is_in_every_file(
    session: SparkSession, tmp_path: Path, required: tuple[str, ...]
) -> None:
    write_files(tmp_path, x="a,b\n1,2\n", y="a\n3\n")
    made = plan(tmp_path, csv(), AB, required=required)
    if required:
        with pytest.raises(SourceUnreadable, match=r"in/y.csv has no column 'b', which in/x"):
            extract(made, lambda: session, str(tmp_path), LocalStorage())
        return
    batch = extract(made, lambda: session, str(tmp_path), LocalStorage())
    assert batch is not None
    assert rows(batch) == [("1", "2"), ("3", None)]


def test_what_no_file_has_is_not_there(session: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, x="a\n1\n", y="a\n2\n")
    assert read(session, tmp_path).live.names == ("a",)


def test_an_unknown_option_is_refused(session: SparkSession, tmp_path: Path) -> None:
    write_files(tmp_path, x="a,b\n")
    assert "did you mean delimiter" in failure(session, tmp_path, delimeter=";")


def test_nulls_formats_and_facts_of_the_file(session: SparkSession, tmp_path: Path) -> None:
    """Each file once by line and once with quotes, which Spark reads in another way."""
    write_files(
        tmp_path,
        plain="a,b\n01/02/2026,NA\n-,31.12.2025 23:59\n2026-03-04,n/a\n",
        quoted='a,b\n"05/06/2026","x\ny"\n"",-\n',
    )
    formats = '{"a":"dd/MM/yyyy","b":"dd.MM.yyyy HH:mm"}'
    given = {
        "null_value": '["NA","n/a","-"]',
        "formats": formats,
        "file_name": "file",
        "arrived_at": "at",
    }
    batch = read(session, tmp_path, **given)
    assert batch.live == schema(a="string", b="string", file="string", at="string")
    found = batch.frame.select("a", "b", "file").collect()
    assert sorted(map(tuple, found), key=str) == sorted(
        [
            ("2026-02-01", None, "plain.csv"),
            (None, "2025-12-31T23:59:00", "plain.csv"),
            ("2026-03-04", None, "plain.csv"),
            ("2026-06-05", "x\ny", "quoted.csv"),
            ("", None, "quoted.csv"),
        ],
        key=str,
    )
    declared = schema(at="timestamp")
    times = conform(batch.frame.select("at"), schema(at="string"), declared, "bronze.orders")
    assert all(row["at"] is not None for row in times.collect())


def test_a_column_of_the_file_may_not_be_one_of_its_header(
    session: SparkSession, tmp_path: Path
) -> None:
    write_files(tmp_path, one="a,b\n1,2\n")
    with pytest.raises(SourceUnreadable, match="b"):
        read(session, tmp_path, file_name="b")


def test_a_value_that_does_not_fit_is_quarantined_like_a_malformed_line(
    session: SparkSession, tmp_path: Path
) -> None:
    write_files(tmp_path, one="a,b\n1,x\nold,y\n3,z\n4,5,6\n,w\n")
    declared = schema(a="integer", b="string")
    build = csv().model_copy(update={"malformed": Malformed.QUARANTINE})
    made = plan(tmp_path, build, declared)
    batch = extract(made, lambda: session, str(tmp_path), LocalStorage())
    assert batch is not None
    assert batch.rejected == 1
    verdict = SchemaVerdict(accepted=True, differences=())
    accepted = as_accepted(batch, verdict, made, str(tmp_path))
    frame = conform(accepted.frame, accepted.live, declared, "bronze.orders")
    assert sorted(map(tuple, frame.select("a", "b").collect()), key=str) == sorted(
        [(1, "x"), (3, "z"), (None, "w")], key=str
    )
    assert accepted.rejected == 2
