"""Malformed lines, kept aside as they are; the rest of their file is read without them.

Below the run's landing folder: ``malformed.jsonl`` has a line for each, with file, line, reason
and text, and ``accepted`` a copy, without them, of each file that had any.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import IO, NamedTuple

from lakeguard_sdk.evidence import SourceFile
from lakeguard_sdk.storage import Storage, local_path
from openlaketx.extract.manifest import Selection
from openlaketx.extract.text_files import writing_bytes

MALFORMED = "malformed.jsonl"
ACCEPTED = "accepted"


class Fault(NamedTuple):
    """A record that does not fit, from its first line to its last."""

    first: int
    last: int
    reason: str


Lines = Callable[[str], AbstractContextManager[Iterator[str]]]
Faults = Mapping[str, Sequence[Fault]]
"""By the path of the file, in the order of its lines."""


def keep_aside(
    selection: Selection, faults: Faults, lines: Lines, codec: str, folder: Path, storage: Storage
) -> tuple[Selection, int]:
    """The selection in which files are read without their faults, and how many those are."""
    rejected = sum(map(len, faults.values()))
    if not rejected:
        return selection, 0
    places = dict(selection.places)
    made = (folder / MALFORMED, folder / ACCEPTED)
    try:
        made[1].mkdir(parents=True)
        with made[0].open("xb") as aside:
            for number, file in enumerate(selection.files, start=1):
                if faults.get(file.path):
                    copy = made[1] / f"{number:04}-{Path(file.path).name}"
                    _sift(selection, file, faults[file.path], lines, codec, copy, aside)
                    places[file.path] = str(copy)
        for place in (made[0], *made[1].iterdir()):
            storage.make_durable(str(place))
    except OSError as error:
        made[0].unlink(missing_ok=True)
        shutil.rmtree(made[1], ignore_errors=True)
        raise selection.unreadable(
            f"malformed lines could not be kept in {folder}: {error.strerror or error}"
        ) from None
    return replace(selection, places=places), rejected


def _sift(
    selection: Selection,
    file: SourceFile,
    faults: Sequence[Fault],
    lines: Lines,
    codec: str,
    copy: Path,
    aside: IO[bytes],
) -> None:
    waiting = iter(faults)
    fault, text = next(waiting, None), ""
    with lines(local_path(selection.location(file))) as found, writing_bytes(str(copy)) as accepted:
        for number, line in enumerate(found, start=1):
            if fault is None or number < fault.first:
                accepted.write(line.encode(codec, "surrogateescape"))
                continue
            text += line
            if number == fault.last:
                aside.write(_told(file.path, fault, text, codec))
                fault, text = next(waiting, None), ""


def _told(path: str, fault: Fault, text: str, codec: str) -> bytes:
    """One line of JSON; a byte that is no text is shown by its number."""
    shown = text.rstrip("\r\n").encode(codec, "surrogateescape").decode(codec, "backslashreplace")
    record = {"file": path, "line": fault.first, "reason": fault.reason, "text": shown}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"
