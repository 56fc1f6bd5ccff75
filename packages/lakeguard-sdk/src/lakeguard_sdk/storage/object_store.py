"""Storage in an object store, through ``obstore``.

A conditional write whose response was lost is read back, never repeated blindly: equal bytes at the
location mean that it succeeded. Callers therefore write bytes that nobody else writes, such as
those with an id of their own. A refusal was no write: it is repeated once, if there are other
credentials by now.
"""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import urlsplit

from lakeguard_sdk.errors import CredentialsExpired, StoreAccessRefused
from lakeguard_sdk.storage.clouds import cloud_of
from lakeguard_sdk.storage.location import FileFacts, FileMark, FolderListing, join
from lakeguard_sdk.storage.store_errors import store_failure, store_reason
from lakeguard_sdk.storage.store_options import StoreOptions

if TYPE_CHECKING:
    from obstore import PutMode
    from obstore.store import ObjectStore

_READ_AHEAD = 256 * 1024
_HASHED_AT_ONCE = 8 * 1024 * 1024
_PART = 16 * 1024 * 1024
"""Larger files are uploaded in parts."""
_FEW = 3
"""So many files are looked for one by one."""
_PAGE = 1000
"""Objects of one listing request."""
_FILES_A_PAGE = 20
"""A listing is worth one more request for so many files."""
_Found = TypeVar("_Found")


class StoreError(OSError):
    """The object store could not do what was asked of it."""


