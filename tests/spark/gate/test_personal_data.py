"""Personal data in real files is found by pattern, and deleted if it must not be stored."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import (
    Enforcement,
    Outcome,
    PolicyType,
    RunStatus,
)
from lakeguard_sdk.model.definitions import Definitions, PolicyDefinition
from tests.support.lakes.changing_schemas import Things
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, published, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
NOTES = DatasetName("bronze.notes")
FILES: dict[str, str | bytes] = {
    "definitions/sources/notes.yaml": "source: notes\nformat: csv\npath: in/*.csv\n",
    "definitions/bronze/notes.yaml": """\
dataset: bronze.notes
owner: tests
domain: shop
source: notes
load: {type: INCREMENTAL, keys: [id]}
columns:
  id: {type: long}
  note: {type: string}
""",
}
SECRET = "call 123-45-6789 now"


def policy(within: str, enforcement: Enforcement = Enforcement.BLOCK) -> PolicyDefinition:
    return PolicyDefinition(
        policy="no_ssn",
        type=PolicyType.PII,
        expression=f"forbid pattern '[0-9]{{3}}-[0-9]{{2}}-[0-9]{{4}}' in {within}",
        enforcement=enforcement,
    )


def revise(client: Client, changed: PolicyDefinition) -> None:
    client.registry.apply(client.registry.plan(Definitions(policies=(changed,))))


def staged(folder: Path) -> list[Path]:
    return [path for path in folder.glob("bronze/notes/runs/**/*") if path.is_file()]


def test_rows_that_were_quarantined_are_deleted_with_the_batch(tmp_path: Path) -> None:
    columns = {"id": "long", "note": "string", "code": "long"}
    things = Things(tmp_path, columns, load="{type: APPEND}", schema="{profile: PERMISSIVE}")
    found = pa.schema([("id", pa.int64()), ("note", pa.string()), ("code", pa.string())])
    things.land(found, {"id": 1, "note": "", "code": "1"}, {"id": 2, "note": "", "code": "x"})
    assert things.run().version == 1
    (kept,) = tmp_path.glob("quarantine/bronze/things/*")
    revise(things.client, policy("values"))
    things.land(
        found, {"id": 3, "note": SECRET, "code": "1"}, {"id": 4, "note": SECRET, "code": "x"}
    )
    blocked = things.run()
    assert blocked.decision is not None
    assert blocked.decision.ruling.discard
    assert list(tmp_path.glob("quarantine/bronze/things/*")) == [kept]


@pytest.mark.parametrize("within", ["samples", "values"])
def test_a_batch_with_personal_data_is_blocked_and_deleted(tmp_path: Path, within: str) -> None:
    client = applied(tmp_path, FILES)
    revise(client, policy(within))
    write_files(tmp_path, a="id,note\n1,fine\n2,\n")
    assert run(client, NOTES).version == 1
    before = staged(tmp_path)

    write_files(tmp_path, b=f"id,note\n2,{SECRET}\n3,fine\n")
    blocked = run(client, NOTES)
    assert blocked.status is RunStatus.BLOCKED
    assert blocked.decision is not None
    assert blocked.decision.ruling.discard
    (check,) = [c for c in blocked.decision.ruling.checks if c.check_id == "no_ssn"]
    assert (check.outcome, "note (1)" in check.message) == (Outcome.FAIL, True)
    assert staged(tmp_path) == before, "nothing of the run is left, and nothing else is gone"
    assert published(client, NOTES, "id") == [1, 2]
    assert client.reader.replay(blocked.run_id).identical
    reported = client.reader.decision(blocked.run_id).to_json()
    assert "45-6789" not in reported, "a value never leaves the data plane"
    assert_unknown(tmp_path, client)


def assert_unknown(folder: Path, client: Client) -> None:
    """Neither the State nor the published ledger contains the value, and verification passes."""
    client.ledger.sync()
    published = [*folder.glob("_lakeguard/**/*.parquet")]
    assert published
    texts = [str(pq.read_table(path).to_pydict()) for path in published]
    texts += [str(path.read_bytes()) for path in folder.rglob("*") if ".db" in path.name]
    texts += [path.read_text() for path in folder.glob("**/_delta_log/*.json")]
    assert not [text for text in texts if "45-6789" in text]
    assert client.ledger.verify(replay=True).findings == ()


def test_files_as_they_were_received_are_deleted_with_the_batch(tmp_path: Path) -> None:
    source = "source: notes\nformat: csv\npath: in/*.csv\nlanding: true\nmalformed: quarantine\n"
    client = applied(tmp_path, FILES | {"definitions/sources/notes.yaml": source})
    revise(client, policy("values"))
    write_files(tmp_path, a="id,note\n1,fine\n")
    assert run(client, NOTES).version == 1
    kept = received(tmp_path)
    assert kept
    write_files(tmp_path, b=f"id,note\n2,{SECRET}\n3,{SECRET},{SECRET}\n")
    assert run(client, NOTES).status is RunStatus.BLOCKED
    assert received(tmp_path) == kept


def received(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("landing/**/*") if path.is_file())


def test_an_alert_is_recorded_and_publishes(tmp_path: Path) -> None:
    client = applied(tmp_path, FILES)
    revise(client, policy("samples", Enforcement.ALERT))
    write_files(tmp_path, a=f"id,note\n1,{SECRET}\n")
    result = run(client, NOTES)
    assert result.version == 1
    assert result.decision is not None
    (check,) = [c for c in result.decision.ruling.checks if c.check_id == "no_ssn"]
    assert check.outcome is Outcome.WARN
