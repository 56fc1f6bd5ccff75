"""Every record of a CSV file that does not fit, by line: for those who go on without them."""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Iterator

from openlaketx.extract.aside import Fault
from openlaketx.extract.csv_dialect import ENCODINGS, CsvDialect, DialectProblem

_NO_TEXT = re.compile("[\udc80-\udcff]")


class _Feed:
    """Lines for a reader, and which of them the present record took."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._again: deque[str] = deque()
        self.taken: list[str] = []

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        return line

    def keep_first(self) -> None:
        """All but the first line are read once more."""
        self._again.extendleft(reversed(self.taken[1:]))
        del self.taken[1:]


def csv_faults(path: str, dialect: CsvDialect) -> list[Fault]:
    """Records of another width than the header, with broken quotes, or with bytes of no text.

    Where quotes break, the line at which the record began is at fault, and the next one is read
    as a record of its own. Blank lines are no records. The header has no fault: it is refused.
    """
    faults: list[Fault] = []
    with dialect.lines(path) as lines:
        feed, first, width = _Feed(lines), 1, 0
        reader = dialect.reader(feed)
        while True:
            feed.taken.clear()
            try:
                record, problem = next(reader), ""
            except StopIteration:
                return faults
            except csv.Error as error:
                record, problem = [], str(error)
                feed.keep_first()
                reader = dialect.reader(feed)
            problem = problem or _problem(record, feed.taken, width, dialect)
            if problem and not width:
                raise DialectProblem(f"line {first}: {problem}")
            last = first + len(feed.taken) - 1
            if problem:
                faults.append(Fault(first, last, problem))
            width, first = width or len(record), last + 1


def _problem(record: list[str], lines: list[str], width: int, dialect: CsvDialect) -> str:
    if any(not line.isascii() and _NO_TEXT.search(line) for line in lines):
        return f"a byte is not {ENCODINGS[dialect.codec]}"
    if record and width and len(record) != width:
        return f"{len(record)} fields instead of {width}"
    return ""
