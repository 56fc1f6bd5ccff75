"""CSV dialect of a source, and a scan of its files in plain Python.

RFC 4180 by default: comma, double quote, quotes doubled inside quotes. An empty field is NULL, and
so is each ``null_value``; a quoted empty field is the empty string. In a file with CRLF line ends,
a line end inside quotes is read as LF.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeguard_sdk.core.enums import CSV_ENCODINGS
from lakeguard_sdk.types.plain_types import DateFormat, date_format, null_values
from openlaketx.engine.duckdb_reader import duckdb_text
from openlaketx.engine.locations import duckdb_path
from openlaketx.engine.machine import cores
from openlaketx.extract.files.text_files import TextProblem, opened_bytes, opened_lines

if TYPE_CHECKING:
    from _csv import Reader

OPTIONS = (
    *("delimiter", "quote", "escape", "null_value", "encoding"),
    *("formats", "file_name", "arrived_at"),
)
ENCODINGS = {codecs.lookup(name).name: name for name in CSV_ENCODINGS}
"""Python's name of each encoding, and Spark's."""
UNICODE = ("utf-8", "ascii")
_CHUNK = 1 << 20
_LONGEST_LINE = 16 << 20
_BLANKS = rb"[\x00-\x09\x0b\x0c\x0e-\x20]+(?=[\r\n]|\Z)"
_NEAR_BLANK = re.compile(rb"\n[\x00-\x20]")
_BLANK_AFTER_LF = re.compile(rb"\n" + _BLANKS)
_BLANK_AFTER_CR = re.compile(rb"\r" + _BLANKS)
"""A line that Spark treats as empty, although it may be a value, or NULLs between tabs. Patterns
that begin with one literal byte are searched ten times as fast."""


class DialectProblem(TextProblem):
    """Why the options or a file cannot be read as CSV."""


@dataclass(frozen=True)
class CsvDialect:
    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    null_value: str = ""
    codec: str = "utf-8"
    other_nulls: tuple[str, ...] = ()
    """Further texts for NULL."""
    formats: Mapping[str, DateFormat] = field(default_factory=dict)
    """Formats of dates and times, by column."""
    added: Mapping[str, str] = field(default_factory=dict)
    """Columns with facts of the file: ``file_name`` and ``arrived_at``, each with its name."""

    @classmethod
    def from_options(cls, options: dict[str, str]) -> CsvDialect:
        """``DialectProblem`` for an unknown option, with the closest match."""
        for key in options:
            if key not in OPTIONS:
                near = difflib.get_close_matches(key, OPTIONS, n=1)
                hint = (
                    f"; did you mean {near[0]}?" if near else f"; options are {', '.join(OPTIONS)}"
                )
                raise DialectProblem(f"unknown CSV option {key!r}{hint}")
        quote = _character(options, "quote", '"')
        null_value, *other_nulls = null_values(options.get("null_value", "")) or [""]
        return cls(
            delimiter=_character(options, "delimiter", ","),
            quote=quote,
            escape=_character(options, "escape", quote),
            null_value=null_value,
            codec=_codec(options.get("encoding", "utf-8")),
            other_nulls=tuple(other_nulls),
            formats=_formats(options.get("formats", "{}")),
            added={key: options[key] for key in ("file_name", "arrived_at") if key in options},
        )

    def spark_options(self, *, multiline: bool, empty: str) -> dict[str, str]:
        """``empty`` is Spark's value for a quoted empty field, distinct from NULL."""
        return {
            "header": "true",
            "mode": "FAILFAST",
            "sep": self.delimiter,
            "quote": self.quote,
            "escape": self.escape,
            "nullValue": self.null_value,
            "emptyValue": empty,
            "encoding": ENCODINGS[self.codec],
            "multiLine": str(multiline).lower(),
            "unescapedQuoteHandling": "RAISE_ERROR",
            "enforceSchema": "true",
            "ignoreLeadingWhiteSpace": "false",
            "ignoreTrailingWhiteSpace": "false",
        }

    def duckdb_relation(self, paths: Sequence[str], columns: int) -> str:
        """The rows of plain files, as texts ``c0``, ``c1`` and so on; only an empty field without
        quotes is NULL."""
        files = ", ".join(duckdb_text(duckdb_path(path)) for path in paths)
        names = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(columns))
        quote = duckdb_text(self.quote)
        return (
            f"read_csv([{files}], columns = {{{names}}}, auto_detect = false, header = false,"
            f" skip = 1, delim = {duckdb_text(self.delimiter)}, quote = {quote}, escape = {quote},"
            " nullstr = '', allow_quoted_nulls = false, strict_mode = true, null_padding = false,"
            " ignore_errors = false, hive_partitioning = false, comment = '')"
        )

    def records(self, path: str) -> Iterator[tuple[int, list[str]]]:
        """Every record with the line on which it starts; ``DialectProblem`` for broken quoting."""
        with self.lines(path) as lines:
            reader, first = self.reader(lines), 1
            try:
                for record in reader:
                    if record:
                        yield first, record
                    first = reader.line_num + 1
            except csv.Error as error:
                raise DialectProblem(f"line {first}: {error}") from None

    def lines(self, path: str) -> AbstractContextManager[Iterator[str]]:
        """Lines with their line ends; an undecodable byte becomes a lone surrogate."""
        return opened_lines(path, "utf-8-sig" if self.codec == "utf-8" else self.codec)

    def reader(self, lines: Iterator[str]) -> Reader:
        return csv.reader(lines, strict=True, **self._python())

    def _python(self) -> dict[str, Any]:
        if not self.quote:
            return {"delimiter": self.delimiter, "quoting": csv.QUOTE_NONE}
        doubled = self.escape == self.quote
        return {
            "delimiter": self.delimiter,
            "quotechar": self.quote,
            "doublequote": doubled,
            "escapechar": None if doubled else self.escape,
        }


