"""Quarantine of malformed lines; the rest of the file is read without them.

In the run's landing folder: ``malformed.jsonl`` has file, line, reason and text of each, and
``accepted`` a copy, without them, of each affected file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from lakeguard_sdk.storage.storage import Storage, local_path
from openlaketx.extract.files.manifest import Selection
from openlaketx.extract.files.text_files import writing_bytes

MALFORMED = "malformed.jsonl"
ACCEPTED = "accepted"


class Fault(NamedTuple):
    """A malformed record, from its first to its last line."""

    first: int
    last: int
    reason: str


Faults = Mapping[str, Sequence[Fault]]
"""By file path, ordered by line."""


class Writing(NamedTuple):
    """How to read the files of a source as lines, and the encoding of copies."""

    lines: Callable[[str], AbstractContextManager[Iterator[str]]]
    codec: str
    copied_as: str


def split_malformed(
    selection: Selection, faults: Faults, writing: Writing, folder: Path, storage: Storage
) -> tuple[Selection, int]:
    """A selection without the malformed lines, and their number.

    Files without faults are read in place, unless copies need another encoding.
    """
    every = writing.copied_as != writing.codec
    chosen = [file for file in selection.files if every or faults.get(file.path)]
    if not chosen:
        return selection, 0
    places = dict(selection.places)
    malformed_file, accepted = folder / MALFORMED, folder / ACCEPTED
    try:
        accepted.mkdir(parents=True)
        with malformed_file.open("xb") as malformed:
            for number, file in enumerate(chosen, start=1):
                copy = accepted / f"{number:04}-{Path(file.path).name}"
                found = faults.get(file.path, ())
                _split_file(
                    local_path(selection.location(file)), file.path, found, writing, copy, malformed
                )
                places[file.path] = str(copy)
        if not malformed_file.stat().st_size:
            malformed_file.unlink()
        for place in (*folder.glob(MALFORMED), *accepted.iterdir()):
            storage.make_durable(str(place))
    except OSError as error:
        malformed_file.unlink(missing_ok=True)
        shutil.rmtree(accepted, ignore_errors=True)
        raise selection.unreadable(
            f"cannot write malformed lines to {folder}: {error.strerror or error}"
        ) from None
    return replace(selection, places=places), sum(map(len, faults.values()))


def _split_file(
    origin: str,
    path: str,
    faults: Sequence[Fault],
    writing: Writing,
    copy: Path,
    malformed: IO[bytes],
) -> None:
    remaining = iter(faults)
    fault, text = next(remaining, None), ""
    with writing.lines(origin) as found, writing_bytes(str(copy)) as accepted:
        for number, line in enumerate(found, start=1):
            if fault is None or number < fault.first:
                accepted.write(line.encode(writing.copied_as, "surrogateescape"))
                continue
            text += line
            if number == fault.last:
                malformed.write(_record(path, fault, text, writing.codec))
                fault, text = next(remaining, None), ""


def _record(path: str, fault: Fault, text: str, codec: str) -> bytes:
    """One line of JSON; undecodable bytes are shown as escapes."""
    shown = text.rstrip("\r\n").encode(codec, "surrogateescape").decode(codec, "backslashreplace")
    record = {"file": path, "line": fault.first, "reason": fault.reason, "text": shown}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"
