"""Spark's classes as Java keeps them parsed: halves the time until a session is up.

The first session of a machine leaves the archive when its JVM exits; later ones map it. Java
checks that it fits and otherwise goes without, so nothing but time depends on it.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

from openlaketx.engine.jars import jar_folder

_PATIENCE_SECONDS = 600.0
_INCOMPLETE = b"\0\0\0\0"


class ClassArchive:
    """The archive for one Java and one class path, in the folder of all of them."""

    def __init__(self, folder: Path, *fingerprint: str) -> None:
        key = hashlib.sha256("\n".join(fingerprint).encode()).hexdigest()[:16]
        self._folder = folder
        self._ready = folder / f"{key}.jsa"
        self._part = folder / f"{key}.part"
        self._claim = folder / f"{key}.claim"

    def java_option(self) -> str:
        """Use the archive, or leave one at exit, or, where another session does that, neither."""
        try:
            self._adopt()
            if self._ready.exists():
                return f"-XX:SharedArchiveFile={self._ready}"
            return f"-XX:ArchiveClassesAtExit={self._part}" if self._claimed() else ""
        except OSError:
            return ""

    def reject(self) -> None:
        """Java did not take it: the next session makes another."""
        self._ready.unlink(missing_ok=True)

    def _adopt(self) -> None:
        """Java writes the first bytes last: with them, the archive is whole."""
        if self._part.exists():
            with self._part.open("rb") as file:
                begun = file.read(len(_INCOMPLETE))
            if begun and begun != _INCOMPLETE:
                self._part.replace(self._ready)
                self._claim.unlink(missing_ok=True)

    def _claimed(self) -> bool:
        """Whether this session makes the archive: one at a time, and again after a failure."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._claim.exists() and time.time() - self._claim.stat().st_mtime > _PATIENCE_SECONDS:
            self._claim.unlink(missing_ok=True)
            self._part.unlink(missing_ok=True)
        try:
            os.close(os.open(self._claim, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


def archive_folder() -> Path:
    """Beside the jars, in the same cache."""
    return jar_folder().parents[1] / "classes"
