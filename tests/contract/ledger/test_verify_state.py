"""``verify`` against a database that its own owner has changed, on each kind of State."""

from __future__ import annotations

import itertools
import json
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import text

from lakeguard.insight.history.replay import Replayer
from lakeguard.state import outbox
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import documents
from lakeguard_sdk.model.decision import CaseHashes, Ruling
from lakeguard_sdk.model.verification import FindingKind
from lakeguard_sdk.model.verification import FindingKind as Kind
from tests.support.lakes.ledgers import document_rows, now
from tests.support.lakes.verified_lakes import (
    ORG,
    TABLE,
    ProvenLake,
    make_proven_lake,
    set_value,
)
from tests.support.projects.planes import NUMBERS


@pytest.fixture
def lake(database: Database, tmp_path: Path, request: pytest.FixtureRequest) -> ProvenLake:
    if database.engine.dialect.name == "sqlite":
        copied: ProvenLake = request.getfixturevalue("copied_lake")
        return copied
    return make_proven_lake(database, tmp_path)


def test_a_lake_that_nobody_touched_is_proven(lake: ProvenLake) -> None:
    report = lake.verify(replay=True)
    assert (report.findings, report.exit_code) == ((), 0)
    assert (report.decisions, report.files, report.commits) == (5, 4, 6)
    assert report.head == lake.value(
        "SELECT head FROM audit_chain WHERE batch = (SELECT max(batch) FROM audit_chain)"
    )
    assert lake.found(head=report.head) == {}


def test_what_waits_is_no_difference(lake: ProvenLake) -> None:
    with OrganisationState.of(lake.database, ORG).write() as tx:
        outbox.record(tx, documents, document_rows(["sha256:x"]), now())
    assert Kind.ROW not in lake.found()


def test_tables_of_others_are_their_own_affair(lake: ProvenLake) -> None:
    with lake.database.write() as connection:
        connection.execute(text("CREATE TABLE my_notes (note TEXT)"))
        connection.execute(text("INSERT INTO my_notes VALUES ('mine')"))
    assert lake.found() == {}


def test_a_changed_row(lake: ProvenLake) -> None:
    lake.sql("data_versions", "UPDATE data_versions SET promoted_by = 'me' WHERE version = 2")
    (finding,) = lake.verify().findings
    assert finding.kind is Kind.ROW
    assert finding.place.startswith("data_versions ")
    assert finding.place.endswith(", 2")
    assert finding.message == "promoted_by is me, the ledger has bronze.numbers"


def test_a_deleted_row(lake: ProvenLake) -> None:
    lake.sql("promotion_status", "DELETE FROM promotion_status WHERE ordinal = 3")
    (finding,) = lake.verify().findings
    assert (finding.kind, finding.place) == (Kind.ROW, "promotion_status 3")
    assert "gone from the State" in finding.message


def test_an_inserted_row(lake: ProvenLake) -> None:
    columns = (
        "dataset_id, from_layer, to_layer, allowed, evaluated_at, reason, org_id, state, run_id,"
        " decision_id"
    )
    lake.sql(
        "promotion_status",
        f"INSERT INTO promotion_status ({columns}, ordinal)"
        f" SELECT {columns}, 999 FROM promotion_status WHERE ordinal = 1",
    )
    findings = {finding.place.partition(" ")[0]: finding for finding in lake.verify().findings}
    finding = findings.pop("promotion_status")
    assert set(findings) == {"promotion_current"}, "the view over it"
    assert (finding.kind, finding.place) == (Kind.ROW, "promotion_status 999")
    assert "not in the ledger" in finding.message


def test_reordered_rows(lake: ProvenLake) -> None:
    lake.sql(
        "promotion_status",
        "UPDATE promotion_status SET ordinal = -1 WHERE ordinal = 1",
        "UPDATE promotion_status SET ordinal = 1 WHERE ordinal = 3",
        "UPDATE promotion_status SET ordinal = 3 WHERE ordinal = -1",
    )
    places = ["promotion_status 1", "promotion_status 3"]
    assert {kind: sorted(found) for kind, found in lake.found().items()} == {Kind.ROW: places}


def test_a_definition_changed_behind_the_registry(lake: ProvenLake) -> None:
    """Its table and the views over it."""
    lake.sql("dataset_registry_revisions", "UPDATE dataset_registry_revisions SET owner = 'me'")
    found = lake.found()
    assert set(found) == {Kind.ROW}
    tables = {place.partition(" ")[0] for place in found[Kind.ROW]}
    assert tables == {"dataset_registry_revisions", "dataset_registry", "md_jobs"}


