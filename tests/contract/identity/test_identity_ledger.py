"""What is about people lies apart on the lake and survives a rebuild; no secret ever gets there."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeguard.access.grants import USER, grant_role, grant_rows, set_active, standing_of, user_rows
from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import EVERYTHING, Action, Role, parse_namespace
from lakeguard.access.service_tokens import (
    create_token,
    principal_of,
    read_token,
    rotate_token,
    token_rows,
)
from lakeguard.access.users import MEMBER, find_user, known_user
from lakeguard.relay.owner import ledger_root
from lakeguard.relay.rebuild import Rebuild
from lakeguard.relay.tables import IDENTITY_FOLDER, PROTECTED, SAMPLES_FOLDER
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.errors import BadToken
from tests.support.databases.databases import fresh_database
from tests.support.lakes.ledgers import ORG, assert_in_step, now, relay_of

KEYS = IdentityKeys()
ADA = "ada@people.example"
"""No digest holds it by chance."""


@pytest.fixture
def told(tmp_path: Path) -> str:
    """A lake with users, grants and a token; the text of the token."""
    database = fresh_database("sqlite", tmp_path)
    relay = relay_of(database, tmp_path)
    with OrganisationState.of(database, ORG, now, "root").write() as tx:
        ada, bob = (known_user(tx, name, MEMBER) for name in (ADA, "bob"))
        grant_role(tx, ada, Role.STEWARD, parse_namespace("domain:sales"), "new")
        set_active(tx, USER, bob, "left", active=False)
        shown = create_token(tx, KEYS, "ci", [Action.READ], [EVERYTHING])
    relay.drain()
    database.close()
    return shown.text


def test_a_rebuild_keeps_users_and_grants_and_no_secrets(
    database: Database, told: str, tmp_path: Path
) -> None:
    messages: list[str] = []
    org = OrganisationState.of(database, ORG, now, "root")
    Rebuild(org, str(tmp_path), messages.append).run()
    token = read_token(told)
    assert token is not None
    with org.read() as tx:
        assert [(row.user_name, row.active) for row in user_rows(tx)] == [
            (ADA, True),
            ("bob", False),
        ]
        assert [(row.role, row.on) for row in grant_rows(tx, ADA, every=False)] == [
            ("steward", "domain:sales")
        ]
        assert not standing_of(tx, find_user(tx, "bob")).active
        (row,) = token_rows(tx, every=False)
        assert (row.token_name, row.has_secret) == ("ci", False)
        with pytest.raises(BadToken):
            principal_of(tx, KEYS, token)
    assert any("lakeguard token rotate ci" in message for message in messages)
    anew = read_token(org.transact(lambda tx: rotate_token(tx, KEYS, "ci", now() - now())).text)
    assert anew is not None
    with org.read() as tx:
        assert principal_of(tx, KEYS, anew).name == "token:ci"
    relay_of(database, tmp_path).drain()
    assert_in_step(database, tmp_path)


def test_no_secret_is_in_any_file_of_the_ledger(told: str, tmp_path: Path) -> None:
    secret = told.rpartition(".")[2]
    wanted = [text.encode() for text in (secret, KEYS.keyed_hash(secret), told)]
    files = [path for path in Path(ledger_root(str(tmp_path), ORG)).rglob("*") if path.is_file()]
    assert len(files) > 50
    assert [path for path in files if any(text in path.read_bytes() for text in wanted)] == []


def test_what_is_about_people_or_of_rows_is_closed_to_others(told: str, tmp_path: Path) -> None:
    assert told
    root = Path(ledger_root(str(tmp_path), ORG))
    for folder in (IDENTITY_FOLDER, SAMPLES_FOLDER):
        below = {name for name, place in PROTECTED.items() if place == folder}
        assert {path.name for path in (root / folder).iterdir()} == below
        assert (root / folder).stat().st_mode & 0o007 == 0
    assert not PROTECTED.keys() & {path.name for path in root.iterdir()}
    outside = {
        path: path.read_bytes()
        for path in root.rglob("*.parquet")
        if IDENTITY_FOLDER not in path.parts
    }
    private = (ADA.encode(), b"steward")
    found = {path.parent.name for path, held in outside.items() if any(w in held for w in private)}
    assert found == set()
