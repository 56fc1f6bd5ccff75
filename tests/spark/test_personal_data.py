"""Personal data in real files: found by pattern, and deleted where it may not be kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.definition import Definitions, PolicyDefinition
from lakeguard_sdk.words import Enforcement, Outcome, PolicyType, RunStatus
from tests.spark.plans import write_files
from tests.worlds.applied_folders import applied, published, run

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
    told = client.reader.decision(blocked.run_id).to_json()
    assert "6789" not in told, "a value never leaves the data plane"


def test_an_alert_is_recorded_and_publishes(tmp_path: Path) -> None:
    client = applied(tmp_path, FILES)
    revise(client, policy("samples", Enforcement.ALERT))
    write_files(tmp_path, a=f"id,note\n1,{SECRET}\n")
    result = run(client, NOTES)
    assert result.version == 1
    assert result.decision is not None
    (check,) = [c for c in result.decision.ruling.checks if c.check_id == "no_ssn"]
    assert check.outcome is Outcome.WARN
