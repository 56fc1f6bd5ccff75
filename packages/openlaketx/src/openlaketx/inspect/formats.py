"""Which format a file is in: by its name, else by how it begins."""

from __future__ import annotations

from pathlib import Path

from lakeguard_sdk.errors import NothingToLookAt
from lakeguard_sdk.words import SourceFormat
from openlaketx.inspect.csv_files import opened

_BY_NAME = {
    ".csv": SourceFormat.CSV,
    ".tsv": SourceFormat.CSV,
    ".txt": SourceFormat.CSV,
    ".json": SourceFormat.JSONL,
    ".jsonl": SourceFormat.JSONL,
    ".ndjson": SourceFormat.JSONL,
    ".parquet": SourceFormat.PARQUET,
    ".pq": SourceFormat.PARQUET,
}
_PARQUET = b"PAR1"


def format_of(file: str) -> SourceFormat:
    known = _BY_NAME.get(Path(file.removesuffix(".gz")).suffix.lower())
    if known is not None:
        return known
    try:
        with opened(file) as content:
            head = content.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    except (OSError, EOFError) as error:
        raise NothingToLookAt(pattern=file, reason=str(error)) from None
    if head.startswith(_PARQUET):
        return SourceFormat.PARQUET
    return SourceFormat.JSONL if head.startswith(b"{") else SourceFormat.CSV
