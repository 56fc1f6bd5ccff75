"""What is kept of what a job prints: bounded, in order, and without secrets."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.worker.job_log import (
    LONGEST_LINE,
    MOST_HEAD,
    MOST_TAIL,
    JobLog,
)

SECRET = "key of the house"


def kept(place: Path, parts: list[bytes], secrets: tuple[str, ...] = (SECRET,)) -> str:
    log = JobLog(str(place), secrets)
    for part in parts:
        log.take(part)
    log.close()
    log.take(b"too late")
    return place.read_text("utf-8")


@given(cuts=st.lists(st.integers(0, 120), max_size=12))
def test_lines_are_the_same_however_they_come(cuts: list[int]) -> None:
    whole = f"first line\nthe {SECRET} and key%20of%20the%20house\n\nlast words, no end".encode()
    bounds = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    parts = [whole[begin:end] for begin, end in pairwise(bounds)]
    with TemporaryDirectory() as folder:
        text = kept(Path(folder, "a.log"), parts)
    assert text == "first line\nthe *** and ***\n\nlast words, no end\n"


def test_the_beginning_and_the_end_of_a_long_log_are_kept(tmp_path: Path) -> None:
    lines = [f"line {number:07} {'.' * 86}\n".encode() for number in range(15_000)]
    parts = [b"".join(lines[begin : begin + 999]) for begin in range(0, len(lines), 999)]
    text = kept(tmp_path / "logs" / "a.log", parts)
    assert len(text) < MOST_HEAD + MOST_TAIL + 100
    assert text.startswith("line 0000000 ")
    assert text.splitlines()[-1].startswith("line 0014999 ")
    (answer,) = re.findall("^… ([0-9,]+) bytes dropped …$", text, re.MULTILINE)
    shown = sum(line.startswith("line ") for line in text.splitlines())
    assert int(answer.replace(",", "")) == 100 * (len(lines) - shown)


def test_a_line_without_end_is_cut_and_no_secret_with_it(tmp_path: Path) -> None:
    for offset in range(0, 40, 3):
        filler = "x" * (LONGEST_LINE - offset)
        parts = [filler.encode(), SECRET.encode() * 9, b"y" * 99_999, b"\nz"]
        text = kept(tmp_path / "a.log", parts)
        first, second = text.splitlines()
        assert len(first) <= LONGEST_LINE + 1
        assert first.endswith("…")
        assert "key" not in first
        assert second == "z"


def test_secrets_of_many_lines_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    secret = "-----\nfirst line of it\nx\n"
    text = kept(tmp_path / "a.log", [b"first line of it\nx\n\xff\xfe\n"], (secret, ""))
    assert text == "***\nx\n\ufffd\ufffd\n"


def test_the_last_lines_are_those_that_say_something(tmp_path: Path) -> None:
    log = JobLog(str(tmp_path / "a.log"), ())
    log.take(b"a\nb\n\nc\n  \nd")
    log.close()
    assert log.last_lines == ["b", "c", "d"]
