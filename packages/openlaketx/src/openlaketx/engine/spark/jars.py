"""Jars that Spark does not include: Delta, the PostgreSQL driver, and access to S3.

Downloaded once by Maven coordinate, verified against a lock file, then used offline. Those for S3
are downloaded when a lake in S3 is first used. ``python -m openlaketx.engine.spark.jars`` downloads
missing jars and prints the paths; with the argument ``s3``, those for S3.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lakeguard_sdk.errors import JarsMissing, JavaMissing

COORDINATE = "io.delta:delta-spark_4.2_2.13:4.4.0"
_AWS = "2.35.4"


@dataclass(frozen=True)
class JarSet:
    """Jars that are downloaded and used together."""

    name: str
    coordinates: tuple[str, ...]
    left_out: tuple[str, ...]
    """Dependencies that Spark includes, or that are not needed."""
    lock: str
    """A file beside this module, or an absolute path."""

    @property
    def argument(self) -> str:
        """What downloads them, as an argument of this program."""
        return self.name.lower()

    def missing(self, reason: str) -> JarsMissing:
        return JarsMissing(reason=reason, jars=self.argument)

    @property
    def folder(self) -> Path:
        """One per version."""
        _, artifact, version = self.coordinates[0].split(":")
        return _cache() / "jars" / f"{artifact}-{version}"


DELTA = JarSet(
    "Delta",
    (COORDINATE, "org.postgresql:postgresql:42.7.14"),
    # Used only by Unity Catalog, the Delta kernel and compilers; tables and queries work without.
    (
        "io.delta:delta-kernel-*",
        "io.unitycatalog:*",
        "com.*:*",
        "commons-*:*",
        "io.airlift:*",
        "javax.*:*",
        "org.checkerframework:*",
    ),
    "jars.lock",
)
S3 = JarSet(
    "S3",
    (
        "org.apache.hadoop:hadoop-aws:3.5.0",
        *(
            f"software.amazon.awssdk:{module}:{_AWS}"
            for module in ("s3", "s3-transfer-manager", "apache-client", "netty-nio-client", "sts")
        ),
    ),
    # The bundle has every service of AWS, 686 MB. The other libraries are those of Spark.
    (
        "software.amazon.awssdk:bundle",
        "io.netty:*",
        "org.apache.httpcomponents:*",
        "commons-*:*",
        "org.slf4j:*",
        "org.wildfly.openssl:*",
        "com.*:*",
        "org.apache.hadoop:hadoop-c*",
    ),
    "jars.s3.lock",
)
"""Of the Hadoop that Spark 4.2 includes."""
FETCH_SECONDS = 600


@dataclass(frozen=True)
class LockedJar:
    """One line of a lock file."""

    sha256: str
    size: int
    name: str


def locked_jars(jars: JarSet = DELTA) -> list[LockedJar]:
    lines = (Path(__file__).parent / jars.lock).read_text(encoding="utf-8").splitlines()
    fields = (line.split() for line in lines if not line.startswith("#"))
    return [LockedJar(sha256, int(size), name) for sha256, size, name in fields]


def named(*arguments: str) -> JarSet:
    """The jars that the arguments of this program name."""
    return S3 if S3.argument in arguments else DELTA


def jar_folder() -> Path:
    """Of the Delta jars."""
    return DELTA.folder


def _cache() -> Path:
    """``$LAKEGUARD_CACHE``, else the user's cache folder."""
    own = os.environ.get("LAKEGUARD_CACHE")
    shared = os.environ.get("XDG_CACHE_HOME")
    if own:
        cache = Path(own)
    elif shared:
        cache = Path(shared) / "lakeguard"
    else:
        cache = Path.home() / ".cache" / "lakeguard"
    return cache.absolute()


def cached_jars(jars: JarSet) -> list[Path]:
    """Checked by size; never uses the network."""
    return _checked(jars, jars.folder, by_content=False)


def delta_jars() -> list[Path]:
    """The cached jars including the driver."""
    return cached_jars(DELTA)


def jars_for(spark_version: str, *, delta: bool) -> list[Path]:
    """Jars that this Spark can load; ``JarsMissing`` if Delta is required and incompatible."""
    jars, made_for = delta_jars(), COORDINATE.split("_")[1]
    if spark_version.startswith(f"{made_for}."):
        return jars
    if delta:
        raise DELTA.missing(f"they are for Spark {made_for}, not {spark_version}")
    return [jar for jar in jars if not jar.name.startswith("io.delta_")]


def s3_jars() -> list[Path]:
    """The jars for S3, downloaded on first use."""
    try:
        return cached_jars(S3)
    except JarsMissing:
        return fetch(S3)


def verify(jars: JarSet = DELTA) -> list[Path]:
    """The cached jars, checked by their checksums."""
    return _checked(jars, jars.folder, by_content=True)


