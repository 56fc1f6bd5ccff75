"""Code of users cannot measure, decide or publish: it runs in another process than the gate."""

from __future__ import annotations

import hashlib
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import openlaketx
from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import RunStatus
from lakeguard_sdk.errors import Fenced
from lakeguard_sdk.model.run import PythonBuild, RunTicket
from openlaketx.isolation.build_process import build_process
from openlaketx.worker import create_worker
from tests.support.lakes.plain_runs import PlainRuns
from tests.support.lakes.plans import DATASET, schema
from tests.support.projects.code_builds import HONEST, NAME, code_project, run_code
from tests.support.projects.folders import apply_again, published

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]

WRONG = "    return inputs['bronze.raw']\n"
TARGETS = (
    "lakeguard.gate.decide:decide",
    "lakeguard.promotion.deciding.submit_evidence:decide",
    "lakeguard.promotion.run_port:PromotionRuns.submit_evidence",
    "lakeguard_sdk.model.evidence:Evidence",
    "openlaketx.pipeline.run_dataset:Evidence",
    "openlaketx.pipeline.run_dataset:take_measures",
    "openlaketx.measure.take_measures:answer",
    "openlaketx.measure.take_measures:take_measures",
    "openlaketx.measure.runner:MeasureRunner.take",
    "openlaketx.stage.footer_ranges:column_range",
)
"""What an attack would replace; what does not exist here is not found by the attack either."""
PATCH = """\
import importlib, sys

def nothing_fails(real):
    def patched(*given, **named):
        result = real(*given, **named)
        for held in (result, named.get("measures")):
            values = getattr(held, "values", held)
            if isinstance(values, dict):
                for key in values:
                    values[key] = 0
        ruling = getattr(result, "ruling", result)
        for field in ("verdict",):
            if hasattr(ruling, field):
                object.__setattr__(ruling, field, type(ruling.verdict)("ALLOWED"))
        return result
    return patched

def patch(targets):
    for target in targets:
        place, _, path = target.partition(":")
        try:
            owner = importlib.import_module(place)
            *inner, name = path.split(".")
            for part in inner:
                owner = getattr(owner, part)
            setattr(owner, name, nothing_fails(getattr(owner, name)))
        except (ImportError, AttributeError):
            continue
"""


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return code_project(tmp_path / "lake", attack=PATCH)


def notes(client: Client) -> dict[str, Any]:
    return client.reader.versions(DatasetName(NAME))[0].notes


def test_a_build_that_patches_measures_evidence_and_decision_is_blocked(client: Client) -> None:
    code = f"import attack\n\ndef build(spark, inputs):\n    attack.patch({TARGETS!r})\n{WRONG}"
    result = run_code(client, code)
    assert (result.status, result.error) == (RunStatus.BLOCKED, None)
    assert result.decision is not None
    assert "1 of 3" in str(result.decision.ruling.reasons)
    assert run_code(client, HONEST).version == 1, "the process of the next build is patched too"
    assert published(client, NAME, "n") == [1, 2]


