"""Where the files of records are. No two targets share a folder, on a file system that ignores case
either, and no name leads out of it."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from lakeguard_sdk.records.record import MetadataTarget
from lakeguard_sdk.storage.reserved_places import METADATA
from lakeguard_sdk.storage.storage import join

LOG, RECORDS, KINDS = "log", "records", "kinds"
_LONGEST = 180
_OTHER = re.compile(rb"[^a-z0-9_-]")
_RUN = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_RUN = 80
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z")
"""Names that some systems take for devices, whatever follows their dot."""


def records_root(lake: str, organisation: str) -> str:
    return join(lake, METADATA, _encoded(organisation))


def target_folder(target: MetadataTarget) -> str:
    """``source.schema.table`` in lower case; bytes other than letters, digits, ``_`` and ``-`` are
    written as ``%xx``."""
    parts = (target.source_id, target.schema_, target.table)
    return _short(".".join(_encoded(part.casefold()) for part in parts))


def record_file(record_id: str, record: dict[str, Any]) -> str:
    """``kind/target/time_run.id.json`` below the folder of records: in one run there may be several
    facts about a target."""
    names = record["target"]
    target = MetadataTarget(
        source_id=names["source_id"], schema_=names["schema"], table=names["table"]
    )
    run = _RUN.sub("-", record["context"]["run_id"] or record["producer_id"])[:_LONGEST_RUN]
    version = "" if record["version"] == 1 else f".v{record['version']}"
    name = f"{record['produced_at']}_{run}.{record_id[4:20]}{version}.json"
    return f"{record['kind']}/{target_folder(target)}/{name}"


def _encoded(text: str) -> str:
    """Different for different texts. In a text that no folder or file may be called, the first
    letter is written as ``%xx`` too."""
    found = _OTHER.sub(lambda other: b"%%%02x" % other[0][0], text.encode()).decode()
    if _DEVICE.match(found):
        return f"%{ord(found[0]):02x}{found[1:]}"
    return found


def _short(name: str) -> str:
    """A name that a file system takes; ``~`` is in no other."""
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"{name[: _LONGEST - 33]}~{digest}"
