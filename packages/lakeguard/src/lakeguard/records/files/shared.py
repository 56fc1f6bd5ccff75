"""One repository of files for all clients of a process: it has an index in memory and a thread."""

from __future__ import annotations

import atexit
from functools import cache

from lakeguard.records.files.names import records_root
from lakeguard.records.files.repository import FilesRepository, open_repository


@cache
def shared_repository(lake: str, organisation: str) -> FilesRepository:
    """The records of an organisation; closed when the process ends."""
    repository = open_repository(records_root(lake, organisation), organisation)
    atexit.register(repository.close)
    return repository
