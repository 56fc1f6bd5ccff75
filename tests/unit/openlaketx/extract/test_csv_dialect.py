"""CSV is scanned before Spark reads it: what Spark ignores silently is an error."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from openlaketx.extract.files.text_files import LONGEST_LINE, TextProblem
from openlaketx.extract.sources.csv_dialect import (
    CsvDialect,
    DialectProblem,
    first_fault,
    scan_csv,
)

PLAIN = CsvDialect()


def written(folder: Path, content: str | bytes, name: str = "a.csv") -> str:
    data = content if isinstance(content, bytes) else content.encode()
    file = folder / name
    file.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return str(file)


@pytest.mark.parametrize(
    ("content", "header", "by_lines"),
    [
        ("", None, True),
        ("\n\n", None, True),
        ("a,b\n", ("a", "b"), True),
        ("a,b", ("a", "b"), True),
        ("\ufeffa,b\n1,2\n", ("a", "b"), True),
        ("\r\na,b\r\n1,2\r\n", ("a", "b"), True),
        ('"a, b","c\nd"\n1,2\n', ("a, b", "c\nd"), False),
        ('a,b\n1,"x ""y"""\n', ("a", "b"), True),
        ('"a","b"\r\n"",","\r\n', ("a", "b"), True),
        ('a,b\n1,"x"', ("a", "b"), True),
        ('a,b\n1,"x\ny"\n', ("a", "b"), False),
        ('a,b\n5" pipe,"x"\n', ("a", "b"), False),
        ('a,b\na","b\n",2\n', ("a", "b"), False),
        ('a,b\n"1",2\r\n', ("a", "b"), False),
        ('a,b\n"1",x\ry\n', ("a", "b"), False),
        ("a\n1\n  \n2\n", ("a",), False),
        ("a\n1\r\n\t\r\n", ("a",), False),
        ("a\n1\n ", ("a",), False),
        ("a\n1 \n 2\n", ("a",), True),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_header_and_whether_lines_are_records(
    tmp_path: Path, content: str, header: tuple[str, ...] | None, by_lines: bool, name: str
) -> None:
    look = scan_csv(written(tmp_path, content, name), PLAIN)
    assert (look.header, look.by_lines) == (header, by_lines)


@pytest.mark.parametrize(
    ("content", "plain"),
    [
        ("a,b\n1,2\n", True),
        ("a,b\r\n1,2\r\n", True),
        ('a,b\n"1,5",2', True),
        ("a,b\n1,2\r\n", False),
        ("a,b\r1,2\r", False),
        ("a,b\n\n1,2\n", False),
        ("a,b\r\n1,2\r\n\r\n", False),
        ("\na,b\n1,2\n", False),
        ("a,b\n1,\0\n", False),
        ('a,b\n1,"x\ny"\n', False),
        ('a,b\n5" pipe,x\n', False),
    ],
)
def test_whether_every_reader_splits_a_file_alike(
    tmp_path: Path, content: str, plain: bool
) -> None:
    assert scan_csv(written(tmp_path, content), PLAIN).plain == plain


def test_a_quoted_line_end_is_seen_across_the_reading_buffer(tmp_path: Path) -> None:
    for before in range((1 << 20) - 4, (1 << 20) + 1):
        text = "a\n" + "x" * (before - 3) + '\n"y\nz"\n"1"\n'
        assert not scan_csv(written(tmp_path, text), PLAIN).by_lines
        assert scan_csv(written(tmp_path, text.replace("y\nz", "y z")), PLAIN).by_lines


def test_a_line_of_blanks_across_the_reading_buffer_is_seen(tmp_path: Path) -> None:
    for before in range((1 << 20) - 4, (1 << 20) + 1):
        text = "a\n" + "x" * (before - 3) + "\n  \n1\n"
        assert not scan_csv(written(tmp_path, text), PLAIN).by_lines


@pytest.mark.parametrize(
    "damage", [b"no gzip", gzip.compress(b"a,b\n1,2\n" * 99)[:-9]], ids=["other", "cut short"]
)
def test_a_damaged_gzip_file_is_told_as_such(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / "a.csv.gz").write_bytes(damage)
    with pytest.raises(TextProblem, match="truncated gzip file"):
        scan_csv(str(tmp_path / "a.csv.gz"), PLAIN)


