"""CSV files as texts: delimiter, encoding and rows, parsed as a run would parse them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice

from lakeguard_sdk.errors import SourceNotInspectable
from openlaketx.extract.batch import name_problem
from openlaketx.extract.files.text_files import LONGEST_LINE, TextProblem, opened_bytes
from openlaketx.extract.sources.csv_dialect import CsvDialect, DialectProblem, fields_text
from openlaketx.source_inspection.sample_rows import Limits, SampleRows
from openlaketx.source_inspection.type_inference import TextTable

DELIMITERS = (",", ";", "\t", "|")
_ENCODINGS = ("UTF-8", "windows-1252", "ISO-8859-1")
_HEAD = 1 << 16
_RECORDS = 100
_CHUNK = 20_000


def inspect_csv(files: Sequence[str], rows: SampleRows, limits: Limits) -> TextTable:
    """Every file with one header; a file that a run would refuse is refused here, by name."""
    options = {}
    left = list(_ENCODINGS)
    for file in files:
        try:
            _drop_encodings(file, limits, left)
        except (TextProblem, OSError) as problem:
            raise SourceNotInspectable(pattern=file, reason=str(problem)) from None
    if (encoding := left[0]) != _ENCODINGS[0]:
        options["encoding"] = encoding
    if (delimiter := _delimiter(files[0], encoding)) != ",":
        options["delimiter"] = delimiter
    dialect = CsvDialect.from_options(options)
    header: list[str] = []
    whole = True
    for file in files:
        try:
            found, ended = _take(file, dialect, header, rows, limits)
        except (TextProblem, UnicodeDecodeError, OSError) as problem:
            raise SourceNotInspectable(pattern=file, reason=str(problem)) from None
        header, whole = found, whole and ended
    return TextTable(tuple(header), whole, options)


def _take(
    file: str, dialect: CsvDialect, header: list[str], rows: SampleRows, limits: Limits
) -> tuple[list[str], bool]:
    """The header of the first file, and whether this file ended before the limit.

    Columns are matched by name, as in a run: their order may differ in later files.
    """
    records = _csv_records(file, dialect)
    _, first = next(records, (0, []))
    found = [name or "" for name in first]
    if not found:
        raise SourceNotInspectable(pattern=file, reason="it is empty and has no header")
    if problem := name_problem(tuple(found)):
        raise SourceNotInspectable(pattern=file, reason=problem)
    if header and sorted(found) != sorted(header):
        raise SourceNotInspectable(
            pattern=file, reason="its header differs from that of the other files"
        )
    places = [found.index(name) for name in header or found]
    rows.add_texts([()] * len(found))
    taken = 0
    while taken < limits.rows:
        chunk = list(islice(records, min(_CHUNK, limits.rows - taken)))
        if not chunk:
            return header or found, True
        for line, record in chunk:
            if len(record) != len(found):
                reason = f"line {line} has {fields_text(len(record))} instead of {len(found)}"
                raise SourceNotInspectable(pattern=file, reason=reason)
        columns = list(zip(*(record for _, record in chunk), strict=True))
        rows.add_texts([columns[place] for place in places])
        taken += len(chunk)
    return header or found, next(records, None) is None


def _drop_encodings(file: str, limits: Limits, left: list[str]) -> None:
    """The first one left decodes every sampled line."""
    with opened_bytes(file) as content:
        lines = iter(partial(content.readline, LONGEST_LINE), b"")
        for line in islice(lines, limits.rows):
            if b"\0" in line:
                raise TextProblem("it is not a text file")
            if len(line) == LONGEST_LINE:
                raise TextProblem(f"a line has more than {LONGEST_LINE:,} characters")
            while not _reads(line, left[0]):
                del left[0]


def _reads(line: bytes, encoding: str) -> bool:
    try:
        line.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _delimiter(file: str, encoding: str) -> str:
    """The delimiter that splits every record into the same number of fields, as many as possible;
    if there is none, the one that splits the header into most."""
    with opened_bytes(file) as content:
        head = content.read(_HEAD)
    text = head.decode(encoding, errors="ignore").removeprefix("\ufeff")
    widths = {one: _widths(text, one, cut=len(head) == _HEAD) for one in DELIMITERS}
    even = [one for one in DELIMITERS if len(set(widths[one])) == 1 and widths[one][0] > 1]
    return max(even or DELIMITERS, key=lambda one: widths[one][:1])


def _widths(text: str, delimiter: str, *, cut: bool) -> list[int]:
    """Field counts of the first records; the last one may be truncated and is left out."""
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=not cut)
        records = [record for record in islice(reader, _RECORDS) if record]
    except csv.Error:
        return []
    whole = records[:-1] if cut and len(records) < _RECORDS else records
    return [len(record) for record in whole]


# CSV records that distinguish an empty field from a quoted empty text.

_QUOTED_EMPTY = '""'


def _csv_records(file: str, dialect: CsvDialect) -> Iterator[tuple[int, list[str | None]]]:
    """Each record with its last line number, as a run reads it.

    An empty field is None, a quoted one the empty text. The dialect doubles quotes.
    """
    taken: list[str] = []
    field = _field(dialect.delimiter)
    with dialect.lines(file) as lines:
        reader = dialect.reader(_recorded(lines, taken))
        try:
            for record in reader:
                if record:
                    yield reader.line_num, _values(record, taken, field)
                taken.clear()
        except csv.Error as error:
            raise DialectProblem(f"line {reader.line_num}: {error}") from None


def _recorded(lines: Iterator[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def _values(record: list[str], taken: Sequence[str], field: re.Pattern[str]) -> list[str | None]:
    """Parses only records with an empty field twice: the CSV reader does not report quotes."""
    if "" not in record:
        return [*record]
    text = "".join(taken)
    if _QUOTED_EMPTY not in text:
        return [value or None for value in record]
    written = field.findall(text.rstrip("\r\n"))
    return [
        value if value or raw == _QUOTED_EMPTY else None
        for value, raw in zip(record, written, strict=False)
    ]


def _field(delimiter: str) -> re.Pattern[str]:
    """A raw field, including quotes."""
    end = re.escape(delimiter)
    return re.compile(rf'("[^"]*(?:""[^"]*)*"|[^{end}]*)(?:{end}|\Z)')