def fetch(jars: JarSet = DELTA) -> list[Path]:
    """Download and verify the jars, unless the cache is valid; the cache is replaced atomically."""
    target = jars.folder
    target.parent.mkdir(parents=True, exist_ok=True)
    with _only_fetcher(target.parent):
        try:
            return verify(jars)
        except JarsMissing:
            _replace(jars, target)
    return verify(jars)


@contextmanager
def _only_fetcher(folder: Path) -> Iterator[None]:
    """Serialises downloads; a waiting process finds the jars present. The lock ends with its
    process."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(jars: JarSet, target: Path) -> None:
    """The folder is renamed into place after every jar is verified."""
    for left_by_a_killed_fetch in target.parent.glob(".fetch-*"):
        shutil.rmtree(left_by_a_killed_fetch, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as name:
        scratch = Path(name)
        resolved = resolve(jars, scratch)
        _checked(jars, resolved, by_content=True)
        if target.exists():
            target.rename(scratch / "damaged")
        resolved.rename(target)


def _checked(jars: JarSet, folder: Path, *, by_content: bool) -> list[Path]:
    for jar in locked_jars(jars):
        path = folder / jar.name
        if not path.is_file():
            raise jars.missing(f"{path} is missing")
        if path.stat().st_size != jar.size:
            size = path.stat().st_size
            raise jars.missing(f"{path} is damaged: {size} bytes instead of {jar.size}")
        if by_content and _sha256(path) != jar.sha256:
            raise jars.missing(f"{path} is damaged: its checksum differs from {jars.lock}")
    return [folder / jar.name for jar in locked_jars(jars)]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def resolve(jars: JarSet, scratch: Path) -> Path:
    """Download the coordinates with Spark's Ivy resolver; returns the folder of the jars."""
    nothing = scratch / "nothing.py"
    nothing.touch()
    home = _spark_home(jars)
    command = [
        str(home / "bin" / "spark-submit"),
        *("--master", "local[1]"),
        *("--conf", f"spark.jars.ivy={scratch / 'ivy'}"),
        *("--packages", ",".join(jars.coordinates)),
        *("--exclude-packages", ",".join(jars.left_out)),
        str(nothing),
    ]
    environment = os.environ | {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    try:
        done = subprocess.run(  # noqa: S603 - our own command, no shell
            command,
            env=environment,
            cwd=scratch,
            capture_output=True,
            text=True,
            timeout=FETCH_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        timed_out = f"{jars.coordinates[0]}: download timed out after {FETCH_SECONDS} s"
        raise jars.missing(timed_out) from None
    if done.returncode != 0:
        reason = _error_line(done.stderr)
        raise jars.missing(f"{jars.coordinates[0]} could not be downloaded: {reason}")
    return scratch / "ivy" / "jars"


def _error_line(output: str) -> str:
    """The line of Spark's output with the error."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "Exception" in line or line.startswith("Host ")]
    return (errors or lines or ["spark-submit printed no error"])[0]


def _spark_home(jars: JarSet) -> Path:
    """The installed pyspark, else the user's own Spark."""
    package = importlib.util.find_spec("pyspark")
    places = [Path(place) for place in package.submodule_search_locations or []] if package else []
    places += [Path(os.environ["SPARK_HOME"])] if "SPARK_HOME" in os.environ else []
    for place in places:
        if (place / "bin" / "spark-submit").is_file():
            return place
    raise jars.missing("downloading them requires Spark: pip install pyspark==4.2.0")


def main() -> int:
    try:
        paths = fetch(named(*sys.argv[1:]))
    except JarsMissing as error:
        sys.stderr.write(f"{error.code}  {error}\n")
        return 1
    sys.stdout.writelines(f"{path}\n" for path in paths)
    return 0


if __name__ == "__main__":
    sys.exit(main())


# Java: ``JAVA_HOME`` first, then ``PATH``.

OLDEST = 17


def find_java() -> Path:
    """The ``java`` that Spark will use, version 17 or newer; else ``JavaMissing``."""
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None:
        raise JavaMissing(hint="")
    java = Path(found)
    if not java.is_file():
        raise JavaMissing(hint=f": JAVA_HOME is {home}, which has no bin/java")
    version = java_version(java)
    if version < OLDEST:
        raise JavaMissing(hint=f": {java} is version {version}")
    return java


def java_version(java: Path) -> int:
    """Feature release, from the ``release`` file, else from ``java -version``."""
    try:
        text = (java.resolve().parent.parent / "release").read_text(encoding="utf-8")
    except OSError:
        text = _ask(java)
    match = re.search(r'version[ =]"?(?:1\.)?([0-9]+)', text, re.IGNORECASE)
    if match is None:
        raise JavaMissing(hint=f": {java} does not report its version")
    return int(match[1])


def _ask(java: Path) -> str:
    try:
        result = subprocess.run(  # noqa: S603 - the user's own java, no shell
            [str(java), "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise JavaMissing(hint=f": {java} does not start ({error})") from None
    return result.stderr
