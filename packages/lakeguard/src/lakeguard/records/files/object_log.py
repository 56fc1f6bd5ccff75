"""The log in an object store: every append is an object of the next number, which is created only
if there is none. Objects never change, so that a reader needs no lock."""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress

from lakeguard.records.files.log import LogEnd, damaged, place_of
from lakeguard.records.files.log_lines import DamagedBytes, seal, unseal
from lakeguard_sdk.errors import RecordsUnavailable, StoreUnavailable
from lakeguard_sdk.storage.fault_points import reached
from lakeguard_sdk.storage.storage import join, storage_for

_ENDING = ".jsonl"
_MOST_KEPT = 64
"""Objects in memory."""


class ObjectLog:
    """The first line of an object tells how many follow, and has a word of its writer alone: an
    answer that was lost is recognised when the object is read back."""

    may_tear = False

    def __init__(self, location: str) -> None:
        self.place = location
        self._storage = storage_for(location)
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def alone(self) -> AbstractContextManager[None]:
        return nullcontext()

    def shared(self) -> AbstractContextManager[None]:
        return nullcontext()

    def files(self) -> list[int]:
        if not self._storage.has_files(self.place):
            return []
        names = (name.removesuffix(_ENDING) for name in self._storage.names_in(self.place))
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())

    def has_more(self, end: LogEnd) -> bool:
        return self.has_file(end.file + 1 if end.offset else end.file)

    def has_file(self, file: int) -> bool:
        return file in self._kept or bool(self._content(file))

    def read(self, file: int, offset: int, length: int) -> bytes:
        return self._content(file)[offset : offset + length]

    def sync(self, end: LogEnd) -> None:
        """An object is durable once it can be read."""

    def append(self, lines: Sequence[bytes], end: LogEnd) -> int | None:
        file = end.file + 1 if end.offset else end.file
        header = {"lines": len(lines), "writer": secrets.token_hex(8)}
        head = seal(json.dumps(header).encode()) + b"\n"
        content = head + b"".join(lines)
        try:
            created = self._storage.create(self._location(file), content)
        except (OSError, StoreUnavailable) as error:
            raise RecordsUnavailable(place=self.place, reason=str(error)) from None
        reached("records.created")
        if not created:
            return None
        self._keep(file, content[len(head) :])
        return place_of(file, 0)

    def name(self, file: int) -> str:
        return f"{file:012}{_ENDING}"

    def close(self) -> None:
        self._kept.clear()

    def _content(self, file: int) -> bytes:
        """The lines of an object; none if it does not exist."""
        kept = self._kept.get(file)
        if kept is not None:
            return kept
        found = b""
        with suppress(FileNotFoundError):
            try:
                found = self._checked(file, self._storage.read_bytes(self._location(file)))
            except StoreUnavailable as error:
                raise RecordsUnavailable(place=self.place, reason=str(error)) from None
        if found:
            self._keep(file, found)
        return found

    def _checked(self, file: int, content: bytes) -> bytes:
        head, _, lines = content.partition(b"\n")
        try:
            header = unseal(head)
            whole = lines.endswith(b"\n") and lines.count(b"\n") == header["lines"]
        except (DamagedBytes, KeyError) as error:
            raise damaged(self, place_of(file, 0), str(error)) from None
        if not whole:
            raise damaged(self, place_of(file, 0), "it has another number of lines")
        return lines

    def _keep(self, file: int, content: bytes) -> None:
        self._kept[file] = content
        while len(self._kept) > _MOST_KEPT:
            with suppress(KeyError):  # another thread was quicker
                self._kept.popitem(last=False)

    def _location(self, file: int) -> str:
        return join(self.place, self.name(file))