@dataclass(frozen=True)
class CsvScan:
    """What a file needs of its reader."""

    header: tuple[str, ...] | None
    by_lines: bool
    """Whether every line is one record. Spark drops blank lines when it reads by line."""
    quoted: bool = False
    plain: bool = False
    """Whether every reader of CSV splits the file alike: one line end, no empty line, no NUL, each
    quote at the edge of its field or doubled."""
    lines: int = 0


def scan_csv(path: str, dialect: CsvDialect) -> CsvScan:
    """Scan the whole file once; fails for undecodable bytes and unclosed quotes.

    Spark would read U+FFFD for the former and swallow the rest of the file for the latter.
    """
    lines, decoding = _LineScan(), _Decoding(path, dialect)
    with (
        opened_bytes(path) as file,
        ThreadPoolExecutor(cores(), thread_name_prefix="scan") as pool,
    ):
        quotes = _QuoteScan(dialect, pool)
        while chunk := file.read(_CHUNK):
            decoding.feed(chunk)
            lines.feed(chunk)
            quotes.feed(chunk)
        decoding.end()
        quotes.end()
    if quotes.found and not quotes.regular and _count(path, quotes.mark) % 2:
        for _ in dialect.records(path):
            pass
    first = next(dialect.records(path), None)
    regular = not quotes.found or (quotes.regular and lines.end_alike)
    return CsvScan(
        header=tuple(first[1]) if first else None,
        by_lines=regular and not lines.blank,
        quoted=quotes.found,
        plain=regular and lines.plain,
        lines=lines.count,
    )


class _Decoding:
    """Fails for bytes that are no text."""

    def __init__(self, path: str, dialect: CsvDialect) -> None:
        self._path, self._dialect = path, dialect
        self._decoder = codecs.getincrementaldecoder(dialect.codec)()
        self._at = 0

    def feed(self, chunk: bytes) -> None:
        pending = len(self._decoder.getstate()[0])
        if pending or self._dialect.codec not in UNICODE or not chunk.isascii():
            try:
                self._decoder.decode(chunk)
            except UnicodeDecodeError as error:
                line = _ends_before(self._path, self._at + max(0, error.start - pending)) + 1
                problem = _undecodable(self._dialect, f"line {line}: a byte")
                raise DialectProblem(problem) from None
        self._at += len(chunk)

    def end(self) -> None:
        try:
            self._decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise DialectProblem(_undecodable(self._dialect, "the last character")) from None


class _LineScan:
    """Looks for blank lines, and for what readers of lines treat differently."""

    def __init__(self) -> None:
        self.blank = False
        self._empty = False
        self._nul = False
        self._returns = self._both = self._ends = 0
        self._before = b"\n"

    @property
    def end_alike(self) -> bool:
        return not self._returns or self._returns == self._both == self._ends

    @property
    def count(self) -> int:
        return self._ends + (self._before != b"\n")

    @property
    def plain(self) -> bool:
        return self.end_alike and not (self.blank or self._empty or self._nul)

    def feed(self, chunk: bytes) -> None:
        edge = self._before + chunk[:1]
        if _NEAR_BLANK.search(edge) or _NEAR_BLANK.search(chunk):
            self._empty = True
            self.blank = self.blank or _BLANK_AFTER_LF.search(self._before + chunk) is not None
        if b"\r" in edge or b"\r" in chunk:
            text = self._before + chunk
            self.blank = self.blank or _BLANK_AFTER_CR.search(text) is not None
            self._returns += chunk.count(b"\r")
            self._both += text.count(b"\r\n")
        self._ends += chunk.count(b"\n")
        self._nul = self._nul or b"\0" in chunk
        self._before = chunk[-1:]