class ObjectStorage:
    """Objects of one bucket or container. A response means that an object is durable."""

    def __init__(self, root: str, options: StoreOptions) -> None:
        _require_package(root)
        parts = urlsplit(root)
        self._root = f"{parts.scheme}://{parts.netloc}/"
        self._cloud, self._place = cloud_of(parts.scheme), parts.netloc
        self._options = options
        self._given: Mapping[str, Any] = {}
        """The credentials in use."""
        self._renewing = threading.Lock()

    @cached_property
    def _store(self) -> ObjectStore:
        from obstore import store  # only lakes on an object store need it

        cloud, options = self._cloud, self._options
        made: ObjectStore = getattr(store, cloud.store_class)(
            config=cloud.config(self._place, options),
            client_options={"allow_http": options.allow_http, "timeout": options.timeout},
            retry_config={"retry_timeout": options.retry_timeout},
            credential_provider=self._credentials if self._provider else None,
        )
        return made

    @cached_property
    def _provider(self) -> Callable[[], Mapping[str, Any]] | None:
        return self._cloud.credentials(self._options)

    def _credentials(self) -> Mapping[str, Any]:
        if self._provider is not None:
            self._given = self._provider()
        return self._given

    def _done(self, location: str, act: Callable[[ObjectStore], _Found]) -> _Found:
        """What a request finds; with the credentials of now, if the store refused those in use."""
        store = self._store
        try:
            with _translated(location):
                return act(store)
        except (CredentialsExpired, StoreAccessRefused):
            if not self._has_renewed(store):
                raise
        with _translated(location):
            return act(self._store)

    def _has_renewed(self, refused: ObjectStore) -> bool:
        """Whether requests are made with other credentials from now on."""
        with self._renewing:
            if self.__dict__.get("_store") is not refused:
                return True
            before = _keys(self._given)
            if _keys(self._credentials()) == before:
                return False
            del self.__dict__["_store"]
            return True

    def exists(self, location: str) -> bool:
        try:
            self._head(location)
        except FileNotFoundError:
            return False
        return True

    def has_files(self, location: str) -> bool:
        import obstore

        def any_found(store: ObjectStore) -> bool:
            found = obstore.list(store, f"{self._key(location)}/", chunk_size=1)
            return any(chunk for chunk in found)

        return self._done(location, any_found)

    def is_regular(self, location: str) -> bool:
        return self.exists(location)

    def is_taken(self, location: str) -> bool:
        return self.exists(location)

    def make_folder(self, location: str) -> None:
        """A folder is there while it has files."""

    def read_bytes(self, location: str) -> bytes:
        import obstore

        key = self._key(location)
        return self._done(location, lambda store: bytes(obstore.get(store, key).bytes()))

    def read_end(self, location: str, length: int) -> tuple[bytes, int]:
        import obstore

        options: Any = {"range": {"suffix": length}}
        if not self._cloud.reads_suffixes:
            seen = self._head(location)
            start = max(0, seen["size"] - length)
            options = {"range": {"offset": start}, "if_match": seen["e_tag"]}

        def read(store: ObjectStore) -> tuple[bytes, int]:
            found = obstore.get(store, self._key(location), options=options)
            return bytes(found.bytes()), found.meta["size"]

        return self._done(location, read)

    def read_range(self, location: str, start: int, length: int) -> bytes:
        import obstore

        def read(store: ObjectStore) -> bytes:
            return bytes(obstore.get_range(store, key, start=start, length=length))

        key = self._key(location)
        return self._done(location, read)

    def open(self, location: str) -> BinaryIO:
        size = self._head(location)["size"]
        reader = _RangeReader(lambda at, n: self.read_range(location, at, n), size)
        return io.BufferedReader(reader, _READ_AHEAD)

    def facts(self, location: str) -> FileFacts:
        return self._facts(self._head(location), location)

    def mark(self, location: str) -> FileMark:
        return _mark(self._head(location))

    def sha256(self, location: str) -> str:
        import obstore

        def hashed(store: ObjectStore) -> str:
            digest = hashlib.sha256()
            found = obstore.get(store, self._key(location))
            for part in found.stream(min_chunk_size=_HASHED_AT_ONCE):
                digest.update(part)
            return digest.hexdigest()

        return self._done(location, hashed)

    def files_under(self, location: str) -> Iterator[FileFacts]:
        import obstore

        def listed(store: ObjectStore) -> list[FileFacts]:
            chunks = obstore.list(store, f"{self._key(location)}/")
            return [self._facts(meta) for chunk in chunks for meta in chunk]

        found = self._done(location, listed)
        # Hadoop marks folders by empty objects, whose names end with a slash that is not listed.
        yield from sorted(facts for facts in found if facts.size or self.exists(facts.path))

    def names_in(self, location: str) -> list[str]:
        return self.list_folder(location).names

    def list_folder(self, location: str) -> FolderListing:
        import obstore

        prefix = f"{self._key(location)}/"
        found = self._done(location, lambda store: obstore.list_with_delimiter(store, prefix))
        marks = {meta["path"].removeprefix(prefix): _mark(meta) for meta in found["objects"]}
        folders = (path.removeprefix(prefix) for path in found["common_prefixes"])
        return FolderListing(sorted({*marks, *folders}), marks)

    def sizes(self, location: str, paths: Collection[str]) -> dict[str, int]:
        """Listed if that takes fewer requests than one for each file."""
        found: dict[str, int] = {}
        if len(paths) > _FEW:
            found = self._listed_sizes(location, paths)
        for path in (path for path in paths if path not in found):
            with suppress(FileNotFoundError):
                found[path] = self._head(join(location, path))["size"]
        return found

    def _listed_sizes(self, location: str, paths: Collection[str]) -> dict[str, int]:
        """Of what the first pages show, from the first of these files on."""
        import obstore

        prefix = f"{self._key(location)}/"
        before = f"{prefix}{min(paths)}"[:-1]
        pages = 1 + len(paths) // _FILES_A_PAGE

        def listed(store: ObjectStore) -> dict[str, int]:
            found: dict[str, int] = {}
            chunks = obstore.list(store, prefix, offset=before, chunk_size=_PAGE)
            for chunk in islice(chunks, pages):
                found |= {meta["path"].removeprefix(prefix): meta["size"] for meta in chunk}
                if found.keys() >= wanted:
                    break
            return {path: size for path, size in found.items() if path in wanted}

        wanted = set(paths)
        return self._done(location, listed)

    def irregular_under(self, location: str) -> Iterator[str]:
        return iter(())

    def create(self, location: str, data: bytes) -> bool:
        return self._written_if(location, data, "create")

    def update(self, location: str, data: bytes, mark: FileMark) -> bool:
        return self._written_if(location, data, {"e_tag": mark.identity})

    def replace(self, location: str, data: bytes) -> None:
        import obstore

        self._done(location, lambda store: obstore.put(store, self._key(location), data))

    def move(self, location: str, name: str) -> bool:
        try:
            self.link(location, name)
        except FileNotFoundError:
            return False
        self.remove(location, location)
        return True

    def upload(self, file: Path, location: str) -> None:
        import obstore

        key = self._key(location)
        self._done(location, lambda store: obstore.put(store, key, file, chunk_size=_PART))

    def link(self, location: str, name: str) -> None:
        """A copy that the store makes."""
        import obstore

        keys = self._key(location), self._key(name)
        self._done(location, lambda store: obstore.copy(store, *keys))

    def make_durable(self, location: str) -> None:
        """Every written object is."""

    def sync_content(self, location: str) -> None:
        """Every written object is durable, and no memory is mapped to it."""

    def remove(self, location: str, root: str) -> None:
        import obstore

        self._done(location, lambda store: obstore.delete(store, self._key(location)))

    def _written_if(self, location: str, data: bytes, mode: PutMode) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

        def written(store: ObjectStore) -> bool:
            try:
                obstore.put(store, self._key(location), data, mode=mode)
            except FileNotFoundError:
                if mode == "create":
                    raise StoreError(f"{location}: there is no such bucket") from None
                return False
            except BaseError as error:
                if self._holds(location, data):  # it succeeded, though its response was lost
                    return True
                if isinstance(error, AlreadyExistsError | PreconditionError):
                    return False
                raise
            return True

        return self._done(location, written)

    def _holds(self, location: str, data: bytes) -> bool:
        try:
            return self.read_bytes(location) == data
        except FileNotFoundError:
            return False

    def _head(self, location: str) -> Any:
        import obstore

        return self._done(location, lambda store: obstore.head(store, self._key(location)))

    def _facts(self, meta: Any, location: str = "") -> FileFacts:
        modified = int(meta["last_modified"].timestamp() * 1000)
        place = location or f"{self._root}{meta['path']}"
        return FileFacts(place, meta["size"], modified, meta["e_tag"] or "")

    def _key(self, location: str) -> str:
        if not location.startswith(self._root):
            raise ValueError(f"{location} is not in {self._root}")
        return location.removeprefix(self._root).rstrip("/")


