"""Records of a CSV file in which nothing between delimiters is told from a quoted nothing."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from openlaketx.extract.csv_dialect import CsvDialect, DialectProblem

_QUOTED_EMPTY = '""'


def csv_records(file: str, dialect: CsvDialect) -> Iterator[tuple[int, list[str | None]]]:
    """Each record with the line on which it ends, as a run reads it.

    A field with nothing in it is None, a quoted one the empty text. The dialect doubles quotes.
    """
    taken: list[str] = []
    field = _field(dialect.delimiter)
    with dialect.lines(file) as lines:
        reader = dialect.reader(_kept(lines, taken))
        try:
            for record in reader:
                if record:
                    yield reader.line_num, _values(record, taken, field)
                taken.clear()
        except csv.Error as error:
            raise DialectProblem(f"line {reader.line_num}: {error}") from None


def _kept(lines: Iterator[str], taken: list[str]) -> Iterator[str]:
    for line in lines:
        taken.append(line)
        yield line


def _values(record: list[str], taken: Sequence[str], field: re.Pattern[str]) -> list[str | None]:
    """Only a record with an empty field is looked at twice: a reader does not say how it read."""
    if "" not in record:
        return [*record]
    text = "".join(taken)
    if _QUOTED_EMPTY not in text:
        return [value or None for value in record]
    written = field.findall(text.rstrip("\r\n"))
    return [
        value if value or told == _QUOTED_EMPTY else None
        for value, told in zip(record, written, strict=False)
    ]


def _field(delimiter: str) -> re.Pattern[str]:
    """A field as it is written, quotes and all."""
    end = re.escape(delimiter)
    return re.compile(rf'("[^"]*(?:""[^"]*)*"|[^{end}]*)(?:{end}|\Z)')
