"""The Azure server of ``make cloud``: the blob service of Azurite, installed from its npm package.

Python's standard library only. ``python setup/azure_server.py`` installs it if it is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGE = "azurite@3.37.0"
"""Earlier ones do not know ``startFrom`` of a listing, by which delta-rs finds the last commit."""
_OLDEST_NODE = 20


def server_script() -> Path:
    """Where the script that Node runs is, or will be."""
    cache = os.environ.get("LAKEGUARD_CACHE") or os.environ.get("XDG_CACHE_HOME")
    place = Path(cache) if cache else Path.home() / ".cache"
    folder = place if os.environ.get("LAKEGUARD_CACHE") else place / "lakeguard"
    modules = folder.absolute() / "npm" / PACKAGE / "node_modules"
    return modules / "azurite" / "dist" / "src" / "blob" / "main.js"


def install() -> Path:
    script = server_script()
    if script.is_file():
        return script
    npm = shutil.which("npm") or _install_node()
    folder = script.parents[5]
    made = folder.with_name(f".{folder.name}-{os.getpid()}")
    made.mkdir(parents=True)
    print(f"installing {PACKAGE} (about a minute, kept for later)", file=sys.stderr)
    options = ["--ignore-scripts", "--omit=optional", "--omit=dev", "--no-audit", "--no-fund"]
    command = [npm, "install", "--prefix", str(made), "--loglevel=error", *options, PACKAGE]
    try:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return script


def _install_node() -> str:
    """As root on Debian; elsewhere the need is named."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-q"], check=True)
        subprocess.run(["apt-get", "install", "-y", "-q", "nodejs", "npm"], check=True)
        found = shutil.which("npm")
        if found:
            return found
    sys.exit(f"make cloud needs Node {_OLDEST_NODE} or newer, with npm, to install an Azure server")


if __name__ == "__main__":
    print(install())
