"""Makes ``.venv-spark35``: the packages as they are locked, on Spark 3.5 instead of their own.

Like set-up it is safe to run again, and installs only what is pinned and hashed.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import provision

VENV = provision.ROOT / ".venv-spark35"
STAMP = VENV / "made-of"
INPUTS = ("requirements.lock", "setup/*.txt", "setup/runtimes/*.txt", "packages/*/pyproject.toml")
UNMADE = "The environment for Spark 3.5 could not be made."
UNREACHABLE = "Spark 3.5 could not be installed. Is the Python package index within reach?"


def main() -> int:
    with provision.only_one_at_a_time():
        try:
            if not up_to_date():
                make()
        except provision.Stop as stop:
            print(stop, file=sys.stderr)
            return 1
    return 0


def up_to_date() -> bool:
    return STAMP.is_file() and STAMP.read_text(encoding="utf-8") == fingerprint()


def fingerprint() -> str:
    """Changes with all that the environment is made of, and with its place."""
    digest = hashlib.sha256(str(VENV).encode())
    for file in sorted(file for pattern in INPUTS for file in provision.ROOT.glob(pattern)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def make() -> None:
    """All of the lock first, for Spark's package is built from source with what is in it."""
    uv = provision.PYTHON.with_name("uv")
    provision.run([uv, "venv", "--quiet", "--clear", "--python", provision.PYTHON, VENV], UNMADE)
    into: list[str | Path] = [
        "--quiet",
        "--no-build-isolation",
        "--python",
        VENV / "bin" / "python",
    ]
    settings = provision.index_settings()
    for files in (["setup/build.txt"], ["requirements.lock", "setup/members.txt"]):
        provision.run([uv, "pip", "sync", *into, *files], UNREACHABLE, **settings)
    spark = ["--require-hashes", "-r", "setup/runtimes/spark35.txt"]
    provision.run([uv, "pip", "install", *into, *spark], UNREACHABLE, **settings)
    STAMP.write_text(fingerprint(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
