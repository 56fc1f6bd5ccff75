"""Finding Java: ``JAVA_HOME`` first, then the path."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from lakeguard_sdk.errors import JavaMissing

OLDEST = 17


def find_java() -> Path:
    """The ``java`` that Spark will use, of version 17 or newer; else ``JavaMissing``."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None:
        raise JavaMissing(hint="")
    java = Path(found)
    if not java.is_file():
        raise JavaMissing(hint=f": JAVA_HOME is {home}, and has no bin/java")
    version = java_version(java)
    if version < OLDEST:
        raise JavaMissing(hint=f": {java} is version {version}")
    return java


def java_version(java: Path) -> int:
    """The feature release: from the ``release`` file beside it, else by asking it."""
    try:
        text = (java.resolve().parent.parent / "release").read_text(encoding="utf-8")
    except OSError:
        text = _ask(java)
    match = re.search(r'version[ =]"?(?:1\.)?([0-9]+)', text, re.IGNORECASE)
    if match is None:
        raise JavaMissing(hint=f": {java} does not tell its version")
    return int(match[1])


def _ask(java: Path) -> str:
    try:
        told = subprocess.run(  # noqa: S603 - the user's own java, no shell
            [str(java), "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaMissing(hint=f": {java} does not start ({error})") from None
    return told.stderr
