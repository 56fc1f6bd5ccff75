"""Sets the project up on a machine that has Python 3.11 and make, and says what it did.

Standard library only. Safe to run again: when nothing changed it only looks. Everything that
is installed is pinned and hashed (``requirements.lock``, ``setup/build.txt``, ``jars.lock``).
"""

from __future__ import annotations

import fcntl
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
STAMP = VENV / "setup.json"
ENVIRONMENT = VENV / "environment"  # sourced by the Makefile's recipes

OLDEST_JAVA = 17
JAVA_PACKAGES = ("openjdk-17-jre-headless", "default-jre-headless")
JAVA_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/local/openjdk-*",
    "/opt/java/*",
    "/opt/homebrew/opt/openjdk*",
    "/usr/local/opt/openjdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
)
INPUTS = (
    "requirements.lock",
    "setup/*.txt",
    "setup/*.py",
    "packages/*/pyproject.toml",
    "packages/openlaketx/src/openlaketx/engine/spark/jars.*",
)
PIP_TO_UV = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "cert": "SSL_CERT_FILE",
}
LINE_WIDTH = 110


class Stop(Exception):
    """Set-up cannot go on; the message says why and what to type."""


class Progress:
    """One line of ticks that grows; on a terminal it also shows what is under way."""

    def __init__(self) -> None:
        self.ticks: list[str] = []
        wide = shutil.get_terminal_size().columns >= LINE_WIDTH
        self.live = sys.stdout.isatty() and wide

    def begin(self, what: str) -> None:
        if self.live:
            self._rewrite([*self.ticks, "… " + what])

    def tick(self, what: str) -> None:
        self.ticks.append("✓ " + what)
        if self.live:
            self._rewrite(self.ticks)
        else:
            print("   " if self.ticks[1:] else "", self.ticks[-1], sep="", end="", flush=True)

    def end(self) -> None:
        if self.ticks:
            print("\n", flush=True)

    def _rewrite(self, parts: list[str]) -> None:
        print("\r\033[K" + "   ".join(parts), end="", flush=True)


def main() -> int:
    progress = Progress()
    with only_one_at_a_time():
        try:
            if not up_to_date():
                set_up(progress)
        except Stop as stop:
            progress.end()
            print(stop, file=sys.stderr)
            return 1
    progress.end()
    return 0


def set_up(progress: Progress) -> None:
    progress.tick("Python {}.{}".format(*sys.version_info))
    progress.begin("Java")
    java_home, java_version = find_java() or install_java()
    progress.tick(f"Java {java_version}")

    progress.begin("uv")
    make_venv()
    STAMP.unlink(missing_ok=True)
    progress.tick(f"uv {install_uv()}")

    progress.begin("packages")
    started = time.time()
    install_packages()
    progress.tick(f"packages ({time.time() - started:.0f} s)")

    progress.begin("Delta jars")
    started = time.time()
    jars = fetch_jars(java_home)
    fetched = any(jar.stat().st_mtime >= started for jar in jars)
    note = f" ({time.time() - started:.0f} s, cached for later)" if fetched else ""
    progress.tick(f"Delta jars{note}")

    ENVIRONMENT.write_text(f'export JAVA_HOME="{java_home}"\n', encoding="utf-8")
    remember(java_home, jars)


# ------------------------------------------------------------------------------- what is there