class _RangeReader(io.RawIOBase):
    """An object as a file: each read is a range request. Its position belongs to one thread."""

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        self._read, self._size, self._at = read, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:
        length = min(len(buffer), self._size - self._at)
        if length <= 0:
            return 0
        read = self._read(self._at, length)
        buffer[: len(read)] = read
        self._at += len(read)
        return len(read)


def _mark(meta: Any) -> FileMark:
    changed = int(meta["last_modified"].timestamp() * 1e9)
    return FileMark(meta["e_tag"] or meta["version"] or "", meta["size"], changed)


def _require_package(root: str) -> None:
    try:
        import obstore  # noqa: F401
    except ImportError:
        install = "pip install 'lakeguard[s3]' 'openlaketx[s3]'"
        raise StoreError(f"{root} needs the package obstore: {install}") from None


@contextmanager
def _translated(location: str) -> Iterator[None]:
    """Errors of the store as ``StoreUnavailable`` or OSError, without headers or addresses."""
    from obstore.exceptions import BaseError

    try:
        yield
    except FileNotFoundError:
        raise FileNotFoundError(f"{location} does not exist") from None
    except BaseError as error:
        known = store_failure(error, location)
        raise known or StoreError(f"{location}: {store_reason(str(error))}") from None


def _keys(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "expires_at"}
