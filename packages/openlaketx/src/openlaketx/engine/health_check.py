"""Checks what the data plane needs on this machine, without starting anything.

``lakeguard doctor`` loads it by the entry point ``lakeguard_sdk.doctors``. Each answer has a name,
whether it is present, what was found, and the command that installs it.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from os import environ

from lakeguard_sdk.errors import EngineError
from openlaketx.engine.spark.jars import COORDINATE, delta_jars, find_java, jar_folder, java_version

Answer = tuple[str, bool, str, str]

INSTALL_SPARK = "pip install 'openlaketx[local]'"


def checkup() -> list[Answer]:
    """All answers; one failing check does not affect the others."""
    return [_java(), _spark(), _jars()]


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


def _jars() -> Answer:
    try:
        delta_jars()
        return "Delta jars", True, f"{COORDINATE} ({jar_folder()})", ""
    except EngineError as error:
        return "Delta jars", False, str(error), error.next_step