class _QuoteScan:
    """Whether quotes are found, and all of them enclose a field of one line.

    Only for quotes that are escaped by doubling. Looked for by ``pool``; known at the end.
    """

    def __init__(self, dialect: CsvDialect, pool: ThreadPoolExecutor) -> None:
        self.mark = dialect.quote.encode(dialect.codec)
        self.found = False
        self.regular = dialect.escape == dialect.quote and all(
            len(text.encode(dialect.codec)) == 1 for text in (dialect.quote, dialect.delimiter)
        )
        self._dialect = dialect
        self._patterns: tuple[str, str] | None = None
        self._rest: list[bytes] = []
        self._waiting = 0
        self._pool = pool
        self._checks: deque[Future[bool]] = deque()

    def feed(self, chunk: bytes) -> None:
        if not self.mark:
            return
        self.found = self.found or self.mark in chunk
        if not self.regular:
            return
        last = chunk.rfind(b"\n") + 1
        if last:
            if self.mark in chunk or any(self.mark in part for part in self._rest):
                self._check(b"".join((*self._rest, chunk[:last])), whole=True)
            self._rest, self._waiting = [], 0
        self._rest.append(chunk[last:])
        self._waiting += len(chunk) - last
        if self._waiting > _LONGEST_LINE:
            self.regular = False

    def end(self) -> None:
        if self.mark and self.regular:
            self._check(b"".join(self._rest), whole=False)
        while self._checks:
            self.regular &= self._checks.popleft().result()

    def _check(self, text: bytes, *, whole: bool) -> None:
        if self._patterns is None:
            self._patterns = _line_patterns(self._dialect, crlf=b"\r\n" in text)
        if self.mark in text:
            pattern = self._patterns[0 if whole else 1]
            self._checks.append(self._pool.submit(_matches, text, pattern))
        if len(self._checks) > 2 * cores():
            self.regular &= self._checks.popleft().result()


def _matches(text: bytes, pattern: str) -> bool:
    given = pa.array([text], pa.large_binary())
    return bool(pc.match_substring_regex(given, pattern)[0].as_py())


def _line_patterns(dialect: CsvDialect, *, crlf: bool) -> tuple[str, str]:
    """Regular expressions for whole lines, and for a line without its end."""
    mark, delimiter = (f"\\x{ord(text):02x}" for text in (dialect.quote, dialect.delimiter))
    quoted = rf"{mark}(?:[^{mark}\r\n]|{mark}{mark})*{mark}"
    value = rf"(?:{quoted}|[^{mark}{delimiter}\r\n]*)"
    line = rf"{value}(?:{delimiter}{value})*"
    end = r"\r\n" if crlf else r"\n"
    return rf"\A(?:{line}{end})*\z", rf"\A{line}\z"


def _ends_before(path: str, place: int) -> int:
    ends = 0
    with opened_bytes(path) as file:
        while place > 0 and (chunk := file.read(min(_CHUNK, place))):
            ends += chunk.count(b"\n")
            place -= len(chunk)
    return ends


def _count(path: str, mark: bytes) -> int:
    with opened_bytes(path) as file:
        return sum(chunk.count(mark) for chunk in iter(lambda: file.read(_CHUNK), b""))


def fields_text(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"


def _undecodable(dialect: CsvDialect, what: str) -> str:
    """Names the option that says how the file is encoded."""
    found = ENCODINGS[dialect.codec]
    others = ", ".join(name for name in ENCODINGS.values() if name != found)
    return (
        f"{what} is not {found}; if the file has another encoding, set options: encoding ({others})"
    )


def first_fault(path: str, dialect: CsvDialect) -> str | None:
    """The first record whose width differs from the header's; None if all match."""
    width = None
    try:
        for line, record in dialect.records(path):
            width = width or len(record)
            if len(record) != width:
                return f"line {line} has {fields_text(len(record))} instead of {width}"
    except DialectProblem as problem:
        return str(problem)
    return None


def _character(options: dict[str, str], key: str, default: str) -> str:
    text = {"\\t": "\t", "tab": "\t"}.get(options.get(key, default), options.get(key, default))
    if len(text) > 1 or (not text and key == "delimiter"):
        raise DialectProblem(f"CSV option {key} must be one character, not {text!r}")
    return text


def _formats(text: str) -> dict[str, DateFormat]:
    try:
        return {column: date_format(form) for column, form in json.loads(text).items()}
    except ValueError as error:
        raise DialectProblem(f"CSV option formats: {error}") from None


def _codec(name: str) -> str:
    try:
        found = codecs.lookup(name).name
    except LookupError:
        found = ""
    if found not in ENCODINGS:
        raise DialectProblem(f"encoding {name!r} is not one of {', '.join(ENCODINGS.values())}")
    return found