def test_nobody_waits_for_a_decision_to_be_made_again(
    lake: ProvenLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A SQLite State has its writers wait for whoever is reading."""
    decide_again, written = Replayer.decide_again, itertools.count()

    def decide_and_write(self: Replayer, case: CaseHashes, at: datetime, semantics: int) -> Ruling:
        with OrganisationState.of(lake.database, ORG).write() as tx:
            names = [f"sha256:{next(written)}"]
            outbox.record(tx, documents, document_rows(names), now())
        return decide_again(self, case, at, semantics)

    monkeypatch.setattr(Replayer, "decide_again", decide_and_write)
    assert lake.found(replay=True) == {}
    assert next(written) == 5


def test_an_altered_document(lake: ProvenLake) -> None:
    evidence = lake.value(
        f"SELECT evidence_hash FROM decisions WHERE org_id = '{ORG}' ORDER BY decided_at LIMIT 1"
    )
    same = f"content_hash = '{evidence}'"
    lake.sql(
        "documents",
        f"""UPDATE documents SET body = replace(body, '"rows":2', '"rows":9') WHERE {same}""",
    )
    found = lake.found()
    assert found == {
        Kind.ROW: [f"documents {ORG}, {evidence}"],
        Kind.DOCUMENT: [f"documents {evidence}"],
    }
    assert set(lake.found(replay=True)) == {Kind.ROW, Kind.DOCUMENT, Kind.REPLAY}


def test_a_document_that_is_gone(lake: ProvenLake) -> None:
    ruleset = lake.value(f"SELECT min(ruleset_hash) FROM decisions WHERE org_id = '{ORG}'")
    lake.sql("documents", f"DELETE FROM documents WHERE content_hash = '{ruleset}'")
    found = lake.found()
    assert set(found) == {Kind.ROW, Kind.DOCUMENT}
    assert all(place.startswith("decisions dec_") for place in found[Kind.DOCUMENT])


def test_a_ruling_forged_on_every_side_is_found_by_replay_alone(lake: ProvenLake) -> None:
    """State, ledger, chain and plane.json agree about the lie; the gate does not."""
    given, lie = "all the columns", "as declared"
    ruling = str(lake.value("SELECT ruling FROM decisions ORDER BY decision_id LIMIT 1"))
    decision = str(lake.value("SELECT min(decision_id) FROM decisions"))
    assert lie in ruling
    forged = ruling.replace(lie, given)
    lake.sql(
        "decisions",
        f"UPDATE decisions SET ruling = '{forged}' WHERE decision_id = '{decision}'",
    )
    rows = lake.ledger_rows("decisions")
    place = rows["decision_id"].to_pylist().index(decision)
    lake.rewrite_ledger("decisions", lambda data: set_value(data, "ruling", place, forged))
    assert Kind.CHAIN in lake.found()
    lake.forge_chain()
    assert lake.found() == {}
    assert lake.found(replay=True) == {Kind.REPLAY: [f"decisions {decision}"]}


def test_pointers_that_were_renumbered(lake: ProvenLake) -> None:
    lake.sql("dataset_pointers", "UPDATE dataset_pointers SET ordinal = 9 WHERE ordinal = 5")
    assert set(lake.found()) == {Kind.ROW, Kind.HISTORY}


def test_a_pointer_that_was_turned(lake: ProvenLake) -> None:
    """Readers through LakeGuard would get another version than the table shows."""
    lake.sql(
        "dataset_pointers",
        "UPDATE dataset_pointers SET version = 1, commit_version = 1 WHERE ordinal = 5",
    )
    assert lake.found()[Kind.COMMIT] == [TABLE]


def test_a_chain_that_ends_too_early(lake: ProvenLake) -> None:
    """The last batch is gone on both sides; plane.json still tells of it."""
    lake.client.operations.submit(NUMBERS, "to be forgotten")
    lake.relay.drain()
    lake.forget_last_batch()
    assert lake.found() == {Kind.TRUNCATED: ["plane.json"]}


def test_an_owner_file_with_another_head(lake: ProvenLake) -> None:
    file = lake.ledger_folder("plane.json")
    owner = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**owner, "head": f"sha256:{'0' * 64}"}), "utf-8")
    assert lake.found() == {Kind.TRUNCATED: ["plane.json"]}


def test_a_chain_cut_everywhere_is_found_by_a_kept_head(lake: ProvenLake) -> None:
    owner = (lake.ledger_folder("plane.json")).read_bytes()
    lake.client.operations.submit(NUMBERS, "to be forgotten")
    lake.relay.drain()
    head = lake.forget_last_batch()
    lake.ledger_folder("plane.json").write_bytes(owner)
    assert lake.found() == {}
    assert lake.found(head=head) == {Kind.TRUNCATED: [f"head {head}"]}


def test_a_link_changed_in_the_database(lake: ProvenLake) -> None:
    lake.sql("audit_chain", "UPDATE audit_chain SET head = 'sha256:0' WHERE batch = 2")
    found = lake.found()
    assert set(found) == {Kind.CHAIN}
    assert set(found[Kind.CHAIN]) == {"batch 2", "batch 3"}


def test_a_guard_that_was_dropped_is_found(lake: ProvenLake) -> None:
    on = " ON documents" if lake.database.engine.dialect.name == "postgresql" else ""
    with lake.database.write() as connection:
        connection.exec_driver_sql(f"DROP TRIGGER documents_no_update{on}")
    (finding,) = lake.verify().findings
    assert (finding.kind, finding.place) == (FindingKind.HISTORY, "documents_no_update")
