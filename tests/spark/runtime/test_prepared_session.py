"""The JVM of a session may start ahead of it; nobody has to use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os
from lakeguard_sdk.errors import SparkNotStarted
from openlaketx.engine.spark.session import prepare_session, spark_session

if "{case}" == "impossible":
    options = {{"spark.driver.memory": "900000g"}}
    prepare_session(options)
    try:
        spark_session(options)
    except SparkNotStarted as error:
        print("initialization of VM" in str(error))
if "{case}" == "another":
    prepare_session({{"spark.app.name": "prepared"}})
    prepare_session({{"spark.app.name": "prepared"}})
    spark = spark_session({{"spark.app.name": "wanted"}})
    print(spark.sparkContext.appName, spark.range(3).count())
    prepare_session({{"spark.app.name": "prepared"}})
if "{case}" == "prepared":
    prepare_session({{"spark.app.name": "prepared"}})
    print(spark_session({{"spark.app.name": "prepared"}}).range(3).count())
    print([name for name in os.environ if "GATEWAY" in name])
if "{case}" == "unused":
    prepare_session({{"spark.app.name": "prepared"}})
    print(open(f"/proc/self/task/{{os.getpid()}}/children").read())
"""


def printed(case: str) -> list[str]:
    command = [sys.executable, "-c", SCRIPT.format(case=case)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return done.stdout.splitlines()


def test_it_is_used_by_a_session_with_the_same_options() -> None:
    assert printed("prepared") == ["3", "[]"]


def test_a_session_with_other_options_starts_its_own() -> None:
    assert printed("another") == ["wanted 3"]


def test_one_that_cannot_start_is_told_by_the_session() -> None:
    assert printed("impossible") == ["True"]


def test_one_that_nobody_uses_ends_with_the_process() -> None:
    (process,) = printed("unused")
    assert not Path("/proc", process.strip()).exists()
