"""Registered kinds, a file for each version: ``kinds/<kind>/<version>.json``."""

from __future__ import annotations

from collections.abc import Mapping

from lakeguard.records.files.log_lines import DamagedBytes, seal, unseal
from lakeguard.records.files.names import KINDS
from lakeguard.records.kinds import is_new_version
from lakeguard_sdk.errors import RecordsDamaged, RecordsUnavailable, StoreUnavailable
from lakeguard_sdk.records.kinds import MetadataKind
from lakeguard_sdk.records.payloads import shipped_kinds
from lakeguard_sdk.storage.storage import below, join, storage_for

Versions = dict[str, dict[int, MetadataKind]]


class KindFiles:
    def __init__(self, root: str) -> None:
        self._folder = join(root, KINDS)
        self._storage = storage_for(root)
        self._read: dict[str, MetadataKind] = {}
        """By path: a file never changes."""

    def newest(self) -> Mapping[str, MetadataKind]:
        """By name, in order."""
        found = self._versions()
        return {name: found[name][max(found[name])] for name in sorted(found)}

    def register(self, kind: MetadataKind) -> None:
        """Stores the next version of a kind; of many who do so at once, one wins."""
        while True:
            known = self._versions().get(kind.kind, {})
            if not is_new_version(kind, known.values()):
                return
            place = join(self._folder, kind.kind, f"{kind.version:06}.json")
            try:
                created = self._storage.create(place, seal(kind.model_dump_json().encode()))
            except (OSError, StoreUnavailable) as error:
                raise RecordsUnavailable(place=place, reason=str(error)) from None
            if created:
                return

    def _versions(self) -> Versions:
        found: Versions = {kind.kind: {kind.version: kind} for kind in shipped_kinds()}
        for path in self._paths():
            kind = self._read.get(path)
            if kind is None:
                kind = self._read[path] = self._kind(path)
            found.setdefault(kind.kind, {})[kind.version] = kind
        return found

    def _paths(self) -> list[str]:
        try:
            if not self._storage.has_files(self._folder):
                return []
            found = [
                below(each.path, self._folder) for each in self._storage.files_under(self._folder)
            ]
        except StoreUnavailable as error:
            raise RecordsUnavailable(place=self._folder, reason=str(error)) from None
        return [path for path in found if path.rpartition("/")[2][0] != "."]

    def _kind(self, path: str) -> MetadataKind:
        place = join(self._folder, path)
        try:
            return MetadataKind.model_validate(unseal(self._storage.read_bytes(place)))
        except (DamagedBytes, ValueError) as error:
            raise RecordsDamaged(place=place, reason=str(error)) from None
