"""A cache of commits, by the marks of a listing.

One request lists a thousand commits of a log in an object store with their marks; reading takes one
request per commit.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import NamedTuple

from lakeguard_sdk.core.canonical_json import hash_bytes
from lakeguard_sdk.storage.location import FileMark

_MOST = 20_000


class SeenCommit(NamedTuple):
    sha256: str
    with_schema: bytes | None
    """The whole commit, if it sets the schema."""

    @classmethod
    def of(cls, body: bytes) -> SeenCommit:
        return cls(hash_bytes(body), body if b'"metaData"' in body else None)


class SeenCommits:
    """The most recently read commits. A file with another mark is read again."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._found: OrderedDict[str, tuple[FileMark, SeenCommit]] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, file: str, mark: FileMark) -> SeenCommit | None:
        with self._lock:
            known = self._found.get(file)
            if known is None or known[0] != mark:
                return None
            self._found.move_to_end(file)
            return known[1]

    def add(self, file: str, mark: FileMark, commit: SeenCommit) -> None:
        if not mark.identity:
            return
        with self._lock:
            self._found[file] = (mark, commit)
            self._found.move_to_end(file)
            if len(self._found) > self._most:
                self._found.popitem(last=False)
