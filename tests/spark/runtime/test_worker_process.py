"""A worker in its own process: one warm Spark for all builds, and no leaked secrets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakeguard_sdk import Client
from tests.support.databases.databases import Server
from tests.support.lakes.published_by_hand import run_by_hand
from tests.support.projects.folders import applied, published

pytestmark = pytest.mark.spark
PASSWORD = "hush of the state"
VARIABLES = {
    "WORKER_STATE_PASSWORD": PASSWORD,
    "PGHOST": "db-of-the-state.example",
    "PGUSER": "user-of-the-state",
}
SEEN = """\
import json
import os
from pathlib import Path

from pyspark.sql.functions import udf


def around(pid):
    text = Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    return dict(line.partition("=")[::2] for line in text.split(chr(0)) if line)


def parents():
    found, pid = {}, os.getppid()
    while pid > 1 and "java" in os.readlink(f"/proc/{pid}/exe") or not found:
        found |= around(pid)
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return found


def build(spark, inputs):
    told = {"driver": dict(os.environ), "application": spark.conf.get("spark.app.id")}
    look = udf(lambda n: json.dumps({"worker": dict(os.environ), "around": parents()}), "string")
    frame = spark.range(1).select(look("id").alias("seen"))
    rows = [(json.dumps(told),), (frame.collect()[0][0],)]
    return spark.createDataFrame(rows, "seen string")
"""


def dataset(name: str) -> str:
    return f"""\
dataset: silver.{name}
owner: tests
domain: shop
parents: [bronze.numbers]
build: {{python: builds/seen.py:build}}
load: {{type: FULL}}
columns:
  seen: {{type: string}}
"""


NUMBERS = """\
dataset: bronze.numbers
owner: tests
domain: test
source: numbers
load: {type: APPEND}
columns:
  n: {type: long}
"""
FILES: dict[str, str | bytes] = {
    "definitions/sources/numbers.yaml": "source: numbers\nformat: csv\npath: numbers/*.csv\n",
    "definitions/bronze/numbers.yaml": NUMBERS,
    "builds/seen.py": SEEN,
    **{f"definitions/silver/{name}.yaml": dataset(name) for name in ("first", "second")},
    **{
        f"definitions/jobs/{name}.yaml": f"job: {name}\ndataset: silver.{name}\n"
        for name in ("first", "second")
    },
}


@pytest.fixture
def client(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """The State requires a password, which is in a variable."""
    server.sql(f"CREATE ROLE worker_state LOGIN PASSWORD '{PASSWORD}'")
    server.sql("GRANT CREATE ON DATABASE postgres TO worker_state")
    monkeypatch.setenv("WORKER_STATE_PASSWORD", PASSWORD)
    settings = (
        f'[env.dev]\ndatabase = "{server.url_of("worker_state")}"\nschema = "worker state"\n'
        'password = "env:WORKER_STATE_PASSWORD"\n'
        '[env.dev.spark]\nspark.driver.memory = "1g"\n'
    )
    client = applied(tmp_path, {**FILES, "lakeguard.toml": settings})
    client.jobs.deploy()
    run_by_hand(client, [1, 2])
    yield client
    server.sql('DROP SCHEMA "worker state" CASCADE')
    server.sql("DROP OWNED BY worker_state")
    server.sql("DROP ROLE worker_state")


def test_a_warm_worker_keeps_its_secrets_to_itself(client: Client, tmp_path: Path) -> None:
    for name in ("first", "second"):
        client.jobs.trigger(name, "tests")
    command = [sys.executable, "-m", "lakeguard.cli.main", "worker", "--drain", "--json"]
    environment = {**os.environ, **VARIABLES, "SPARK_SEEN_BY_ALL": "yes", "SEEN_BY_NONE": "no"}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    document = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (document, done.stderr)
    assert [each["version"] for each in document if each["event"] == "ended"] == [1, 1]
    applications = set()
    for name in ("first", "second"):
        places: dict[str, Any] = {}
        for text in published(client, f"silver.{name}", "seen"):
            places |= json.loads(text)
        applications.add(places.pop("application"))
        for place in ("driver", "worker", "around"):
            assert places[place]["SPARK_SEEN_BY_ALL"] == "yes"
            assert "SEEN_BY_NONE" not in places[place]
            held = json.dumps(places[place])
            assert [value for value in VARIABLES.values() if value in held] == [], place
            assert "postgresql://" not in held
    assert len(applications) == 1
