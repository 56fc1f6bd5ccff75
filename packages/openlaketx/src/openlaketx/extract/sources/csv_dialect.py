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
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeguard_sdk.core.enums import CSV_ENCODINGS
from lakeguard_sdk.types.plain_types import DateFormat, date_format, null_values
from openlaketx.extract.files.text_files import TextProblem, opened_bytes, opened_lines

if TYPE_CHECKING:
    from _csv import Reader

OPTIONS = (
    *("delimiter", "quote", "escape", "null_value", "encoding"),
    *("formats", "file_name", "arrived_at"),
)
ENCODINGS = {codecs.lookup(name).name: name for name in CSV_ENCODINGS}
"""Python's name of each encoding, and Spark's."""
_CHUNK = 1 << 20
_BLANK_LINE = re.compile(rb"[\r\n][\x00-\x09\x0b\x0c\x0e-\x20]+(?=[\r\n]|\Z)")
"""A line that Spark treats as empty, although it may be a value, or NULLs between tabs."""


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
    """The header, and whether every line is one record.

    With quotes they may not be; and Spark drops blank lines when it reads by line.
    """

    header: tuple[str, ...] | None
    by_lines: bool


def scan_csv(path: str, dialect: CsvDialect) -> CsvScan:
    """Scan the whole file once; fails for undecodable bytes and unclosed quotes.

    Spark would read U+FFFD for the former and swallow the rest of the file for the latter.
    """
    decoder = codecs.getincrementaldecoder(dialect.codec)()
    quotes, ends, blanks, before = 0, 0, False, b"\n"
    mark = dialect.quote.encode(dialect.codec)
    with opened_bytes(path) as file:
        while chunk := file.read(_CHUNK):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                line = ends + chunk[: max(0, error.start - pending)].count(b"\n") + 1
                raise DialectProblem(_undecodable(dialect, f"line {line}: a byte")) from None
            quotes += chunk.count(mark) if mark else 0
            ends += chunk.count(b"\n")
            blanks = blanks or _BLANK_LINE.search(before + chunk) is not None
            before = chunk[-1:]
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise DialectProblem(_undecodable(dialect, "the last character")) from None
    if quotes % 2:
        for _ in dialect.records(path):
            pass
    first = next(dialect.records(path), None)
    return CsvScan(header=tuple(first[1]) if first else None, by_lines=not (quotes or blanks))


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
