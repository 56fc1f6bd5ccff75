"""How the CSV files of a source are written, and a plain Python look at them.

RFC 4180 by default: comma, double quote, a quote inside quotes is doubled. A field with nothing
in it is NULL, and so is the ``null_value`` text; a quoted empty field is the empty string. In a
file whose lines end in CR LF, a line end inside quotes is read as LF.
"""

from __future__ import annotations

import codecs
import csv
import difflib
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeguard_sdk.core.enums import CSV_ENCODINGS
from openlaketx.extract.files.text_files import TextProblem, opened_bytes, opened_lines

if TYPE_CHECKING:
    from _csv import Reader

OPTIONS = ("delimiter", "quote", "escape", "null_value", "encoding")
ENCODINGS = {codecs.lookup(name).name: name for name in CSV_ENCODINGS}
"""Python's name of each encoding, and the name that Spark knows."""
_CHUNK = 1 << 20
_BLANK_LINE = re.compile(rb"[\r\n][\x00-\x09\x0b\x0c\x0e-\x20]+(?=[\r\n]|\Z)")
"""What Spark takes for an empty line, though it may be a value, or NULLs between tabs."""


class DialectProblem(TextProblem):
    """The options or a file cannot be read as CSV; says why."""


@dataclass(frozen=True)
class CsvDialect:
    delimiter: str = ","
    quote: str = '"'
    escape: str = '"'
    null_value: str = ""
    codec: str = "utf-8"

    @classmethod
    def from_options(cls, options: dict[str, str]) -> CsvDialect:
        """Raises ``DialectProblem`` for an option that is not one, naming the nearest."""
        for key in options:
            if key not in OPTIONS:
                near = difflib.get_close_matches(key, OPTIONS, n=1)
                hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(OPTIONS)}"
                raise DialectProblem(f"unknown CSV option {key!r}{hint}")
        quote = _character(options, "quote", '"')
        return cls(
            delimiter=_character(options, "delimiter", ","),
            quote=quote,
            escape=_character(options, "escape", quote),
            null_value=options.get("null_value", ""),
            codec=_codec(options.get("encoding", "utf-8")),
        )

    def spark_options(self, *, multiline: bool, empty: str) -> dict[str, str]:
        """``empty`` is what Spark shall put for a quoted empty field, to be told from NULL."""
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
        """Every record with the line on which it ends; ``DialectProblem`` where quoting breaks."""
        with self.lines(path) as lines:
            reader = self.reader(lines)
            try:
                for record in reader:
                    if record:
                        yield reader.line_num, record
            except csv.Error as error:
                raise DialectProblem(f"line {reader.line_num}: {error}") from None

    def lines(self, path: str) -> AbstractContextManager[Iterator[str]]:
        """Lines with their ends; a byte that is no text comes as a lone surrogate."""
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
class CsvLook:
    """What a file says before Spark reads it: its header, and whether lines tell records apart.

    They do not where quotes occur; and a line of blanks Spark drops when it reads by lines.
    """

    header: tuple[str, ...] | None
    by_lines: bool


def look_at(path: str, dialect: CsvDialect) -> CsvLook:
    """Reads the whole file once, fast: a byte that is not text or an open quote is an error.

    Spark would put U+FFFD for the one and swallow the rest of the file for the other.
    """
    decoder = codecs.getincrementaldecoder(dialect.codec)()
    quotes, offset, blanks, before = 0, 0, False, b"\n"
    mark = dialect.quote.encode(dialect.codec)
    with opened_bytes(path) as file:
        while chunk := file.read(_CHUNK):
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError as error:
                raise DialectProblem(
                    f"byte {offset - pending + error.start} is not {ENCODINGS[dialect.codec]}"
                ) from None
            quotes += chunk.count(mark) if mark else 0
            offset += len(chunk)
            blanks = blanks or _BLANK_LINE.search(before + chunk) is not None
            before = chunk[-1:]
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise DialectProblem(f"it ends inside a {ENCODINGS[dialect.codec]} character") from None
    if quotes % 2:
        for _ in dialect.records(path):
            pass
    first = next(dialect.records(path), None)
    return CsvLook(header=tuple(first[1]) if first else None, by_lines=not (quotes or blanks))


def first_fault(path: str, dialect: CsvDialect) -> str | None:
    """The first record that does not fit the header, by line; None where all do."""
    width = None
    try:
        for line, record in dialect.records(path):
            width = width or len(record)
            if len(record) != width:
                return f"line {line} has {len(record)} fields instead of {width}"
    except DialectProblem as problem:
        return str(problem)
    return None


def _character(options: dict[str, str], key: str, default: str) -> str:
    text = {"\\t": "\t", "tab": "\t"}.get(options.get(key, default), options.get(key, default))
    if len(text) > 1 or (not text and key == "delimiter"):
        raise DialectProblem(f"CSV option {key} is one character, not {text!r}")
    return text


def _codec(name: str) -> str:
    try:
        found = codecs.lookup(name).name
    except LookupError:
        found = ""
    if found not in ENCODINGS:
        raise DialectProblem(f"encoding {name!r} is not one of {', '.join(ENCODINGS.values())}")
    return found
