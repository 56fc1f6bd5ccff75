"""Checks what the data plane needs on this machine, without starting anything.

``lakeguard doctor`` loads it by the entry point ``lakeguard_sdk.doctors``, and tells it where the
lake is. Each answer has a name, whether it is present, what was found, and the command that
installs it.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from os import environ

from lakeguard_sdk.errors import EngineError
from lakeguard_sdk.storage.storage import is_remote
from openlaketx.engine.spark.jars import DELTA, S3, JarSet, cached_jars, find_java, java_version

Answer = tuple[str, bool, str, str]

INSTALL_SPARK = "pip install 'openlaketx[local]'"


def checkup(lake: str) -> list[Answer]:
    """All answers; one failing check does not affect the others."""
    return [_java(), _spark(), _jars(DELTA), *([_jars(S3)] if is_remote(lake) else [])]


def _java() -> Answer:
    try:
        java = find_java()
        return "Java", True, f"{java_version(java)} ({java})", ""
    except EngineError as error:
        return "Java", False, str(error), error.next_step


def _spark() -> Answer:
    try:
        return "Spark", True, f"pyspark {version('pyspark')}", ""
    except PackageNotFoundError:
        if find_spec("pyspark") is not None:
            return (
                "Spark",
                True,
                f"the user's Spark, SPARK_HOME {environ.get('SPARK_HOME', '')}",
                "",
            )
        return "Spark", False, "pyspark is not installed", INSTALL_SPARK


def _jars(wanted: JarSet) -> Answer:
    name = f"{wanted.name} jars"
    try:
        cached_jars(wanted)
        return name, True, f"{wanted.coordinates[0]} ({wanted.folder})", ""
    except EngineError as error:
        return name, False, str(error), error.next_step
