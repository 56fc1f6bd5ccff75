"""Texts of an object store, inspected in copies on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryDirectory

from lakeguard_sdk.errors import SourceNotInspectable
from lakeguard_sdk.storage.storage import is_remote, local_path, storage_for

BEGINNING = 64 << 20
"""Bytes of a text that are copied: more than the inspected rows take."""
_PACKED = ".gz"
_CHUNK = 8 << 20


class StoreCopies:
    """A local path for every text; an object is copied, a large one up to a line end."""

    def __init__(self, folder: Path, beginning: int) -> None:
        self._folder, self._beginning = folder, beginning
        self._origins: dict[str, str] = {}
        self.is_whole = True

    def of(self, location: str) -> str:
        if not is_remote(location):
            return local_path(location)
        name = location.rpartition("/")[2]
        place = self._folder / f"{len(self._origins):06d}" / name
        place.parent.mkdir()
        self._origins[str(place)] = location
        self._copy(location, place, whole=name.endswith(_PACKED))
        return str(place)

    def named(self, text: str) -> str:
        """A message with the locations that a user knows."""
        for place, location in self._origins.items():
            text = text.replace(place, location)
        return text

    def _copy(self, location: str, place: Path, *, whole: bool) -> None:
        left = storage_for(location).facts(location).size
        if not whole and left > self._beginning:
            left, self.is_whole = self._beginning, False
        with storage_for(location).open(location) as content, place.open("wb") as copy:
            while left and (chunk := content.read(min(left, _CHUNK))):
                copy.write(chunk)
                left -= len(chunk)
            is_cut = bool(content.read(1))
        if is_cut:
            _drop_last_line(place)


def _drop_last_line(place: Path) -> None:
    """A line that is cut off would be refused."""
    with place.open("r+b") as copy:
        start = max(0, copy.seek(0, SEEK_END) - _CHUNK)
        copy.seek(start)
        end = copy.read().rfind(b"\n")
        if end >= 0:
            copy.truncate(start + end + 1)


@contextmanager
def store_copies(pattern: str, beginning: int = BEGINNING) -> Iterator[StoreCopies]:
    """Errors name the locations, not the copies; what the store refuses is one of them."""
    with TemporaryDirectory(prefix="lakeguard-source-") as folder:
        copies = StoreCopies(Path(folder), beginning)
        try:
            yield copies
        except SourceNotInspectable as error:
            fields = {name: copies.named(str(text)) for name, text in error.fields.items()}
            raise SourceNotInspectable(**fields) from None
        except OSError as error:
            raise SourceNotInspectable(pattern=pattern, reason=copies.named(str(error))) from None
