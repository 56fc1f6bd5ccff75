"""Rows of the audit that a DBA edits, deletes, reorders or cuts off: the first one is named."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import DeltaTable
from sqlalchemy import Connection, select, text

from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import Action, Role
from lakeguard.relay.owner import OWNER_FILE
from lakeguard.relay.signed_head import SigningKey
from lakeguard.services.manage_identity import ManageIdentity
from lakeguard.services.ports.audit import EmbeddedAudit
from lakeguard.state.append_only_triggers import missing_guards
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import audit_chain
from lakeguard_sdk.errors import AuditHeadRefused, AuditKeyUnusable
from lakeguard_sdk.model.verification import AuditHead, AuditReport, RowChange
from tests.support.lakes.verified_lakes import ORG, ProvenLake, make_proven_lake
from tests.support.projects.planes import NUMBERS


@pytest.fixture
def lake(database: Database, tmp_path: Path) -> ProvenLake:
    return make_proven_lake(database, tmp_path)


def as_dba(lake: ProvenLake, *statements: str) -> None:
    """Drops the triggers of the tables first, and puts them back."""
    with lake.database.write() as connection:
        for table in ("audit_chain", "dataset_pointers", "registry_applies", "run_history"):
            for name in ("no_update", "no_delete"):
                on = f" ON {table}" if connection.dialect.name == "postgresql" else ""
                connection.exec_driver_sql(f"DROP TRIGGER {table}_{name}{on}")
        for statement in statements:
            connection.execute(text(statement))
        for statement in missing_guards(connection).values():
            connection.exec_driver_sql(statement)


def first(report: AuditReport) -> tuple[str, str]:
    return (report.changed[0].change.value, report.changed[0].place)


def batches(lake: ProvenLake) -> list[int]:
    with lake.database.read() as connection:
        return list(connection.scalars(select(audit_chain.c.batch).order_by(audit_chain.c.batch)))


def test_rows_that_nobody_touched_are_proven(lake: ProvenLake) -> None:
    report = lake.client.audit.verify()
    assert (report.changed, report.exit_code) == ((), 0)
    assert report.rows > 10
    assert report.batches == len(batches(lake)) > 1


def test_an_edited_row_is_named(lake: ProvenLake) -> None:
    as_dba(lake, "UPDATE registry_applies SET applied_by = 'nobody' WHERE ordinal = 1")
    report = lake.client.audit.verify()
    change, place = first(report)
    assert change == "edited"
    assert place.startswith("registry_applies ")
    assert "applied_by is nobody" in report.changed[0].message
    assert report.exit_code == 12


def test_a_deleted_row_is_named(lake: ProvenLake) -> None:
    as_dba(lake, "DELETE FROM dataset_pointers WHERE ordinal = 1")
    change, place = first(lake.client.audit.verify())
    assert change == "deleted"
    assert place.startswith("dataset_pointers ")


def test_the_row_that_was_recorded_first_is_named_first(lake: ProvenLake) -> None:
    as_dba(
        lake,
        "UPDATE dataset_pointers SET reason = 'other'",
        "UPDATE registry_applies SET reason = 'other'",
    )
    report = lake.client.audit.verify()
    places = [each.place.split()[0] for each in report.changed]
    assert places[0] == "registry_applies"
    assert set(places) == {"registry_applies", "dataset_pointers"}


def swap(table: str, column: str, one: int, other: int) -> list[str]:
    moves = ((one, -1), (other, one), (-1, other))
    return [f"UPDATE {table} SET {column} = {to} WHERE {column} = {at}" for at, to in moves]


def test_links_of_another_order_are_named(lake: ProvenLake) -> None:
    one, other = batches(lake)[:2]
    as_dba(lake, *swap("audit_chain", "batch", one, other))
    assert first(lake.client.audit.verify()) == ("reordered", f"audit_chain {one}")


def test_rows_of_another_order_are_named(lake: ProvenLake) -> None:
    as_dba(lake, *swap("run_history", "ordinal", 1, 2))
    change, place = first(lake.client.audit.verify())
    assert (change, place) == ("edited", "run_history 1")


@pytest.mark.parametrize("column", ["head", "previous", "rows"])
def test_an_edited_link_is_named(column: str, lake: ProvenLake) -> None:
    last = batches(lake)[-2]
    value = "7" if column == "rows" else "'sha256:0'"
    as_dba(lake, f'UPDATE audit_chain SET "{column}" = {value} WHERE batch = {last}')
    assert first(lake.client.audit.verify()) == ("edited", f"audit_chain {last}")


def test_a_deleted_link_is_named(lake: ProvenLake) -> None:
    as_dba(lake, "DELETE FROM audit_chain WHERE batch = 2")
    assert first(lake.client.audit.verify()) == ("deleted", "audit_chain 2")


def test_a_chain_that_was_cut_off_is_named(lake: ProvenLake) -> None:
    last = batches(lake)[-1]
    as_dba(lake, f"DELETE FROM audit_chain WHERE batch = {last}")
    report = lake.client.audit.verify()
    assert first(report) == ("truncated", f"audit_chain {last}")
    assert report.exit_code == 13


def test_a_head_that_plane_json_does_not_have_is_named(lake: ProvenLake) -> None:
    """Both copies of the chain agree, and somebody else wrote them."""
    last = batches(lake)[-1]
    edit_owner(lake, head="sha256:" + "0" * 64)
    report = lake.client.audit.verify()
    assert first(report) == ("edited", f"audit_chain {last}")
    assert OWNER_FILE in report.changed[0].message


def test_a_lost_plane_json_is_named(lake: ProvenLake) -> None:
    (lake.folder / "_lakeguard" / ORG / OWNER_FILE).unlink()
    assert first(lake.client.audit.verify()) == ("deleted", OWNER_FILE)


def test_a_link_that_the_ledger_lost_is_named(lake: ProvenLake) -> None:
    chain = lake.folder / "_lakeguard" / ORG / "audit_chain"
    DeltaTable(str(chain)).delete("batch = 2")
    report = lake.client.audit.verify()
    assert first(report) == ("deleted", "audit_chain 2")
    assert "the ledger's copy" in report.changed[0].message


def edit_owner(lake: ProvenLake, **fields: object) -> None:
    file = lake.folder / "_lakeguard" / ORG / OWNER_FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), **fields}))


def test_an_exported_head_shows_that_both_sides_were_cut_off(lake: ProvenLake) -> None:
    """Which nothing in the database or on the lake does."""
    audit = lake.client.audit
    exported = audit.head()
    last = exported.head.batch
    cut_off_everywhere(lake, last)
    assert audit.verify().changed == ()
    report = audit.verify(exported)
    assert first(report) == ("truncated", f"audit_chain {last}")
    assert (report.exit_code, report.signed_by) == (13, exported.key)


def cut_off_everywhere(lake: ProvenLake, last: int) -> None:
    """The last batch never was: on the lake, in plane.json and in the database. Its rows are of
    one table, so that no other has to be forged."""
    with lake.database.read() as connection:
        kept = connection.execute(
            select(audit_chain.c.head).where(audit_chain.c.batch == last - 1)
        ).scalar_one()
    root = lake.folder / "_lakeguard" / ORG
    for table in root.iterdir():
        if (table / "_delta_log").is_dir():
            DeltaTable(str(table)).delete(f"ledger_batch >= {last}")
    edit_owner(lake, batch=last - 1, head=kept)
    as_dba(
        lake,
        f"DELETE FROM audit_chain WHERE batch = {last}",
        f"UPDATE relay_cursors SET batch = {last - 1}",
    )
    _forget_unrecorded(lake)


def _forget_unrecorded(lake: ProvenLake) -> None:
    """Rows of the database that the ledger lost with its last batch."""
    report = lake.client.audit.verify()
    added = [each.place for each in report.changed if each.change is RowChange.ADDED]
    with lake.database.write() as connection:
        _without_checks(connection)
        for place in added:
            table, _, key = place.partition(" ")
            name = f"{table}_no_delete"
            on = f" ON {table}" if connection.dialect.name == "postgresql" else ""
            connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {name}{on}")
            keys = [column.name for column in audit_chain.metadata.tables[table].primary_key]
            same = " AND ".join(f"CAST({column} AS TEXT) = :{column}" for column in keys)
            values = dict(zip(keys, key.split(", "), strict=True))
            connection.execute(text(f"DELETE FROM {table} WHERE {same}"), values)


def _without_checks(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL session_replication_role = replica"))
    else:
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")


def test_a_chain_that_was_written_anew_is_not_the_exported_one(lake: ProvenLake) -> None:
    audit = lake.client.audit
    assert isinstance(audit, EmbeddedAudit)
    exported = audit.head()
    other = exported.head.model_copy(update={"head": "sha256:" + "0" * 64})
    report = audit.verify(audit.key.sign(other))
    assert first(report) == ("edited", f"audit_chain {exported.head.batch}")


def test_a_head_that_was_changed_is_refused(lake: ProvenLake, tmp_path: Path) -> None:
    audit = lake.client.audit
    assert isinstance(audit, EmbeddedAudit)
    exported = audit.head()
    assert audit.verify(exported).changed == ()
    earlier = exported.head.model_copy(update={"batch": 1})
    with pytest.raises(AuditHeadRefused, match="signature"):
        audit.verify(exported.model_copy(update={"head": earlier}))
    stranger = SigningKey(tmp_path / "other.pem").sign(exported.head)
    with pytest.raises(AuditHeadRefused, match="another key"):
        audit.verify(stranger)
    others = exported.head.model_copy(update={"organisation": "others"})
    with pytest.raises(AuditHeadRefused, match="organisation others"):
        audit.verify(audit.key.sign(others))


def test_a_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "audit.pem"
    head = AuditHead(organisation=ORG, batch=0, head="x", at=datetime(2026, 1, 1, tzinfo=UTC))
    first_one, second = SigningKey(file).sign(head), SigningKey(file).sign(head)
    assert first_one == second
    assert file.stat().st_mode & 0o777 == 0o600
    content = file.read_text()
    assert SigningKey(tmp_path / "none", lambda: content).sign(head) == second
    file.chmod(0o640)
    with pytest.raises(AuditKeyUnusable, match="readable by others"):
        SigningKey(file).sign(head)
    for wrong in ("", "hunter2", content[:60]):
        with pytest.raises(AuditKeyUnusable) as refused:
            SigningKey(tmp_path / "none", lambda text=wrong: text).sign(head)
        assert not wrong or wrong not in str(refused.value)


def test_threads_that_make_the_key_make_one(tmp_path: Path) -> None:
    head = AuditHead(organisation=ORG, batch=0, head="x", at=datetime(2026, 1, 1, tzinfo=UTC))
    for number in range(20):
        key = SigningKey(tmp_path / f"{number}.pem")
        with ThreadPoolExecutor(8) as pool:
            signed = list(pool.map(key.sign, [head] * 8))
        assert len({each.key for each in signed}) == 1
    assert len(list(tmp_path.iterdir())) == 20


# Who did what.


def test_who_did_what_is_listed_newest_first(lake: ProvenLake) -> None:
    rows = lake.client.audit.rows()
    assert [row.at for row in rows] == sorted((row.at for row in rows), reverse=True)
    actions = {row.action for row in rows}
    assert {"apply", "publish", "run"} <= actions
    assert {row.actor for row in rows if row.action == "apply"} == {"tester"}
    blocked = [row for row in rows if not row.allowed]
    assert {row.action for row in blocked} <= {"run"}


def test_a_shorter_list_is_the_beginning_of_a_longer_one(lake: ProvenLake) -> None:
    """Also among rows of one moment: pages would lose some of them otherwise."""
    as_dba(
        lake,
        "UPDATE dataset_pointers SET moved_at = '2030-01-01T00:00:00.000000Z',"
        " kind = CASE ordinal WHEN 1 THEN 'rollback' ELSE kind END",
    )
    rows = lake.client.audit.rows(dataset=NUMBERS)
    assert len({row.action for row in rows if row.subject.startswith("v")}) > 1
    for limit in (1, 2, 3):
        assert lake.client.audit.rows(dataset=NUMBERS, limit=limit) == rows[:limit]


def test_changes_of_access_are_listed(lake: ProvenLake) -> None:
    """Also those that the local user makes, which are no calls of a principal."""
    state = OrganisationState.of(lake.database, ORG, actor="root")
    identity = ManageIdentity(state, IdentityKeys())
    identity.create_user("ada")
    granted = identity.grant("ada", Role.STEWARD, reason="on call")
    identity.revoke_grant(granted.grant_id, "handed over")
    identity.set_user("ada", "left", active=False)
    identity.set_user("ada", "came back", active=True)
    token = identity.create_token("ci", [Action.READ])
    identity.rotate_token("ci")
    identity.revoke_token("ci", "moved")
    (ada,) = (row.user_id for row in identity.users() if row.user_name == "ada")
    rows = lake.client.audit.rows(actor="root")
    assert [(row.action, row.subject, row.reason) for row in reversed(rows)] == [
        ("create user", ada, ""),
        ("grant role", "steward to ada", "on call"),
        ("revoke grant", granted.grant_id, "handed over"),
        ("revoke user", ada, "left"),
        ("restore user", ada, "came back"),
        ("create token", "ci", ""),
        ("rotate token", token.token_id, ""),
        ("revoke token", token.token_id, "moved"),
    ]


def test_a_list_is_narrowed(lake: ProvenLake) -> None:
    rows = lake.client.audit.rows()
    of_dataset = lake.client.audit.rows(dataset=NUMBERS)
    assert {row.dataset for row in of_dataset} == {str(NUMBERS)}
    assert list(of_dataset) == [row for row in rows if row.dataset == str(NUMBERS)]
    assert lake.client.audit.rows(actor="nobody") == []
    assert lake.client.audit.rows(limit=2) == rows[:2]
    newest = rows[0].at
    assert lake.client.audit.rows(since=newest) == [row for row in rows if row.at == newest]
    assert lake.client.audit.rows(since=newest + timedelta(days=1)) == []
