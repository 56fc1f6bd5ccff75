"""Foreign keys are checked against the referenced version pinned when the run opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard_sdk import Client, DatasetName
from lakeguard_sdk.core.enums import RunStatus
from tests.support.lakes.plans import write_files
from tests.support.projects.folders import applied, run

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
CODES, ORDERS = DatasetName("bronze.codes"), DatasetName("bronze.orders")
COPIES = DatasetName("bronze.copies")
FILES: dict[str, str | bytes] = {
    "definitions/sources/codes.yaml": "source: codes\nformat: csv\npath: codes/*.csv\n",
    "definitions/sources/orders.yaml": "source: orders\nformat: csv\npath: in/*.csv\n",
    "definitions/bronze/codes.yaml": """\
dataset: bronze.codes
owner: tests
domain: shop
source: codes
load: {type: APPEND}
columns:
  code: {type: string}
""",
    "definitions/bronze/orders.yaml": """\
dataset: bronze.orders
owner: tests
domain: shop
source: orders
load: {type: APPEND}
details: {measure_with: ENGINE}
columns:
  id: {type: long}
  code: {type: string}
  follows: {type: long}
rules:
  - foreign_key(code -> bronze.codes(code))
  - foreign_key(follows -> bronze.orders(id))
  - deviation(id, max=100)
  - row_count(max=1) by id
""",
}


def project(folder: Path, engine: str) -> Client:
    given = str(FILES["definitions/bronze/orders.yaml"]).replace("ENGINE", engine)
    return applied(folder, {**FILES, "definitions/bronze/orders.yaml": given})


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_keys_of_another_dataset(tmp_path: Path, engine: str) -> None:
    client = project(tmp_path, engine)
    write_files(tmp_path, a="id,code,follows\n1,A,\n2,B,1\n3,,2\n")
    early = run(client, ORDERS)
    assert early.status is RunStatus.BLOCKED
    assert early.decision is not None
    assert early.decision.ruling.reasons == (
        "reference:bronze.codes: reference bronze.codes has no published version; first:"
        " lakeguard run bronze.codes",
    )

    (tmp_path / "codes").mkdir()
    (tmp_path / "codes" / "1.csv").write_text("code\nA\n")
    assert run(client, CODES).version == 1
    unknown = run(client, ORDERS)
    assert unknown.decision is not None
    assert unknown.decision.ruling.reasons == (
        "foreign_key.code: 1 of 3 rows of the table (33 %), none allowed",
    )

    (tmp_path / "codes" / "2.csv").write_text("code\nB\n")
    assert run(client, CODES).version == 2
    allowed = run(client, ORDERS)
    assert allowed.version == 1, allowed.decision
    write_files(tmp_path, b="id,code,follows\n4,B,9\n5,A,1\n")
    dangling = run(client, ORDERS)
    assert dangling.decision is not None
    assert dangling.decision.ruling.reasons == (
        "foreign_key.follows: 1 of 5 rows of the table (20 %), none allowed",
    )


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_the_rows_of_another_dataset(tmp_path: Path, engine: str) -> None:
    copies = str(FILES["definitions/bronze/codes.yaml"]).replace("codes", "copies")
    copies += f"details: {{measure_with: {engine}}}\nrules: [dataset_equal(-> bronze.codes)]\n"
    sources = str(FILES["definitions/sources/codes.yaml"]).replace("codes", "copies")
    orders = str(FILES["definitions/bronze/orders.yaml"]).replace("ENGINE", engine)
    files = {
        **FILES,
        "definitions/bronze/orders.yaml": orders,
        "definitions/bronze/copies.yaml": copies,
        "definitions/sources/copies.yaml": sources,
    }
    client = applied(tmp_path, files)
    for name in ("codes", "copies"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.csv").write_text("code\nA\nB\nB\n")
    assert run(client, CODES).version == 1
    assert run(client, COPIES).version == 1
    (tmp_path / "copies" / "2.csv").write_text("code\nB\n")
    once_too_often = run(client, COPIES)
    assert once_too_often.decision is not None
    assert once_too_often.decision.ruling.reasons == (
        "dataset_equal: 1 of 7 rows of both datasets (14 %), none allowed",
    )
    (tmp_path / "codes" / "2.csv").write_text("code\nB\n")
    assert run(client, CODES).version == 2
    assert run(client, COPIES).version == 2
