"""The way into set-up. Any Python can read this file, to say that a newer one is needed."""

import os
import sys

OLDEST = (3, 11)


def newer_python():
    """A Python of this machine that is new enough, where ``python3`` is an old one."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        for name in ("python3.11", "python3.12", "python3.13"):
            path = os.path.join(folder, name)
            if os.access(path, os.X_OK):
                return path
    return None


if sys.version_info < OLDEST:
    newer = newer_python()
    if newer is None:
        here = ".".join(map(str, sys.version_info[:2]))
        sys.exit(
            "Python 3.11 or newer is needed; " + sys.executable + " is " + here + ".\n"
            "Install one, then type: make setup PYTHON=python3.11"
        )
    os.execv(newer, [newer, sys.argv[0]])

import provision  # noqa: E402  (only a new enough Python can read it)

sys.exit(provision.main())