@pytest.mark.parametrize("start", [b"", b"a,b\n", b'a\n"'])
def test_a_small_file_of_one_endless_line_is_refused(tmp_path: Path, start: bytes) -> None:
    """Before all of the line is in memory."""
    file = written(tmp_path, start + bytes(LONGEST_LINE + 1), "a.csv.gz")
    with pytest.raises(TextProblem, match="a line has more than 67,108,864 characters"):
        list(PLAIN.records(file))


def test_a_byte_that_is_not_text_is_named(tmp_path: Path) -> None:
    file = written(tmp_path, b"a\n" + b"x" * (1 << 20) + b"\xff\n")
    problem = r"line 2: a byte is not UTF-8; .* set options: encoding \(ISO-8859-1"
    with pytest.raises(DialectProblem, match=problem):
        scan_csv(file, PLAIN)
    assert scan_csv(file, CsvDialect(codec="iso8859-1")).header == ("a",)


def test_a_character_across_the_reading_buffer_is_whole(tmp_path: Path) -> None:
    text = "a\n" + "x" * ((1 << 20) - 3) + "é\n"
    assert scan_csv(written(tmp_path, text), PLAIN).header == ("a",)
    cut = text.encode()[:-2]
    with pytest.raises(DialectProblem, match="the last character is not UTF-8"):
        scan_csv(written(tmp_path, cut), PLAIN)


def test_a_quote_that_never_closes_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DialectProblem, match="line"):
        scan_csv(written(tmp_path, 'a,b\n1,"x\n3,4\n5,6\n'), PLAIN)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("a,b\n1,2\n", None),
        ("a,b\n\n1,2\n", None),
        ('a,b\n1,"x\ny"\n', None),
        ("a,b\n1,2\n3\n", "line 3 has 1 field instead of 2"),
        ("a,b\n1,2,3\n", "line 2 has 3 fields instead of 2"),
        ('a,b\n1,"x"y\n', "line 2: ',' expected after '\"'"),
        ('a,b\n1,"x\ny"\n2\n', "line 4 has 1 field instead of 2"),
        ('a,b\n1,"x\ny",3\n', "line 2 has 3 fields instead of 2"),
    ],
)
def test_the_first_fault_is_found_by_line(tmp_path: Path, content: str, fault: str | None) -> None:
    assert first_fault(written(tmp_path, content), PLAIN) == fault


def test_options_make_the_dialect(tmp_path: Path) -> None:
    options = {"delimiter": "\\t", "quote": "'", "escape": "\\", "encoding": "latin1"}
    dialect = CsvDialect.from_options(options)
    assert scan_csv(written(tmp_path, b"\xe9\t'b\\'c'\n"), dialect).header == ("é", "b'c")
    reported = dialect.spark_options(multiline=True, empty="?")
    assert (reported["sep"], reported["encoding"], reported["mode"]) == (
        "\t",
        "ISO-8859-1",
        "FAILFAST",
    )


def test_no_quote_means_that_quotes_are_text(tmp_path: Path) -> None:
    dialect = CsvDialect.from_options({"quote": ""})
    look = scan_csv(written(tmp_path, 'a,b"\n'), dialect)
    assert (look.header, look.by_lines) == (("a", 'b"'), True)


@pytest.mark.parametrize(
    ("options", "about"),
    [
        ({"delimeter": ";"}, "did you mean delimiter"),
        ({"mode": "PERMISSIVE"}, "unknown CSV option 'mode'"),
        ({"delimiter": ""}, "one character"),
        ({"delimiter": "||"}, "one character"),
        ({"quote": "''"}, "one character"),
        ({"encoding": "utf-16"}, "utf-16"),
        ({"encoding": "klingon"}, "klingon"),
    ],
)
def test_options_that_are_none(options: dict[str, str], about: str) -> None:
    with pytest.raises(DialectProblem, match=about):
        CsvDialect.from_options(options)