@contextmanager
def only_one_at_a_time() -> Iterator[None]:
    """Whoever comes second waits, then finds the work done. The lock dies with its process."""
    handle = os.open(ROOT / "setup", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def up_to_date() -> bool:
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
        return (
            stamp["inputs"] == fingerprint()
            and (Path(stamp["java"]) / "bin" / "java").exists()
            and os.environ.get("JAVA_HOME", "") in ("", stamp["java"], stamp["java_asked_for"])
            and all(Path(jar).stat().st_size == size for jar, size in stamp["jars"].items())
            and PYTHON.exists()
        )
    except (OSError, ValueError, KeyError):
        return False


def remember(java_home: Path, jars: list[Path]) -> None:
    stamp = {
        "inputs": fingerprint(),
        "java": str(java_home),
        "java_asked_for": os.environ.get("JAVA_HOME", ""),
        "jars": {str(jar): jar.stat().st_size for jar in jars},
    }
    STAMP.write_text(json.dumps(stamp, indent=2) + "\n", encoding="utf-8")


def fingerprint() -> str:
    """Changes with all that set-up depends on, so that a change of it sets up again."""
    digest = hashlib.sha256()
    for file in sorted(file for pattern in INPUTS for file in ROOT.glob(pattern)):
        digest.update(f"{file.relative_to(ROOT)}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    for setting in ("LAKEGUARD_CACHE", "XDG_CACHE_HOME", "HOME"):
        digest.update(f"{setting}={os.environ.get(setting)}\n".encode())
    digest.update(str(ROOT).encode())
    return digest.hexdigest()


# ------------------------------------------------------------------------------------- Python


def make_venv() -> None:
    """A virtual environment that works: one left by a moved tree or a lost Python is replaced."""
    activate = VENV / "bin" / "activate"
    in_place = activate.exists() and str(VENV) in activate.read_text(encoding="utf-8")
    if in_place and succeeds([PYTHON, "-c", "import pip"]):
        return
    command = [sys.executable, "-m", "venv", "--clear", VENV]
    if succeeds(command):
        return
    package = "python{}.{}-venv".format(*sys.version_info)
    if not may_install():
        raise Stop(
            "Python cannot make a virtual environment here. On Debian or Ubuntu type:\n"
            f"  sudo apt-get update && sudo apt-get install -y {package}"
        )
    apt_install(package)
    run(command, "The virtual environment could not be made.")


def install_uv() -> str:
    """Installs uv and the build back ends; returns uv's version."""
    pinned = ROOT / "setup" / "build.txt"
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    run(
        [*pip, "--require-hashes", "--only-binary", ":all:", "-r", pinned],
        "uv could not be installed. Is the Python package index within reach?",
    )
    return run([VENV / "bin" / "uv", "--version"], "uv does not start.").split()[1]


def install_packages() -> None:
    """Exactly what is locked, and the workspace's own packages in place of copies."""
    sync = [VENV / "bin" / "uv", "pip", "sync", "--quiet", "--compile-bytecode", "--python", PYTHON]
    run(
        [*sync, "--no-build-isolation", "requirements.lock", "setup/members.txt"],
        "The packages could not be installed. Is the Python package index within reach?",
        **index_settings(),
    )


def index_settings() -> dict[str, str]:
    """The user's pip settings for the package index, in uv's words."""
    settings = run([PYTHON, "-m", "pip", "config", "list"], "pip does not start.")
    files, environment = (
        dict(re.findall(rf"^{place}\.([a-z-]+)='(.*)'$", settings, re.MULTILINE))
        for place in ("(?:global|install)", ":env:")
    )
    found = {**files, **environment}
    return {
        setting: found[name]
        for name, setting in PIP_TO_UV.items()
        if name in found and setting not in os.environ
    }


# --------------------------------------------------------------------------------------- Java


def find_java() -> tuple[Path, int] | None:
    """Home and version of the first Java that is new enough."""
    places = [os.environ["JAVA_HOME"]] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("java")
    if on_path:
        places.append(os.path.dirname(os.path.dirname(os.path.realpath(on_path))))
    for pattern in JAVA_PLACES:
        places.extend(sorted(glob.glob(os.path.expanduser(pattern))))
    for place in map(Path, places):
        version = java_version(place / "bin" / "java")
        if version >= OLDEST_JAVA:
            return place, version
    return None


def java_version(java: Path) -> int:
    """The major version; 0 where there is no Java that starts."""
    try:
        output = subprocess.run(
            [java, "-version"], capture_output=True, text=True, check=True
        ).stderr
    except (OSError, subprocess.CalledProcessError):
        return 0
    found = re.search(r'version "(\d+)', output)
    return int(found.group(1)) if found else 0


def install_java() -> tuple[Path, int]:
    if may_install():
        apt_install(*JAVA_PACKAGES)
        found = find_java()
        if found:
            return found
    raise Stop(f"Java {OLDEST_JAVA} or newer was not found. Install it:\n  {java_command()}")


def java_command() -> str:
    """What a person types on this machine to get Java."""
    if platform.system() == "Darwin":
        return "brew install openjdk@17"
    if shutil.which("apt-get"):
        return f"sudo apt-get update && sudo apt-get install -y {JAVA_PACKAGES[0]}"
    if shutil.which("dnf"):
        return "sudo dnf install -y java-latest-openjdk-headless"
    return "a Java runtime of version 17 or 21, then: export JAVA_HOME=/where/it/is"


def fetch_jars(java_home: Path) -> list[Path]:
    """The paths of the Delta jars, fetched if they are not cached."""
    output = run(
        [PYTHON, "-m", "openlaketx.engine.spark.jars"],
        "The Delta jars could not be fetched. Is Maven Central within reach?",
        JAVA_HOME=str(java_home),
    )
    return [Path(line) for line in output.splitlines()]


# ---------------------------------------------------------------------------------- processes


def may_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(*packages: str) -> None:
    """Installs the first of the packages that this release of the system has."""
    run(["apt-get", "update", "-q"], "apt-get update failed.")
    for package in packages:
        command = ["apt-get", "install", "-y", "-q", "--no-install-recommends", package]
        if succeeds(command, DEBIAN_FRONTEND="noninteractive"):
            return
    raise Stop(f"{packages[0]} could not be installed: apt-get install {packages[0]}")


def succeeds(command: list[str | Path], **settings: str) -> bool:
    return start(command, settings).returncode == 0


def run(command: list[str | Path], otherwise: str, **settings: str) -> str:
    """What the command printed; or stops with the end of what it complained about."""
    done = start(command, settings)
    if done.returncode != 0:
        complaint = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        shown = " ".join(map(str, command))
        raise Stop(f"{otherwise}\n  {shown}\n{complaint}")
    return done.stdout


def start(command: list[str | Path], settings: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **settings}
    for misleading in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"):
        environment.pop(misleading, None)
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
