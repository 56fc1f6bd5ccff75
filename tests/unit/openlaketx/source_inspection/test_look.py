"""A look at files: format, columns, types and keys, and what it refuses."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake

from lakeguard_sdk.core.enums import SourceFormat
from lakeguard_sdk.errors import SourceNotInspectable
from lakeguard_sdk.expressions.conditions import ColumnRef, Compare, Comparison, Length, Value
from lakeguard_sdk.expressions.measures import CountIf, measure_key
from lakeguard_sdk.model.source_preview import SourcePreview
from lakeguard_sdk.types.plain_types import null_values
from openlaketx.extract.files.text_files import LONGEST_LINE
from openlaketx.source_inspection import inspect_source
from openlaketx.source_inspection.sample_rows import Limits

ORDERS = "order_id,ordered_at,zip,amount\n1,2026-01-05T08:12:00Z,01234,129.90\n2,,98765,-3\n"


def types(sketch: SourcePreview) -> dict[str, str]:
    return {column.name: column.type for column in sketch.columns}


def write(folder: Path, content: str | bytes, name: str = "a.csv") -> None:
    data = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(data)


def test_csv_files_of_one_header(tmp_path: Path) -> None:
    write(tmp_path, ORDERS, "a.csv")
    write(tmp_path, ORDERS.replace("\n1,", "\n3,").replace("\n2,", "\n4,"), "b.csv")
    found = inspect_source("*.csv", str(tmp_path))
    assert types(found) == {
        "order_id": "integer",
        "ordered_at": "timestamp",
        "zip": "string",
        "amount": "decimal(18,2)",
    }
    assert [column.nulls for column in found.columns] == [0, 2, 0, 0]
    assert (found.format, found.options, found.keys) == (SourceFormat.CSV, {}, ("order_id",))
    assert (found.files, found.files_found, found.rows, found.whole) == (2, 2, 4, True)
    assert found.bytes == 2 * len(ORDERS)


def test_a_later_file_may_have_its_columns_in_another_order(tmp_path: Path) -> None:
    write(tmp_path, "id,day,city\n1,2026-01-05,Ulm\n", "a.csv")
    write(tmp_path, "city,id,day\nBonn,2,2026-01-06\n", "b.csv")
    found = inspect_source("*.csv", str(tmp_path))
    assert types(found) == {"id": "integer", "day": "date", "city": "string"}
    assert (found.keys, found.rows) == (("id",), 2)


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a;b\n1;2\n3;4,5\n", {"delimiter": ";"}),
        ("a\tb\n1\t2\n", {"delimiter": "\t"}),
        ("a|b\n1|x,y\n", {"delimiter": "|"}),
        ('a,b\n"1;2;3",4\n', {}),
        ("only\n1\n", {}),
        ("a,b\nMünchen,1\n".encode("cp1252"), {"encoding": "windows-1252"}),
        ("a,b\n\x81,1\n".encode("latin-1"), {"encoding": "ISO-8859-1"}),
        ("\ufeffa,b\nMünchen,1\n", {}),
        ("a,b\n1,NA\nNA,2\n", {"null_value": "NA"}),
        ("a,b\nx,\\N\ny,2\n", {"null_value": "\\N"}),
        ("a,b\nx,NA\ny,z\n", {}),
        ("a,b\nx,NA\ny,-\nz,null\nu,\nv,3\n", {"null_value": '["NA","null","-"]'}),
        ("a,b\n-,NA\n2026-01-05,7\nn/a,8\n", {"null_value": '["NA","n/a","-"]'}),
        ("a,b\nx,NA\n-,7\n", {"null_value": "NA"}),
        ("a,b\nNA,NA\n-,-\n", {}),
    ],
)
def test_how_a_csv_file_is_written(
    tmp_path: Path, content: str | bytes, options: dict[str, str]
) -> None:
    write(tmp_path, content)
    found = inspect_source("a.csv", str(tmp_path))
    assert found.options == options
    assert found.columns[0].name in ("a", "only")


def test_a_null_mark_counts_as_no_value(tmp_path: Path) -> None:
    write(tmp_path, "id,n\n1,NA\n2,7\n3,NA\n")
    found = inspect_source("a.csv", str(tmp_path))
    assert types(found) == {"id": "integer", "n": "integer"}
    assert found.columns[1].nulls == 2


def test_several_null_marks_count_as_no_value(tmp_path: Path) -> None:
    write(tmp_path, "id,n,s\n1,NA,x\n2,7,-\n3,-,y\n4,,z\n")
    found = inspect_source("a.csv", str(tmp_path))
    assert types(found) == {"id": "integer", "n": "integer", "s": "string"}
    assert [column.nulls for column in found.columns] == [0, 3, 1]
    assert null_values(found.options["null_value"]) == ["NA", "-"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", 'id,s,n\n1,"",""\n2,,\n3,"a,"",b",7\n4,x,8\n'),
        ("a.csv", 'id;s;n\n1;"";""\n2;;\n3;"a;"";\nb";7\n4;x"";8'),
        ("a.jsonl", '{"id":1,"s":"","n":null}\n{"id":2}\n{"id":3,"s":"a","n":7}\n'),
    ],
)
def test_a_quoted_empty_field_is_a_text_and_no_other_value(
    tmp_path: Path, name: str, content: str
) -> None:
    """A run reads it so: the empty text in a column of texts, NULL in any other."""
    write(tmp_path, content, name)
    found = inspect_source(name, str(tmp_path))
    assert types(found) == {"id": "integer", "s": "string", "n": "integer"}
    assert [column.nulls for column in found.columns] == [0, 1, 2]


def test_lines_of_json_keep_what_is_written_as_text(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "code": "12", "at": "2026-01-05", "on": True, "deep": {"a": 1}, "mixed": 1},
        {"id": 2**40, "code": "13", "at": None, "late": 1.5, "mixed": "x"},
    ]
    write(tmp_path, "\n".join(map(json.dumps, rows)) + "\n\n", "a.jsonl")
    found = inspect_source("a.jsonl", str(tmp_path))
    assert types(found) == {
        "id": "long",
        "code": "string",
        "at": "date",
        "on": "boolean",
        "deep": "string",
        "mixed": "string",
        "late": "decimal(18,1)",
    }
    assert (found.rows, found.keys) == (2, ("id",))
    assert [column.nulls for column in found.columns] == [0, 0, 1, 1, 1, 0, 1]


def test_parquet_and_delta_say_their_types_themselves(tmp_path: Path) -> None:
    table = pa.table({"Store": ["a", "a", "b"], "day_no": [1, 2, 1], "x": [0.5, None, 0.5]})
    pq.write_table(table, tmp_path / "a.parquet")
    write_deltalake(str(tmp_path / "t"), table, partition_by=["Store"])
    for pattern, kind in (("a.parquet", SourceFormat.PARQUET), ("t", SourceFormat.DELTA)):
        found = inspect_source(pattern, str(tmp_path))
        assert found.format is kind
        assert types(found) == {"Store": "string", "day_no": "long", "x": "double"}
        assert (found.rows, found.whole) == (3, True)
    assert inspect_source("a.parquet", str(tmp_path)).keys == ("Store", "day_no")


def test_names_with_blanks_and_hashes_are_cleaned_and_others_kept(tmp_path: Path) -> None:
    write(tmp_path, "Cell ID#,OrderDate,x\n1,2,3\n")
    found = inspect_source("a.csv", str(tmp_path))
    assert [(column.found_as, column.name) for column in found.columns] == [
        ("Cell ID#", "cell_id"),
        ("OrderDate", "OrderDate"),
        ("x", "x"),
    ]


def test_the_look_is_bounded_and_says_so(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        write(tmp_path, "id\n1\n2\n3\n", name)
    limits = Limits(files=2, rows=2)
    found = inspect_source("*.csv", str(tmp_path), limits)
    assert (found.files, found.files_found, found.rows, found.whole) == (2, 3, 4, False)
    assert not inspect_source("a.csv", str(tmp_path), limits).whole
    assert inspect_source("a.csv", str(tmp_path), Limits(rows=3)).whole


def test_a_file_with_a_header_alone_is_a_table_of_texts(tmp_path: Path) -> None:
    write(tmp_path, "a,b\n")
    found = inspect_source("a.csv", str(tmp_path))
    assert (types(found), found.rows, found.keys) == ({"a": "string", "b": "string"}, 0, ())


@pytest.mark.parametrize(
    ("files", "pattern", "reason"),
    [
        ({}, "*.csv", "no file matches"),
        ({"d/a.csv": "a\n1\n"}, "d", "it is a folder; give a file pattern"),
        ({"a.csv": "a\n1\n", "b.jsonl": "{}\n"}, "*", "is jsonl, and"),
        ({"a.csv": ""}, "*", "has no header"),
        ({"a.csv": "a,b\n1,2\n", "b.csv": "a,c\n1,2\n"}, "*", "its header differs"),
        ({"a.csv": "a,b\n1,2\n3\n"}, "*", "line 3 has 1 field instead of 2"),
        ({"a.csv": "a,A\n1,2\n"}, "*", "differ in case only"),
        ({"a.csv": "a b,A#B,a_b\n1,2,3\n"}, "*", "would both be named 'a_b'"),
        ({"a.csv": "a,b\0\n"}, "*", "it is not a text file"),
        ({"a.json": "[1, 2]\n"}, "*", "line 1: not a JSON object; write each row as an object"),
        ({"a.jsonl": '{"a": 1}\n{"a": \n'}, "*", "line 2: Expecting value at character 7"),
        ({"a.jsonl": '{"a": 1, "a": 2}\n'}, "*", "line 1: duplicate key 'a'"),
        ({"a.jsonl": '{"a": 1}\n{"a": NaN}\n'}, "*", "line 2: NaN is not valid JSON"),
        ({"a.jsonl": '{"a": "\\ud800"}\n'}, "*", "line 1: incomplete surrogate pair"),
        ({"a.jsonl": '\ufeff{"a": 1}\n'}, "*", "line 1: Expecting value at character 1"),
        ({"a.jsonl": '{"a": ' + "[" * 100_000}, "*", "line 1: nested too deeply"),
        ({"a.parquet": "PAR1 and no more"}, "*", "a.parquet"),
    ],
)
def test_what_no_source_could_be_made_of(
    tmp_path: Path, files: dict[str, str], pattern: str, reason: str
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path, content, name)
    with pytest.raises(SourceNotInspectable) as refused:
        inspect_source(pattern, str(tmp_path))
    assert reason in str(refused.value)


def test_the_content_says_what_the_name_does_not(tmp_path: Path) -> None:
    write(tmp_path, '{"a": 1}\n', "one")
    write(tmp_path, "a,b\n1,2\n", "two")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "three")
    write(tmp_path, gzip.compress(b'{"a": 1}\n'), "four.jsonl.gz")
    kinds = {name: inspect_source(name, str(tmp_path)).format for name in ("one", "two", "three")}
    assert list(kinds.values()) == ["jsonl", "csv", "parquet"]
    assert inspect_source("four.jsonl.gz", str(tmp_path)).rows == 1


@pytest.mark.parametrize("name", ["a.csv.gz", "a.jsonl.gz"])
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no gzip", "damaged or truncated gzip file"),
        (gzip.compress(b'{"a": 1}\n' * 99)[:-9], "damaged or truncated gzip file"),
        (gzip.compress(b"a" * (LONGEST_LINE + 1), 1), "a line has more than 67,108,864 characters"),
    ],
    ids=["damaged", "cut short", "endless"],
)
def test_a_packed_file_that_cannot_be_read_is_refused(
    tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    write(tmp_path, content, name)
    with pytest.raises(SourceNotInspectable, match=reason):
        inspect_source(name, str(tmp_path))


def test_nested_values_are_inspected_as_a_run_reads_them(tmp_path: Path) -> None:
    """``{"a":1}`` has seven characters, however Python would write it."""
    write(tmp_path, '{"n": {"a":1}}\n{"n": {"b":2}}\n', "a.jsonl")
    column = ColumnRef(name="n", type="string")
    seven = Compare(op=Comparison.EQ, left=Length(of=column), right=Value(type="integer", text="7"))
    asked = CountIf(condition=seven)
    found = inspect_source("a.jsonl", str(tmp_path), ask=lambda _: [asked])
    assert found.measured == {measure_key(asked): 2}