def test_a_build_finds_no_client_no_credential_and_no_lease(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATE_PASSWORD", "very secret")
    build_process({}).end()  # builds of other tests imported what they liked
    result = run_code(
        client,
        """
        import gc, os, sys
        from openlaketx import run

        def build(spark, inputs):
            kinds = {type(each).__name__ for each in gc.get_objects()}
            tickets = [each for each in gc.get_objects() if type(each).__name__ == "RunTicket"]
            run.note({
                "kinds": sorted(kinds & {"WorkerClient", "Client", "PromotionRuns", "Database"}),
                "modules": sorted(n for n in sys.modules if n.split(".")[0] == "lakeguard"),
                "state": "very secret" in os.environ.values(),
                "leases": [each.lease_token for each in tickets if each.lease_token],
            })
            return inputs["bronze.raw"].where("n > 0")
        """,
    )
    assert (result.error, result.version) == (None, 1)
    assert notes(client) == {"kinds": [], "modules": [], "state": False, "leases": []}


def test_a_thread_that_a_build_leaves_and_files_in_other_runs_change_nothing(
    client: Client,
) -> None:
    assert run_code(client, HONEST).version == 1
    place = str(Path(client.lake, "silver", "made"))
    result = run_code(
        client,
        f"""
        import glob, shutil, threading, time

        def build(spark, inputs):
            threading.Thread(target=lambda: time.sleep(600), daemon=False).start()
            for file in glob.glob({place!r} + "/runs/*/*.parquet"):
                shutil.copy(file, file.replace(".parquet", "-more.parquet"))
            return inputs["bronze.raw"].where("n > 1")
        """,
    )
    assert (result.error, result.version) == (None, 2)
    assert published(client, NAME, "n") == [2]
    assert run_code(client, HONEST + "\n").version == 3
    assert published(client, NAME, "n") == [1, 2]


def test_files_put_into_its_own_run_beforehand_fail_it(client: Client) -> None:
    result = run_code(
        client,
        """
        import gc, os

        def build(spark, inputs):
            plans = [each for each in gc.get_objects() if type(each).__name__ == "RunPlan"]
            for plan in plans:
                os.makedirs(os.path.join(plan.location, plan.staging), exist_ok=True)
            return inputs["bronze.raw"].where("n > 1")
        """,
    )
    assert result.error is not None
    assert result.error.code == "LG-5005"


def test_a_build_that_ends_its_process_fails_and_the_next_one_runs(client: Client) -> None:
    result = run_code(client, "import os\n\ndef build(spark, inputs):\n    os._exit(3)\n")
    assert result.error is not None
    assert (result.error.code, result.error.retryable) == ("LG-5015", True)
    assert "the process that builds silver.made exited with 3" in result.error.message
    assert run_code(client, HONEST).version == 1


def test_a_program_that_patches_its_own_process_is_blocked(
    spark: SparkSession, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tx = openlaketx.connect(client.project)
    tx.publish("bronze.mine", spark.createDataFrame([(1,)], "n long")).raise_if_blocked()
    folder = Path(client.project)
    text = "dataset: bronze.mine\nbuild: frame\nowner: tests\ndomain: tests\nload: {type: FULL}\n"
    rules = 'columns:\n  n: {type: long, rules: ["range(min=0)"]}\n'
    (folder / "definitions" / "bronze" / "mine.yaml").write_text(text + rules)
    apply_again(client, folder)
    attack: dict[str, Any] = {}
    exec(PATCH, attack)  # noqa: S102 - the attack of this test
    for target in TARGETS:
        place, _, path = target.partition(":")
        try:
            owner: Any = importlib.import_module(place)
            *inner, name = path.split(".")
            for part in inner:
                owner = getattr(owner, part)
            monkeypatch.setattr(owner, name, attack["nothing_fails"](getattr(owner, name)))
        except AttributeError:
            continue
    blocked = tx.publish("bronze.mine", spark.createDataFrame([(-1,)], "n long"))
    assert blocked.status is RunStatus.BLOCKED
    tx.close()


SLOW = """\
from pathlib import Path

def build(spark, inputs):
    Path({begun!r}).touch()
    spark.range(10**12).selectExpr("max(hash(id))").collect()
    return spark.range(1)
"""


def test_a_lost_lease_stops_the_jobs_of_a_build_in_its_process(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    code = SLOW.replace("{begun!r}", repr(str(begun)))
    (tmp_path / "slow.py").write_text(code)
    digest = hashlib.sha256(code.encode()).hexdigest()

    class Losing(PlainRuns):
        def heartbeat(self, ticket: RunTicket) -> float:
            if begun.exists():
                raise Fenced(run=ticket.run_id, reason="its lease is over")
            return 0.4

    build = PythonBuild(file="slow.py", function="build", sha256=digest, inputs={})
    runs = Losing(tmp_path, DATASET, schema(id="long"), build, lease_seconds=0.4)
    result = create_worker(runs.client(), spark_options={}).run_task("task_1")
    assert result.error is not None
    assert result.error.code == "LG-4003"
    assert runs.evidence == []


INTERRUPTED = """
import os, signal, sys, threading, time
from pathlib import Path
import openlaketx
from lakeguard_sdk import DatasetName
from openlaketx.engine.spark.session import spark_session

spark = spark_session({})
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    while not spark.sparkContext.statusTracker().getActiveJobsIds():
        time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)

tx = openlaketx.connect(sys.argv[1])
threading.Thread(target=interrupt, daemon=True).start()
try:
    tx.publish("bronze.slow", spark.range(10**12).selectExpr("max(hash(id)) AS n"))
except KeyboardInterrupt:
    found = tx._client.reader.runs(DatasetName("bronze.slow"))
    print("interrupted", [row.error_message for row in found])
print(spark.range(5).count(), tx.publish("bronze.slow", spark.sql("SELECT 1 AS n")).version)
"""


def test_an_interrupt_of_a_program_ends_its_run_and_leaves_it_usable(client: Client) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, client.project],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.stdout.splitlines() == [
        "interrupted ['the run of bronze.slow was interrupted']",
        "5 1",
    ], done.stderr[-3000:]
