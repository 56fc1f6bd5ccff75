"""Users, their status and their roles, on each kind of State."""

from __future__ import annotations

import pytest

from lakeguard.access.grants import (
    ORGANISATION_ITSELF,
    USER,
    grant_role,
    grant_rows,
    revoke_grant,
    set_active,
    standing_of,
    user_rows,
)
from lakeguard.access.principal import EVERYTHING, Action, Role, parse_namespace
from lakeguard.access.users import MEMBER, find_user, known_user
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import (
    BadNamespace,
    BadUserName,
    NotRegistered,
    UnknownGrant,
    UnknownUser,
)
from tests.support.projects.planes import Clock


@pytest.fixture
def org(state: Database) -> OrganisationState:
    """An organisation of its own."""
    return OrganisationState.of(state, new_id("state").lower(), Clock(), "root")


def make_user(org: OrganisationState, name: str = "ada") -> str:
    return org.transact(lambda tx: known_user(tx, name, MEMBER))


def test_a_grant_holds_until_it_is_revoked(org: OrganisationState) -> None:
    ada = make_user(org)
    gold = parse_namespace("gold")
    granted = org.transact(lambda tx: grant_role(tx, ada, Role.ENGINEER, gold, "new"))
    assert org.transact(lambda tx: grant_role(tx, ada, Role.ENGINEER, gold, "again")) == granted
    with org.read() as tx:
        (grant,) = standing_of(tx, ada).grants
        (row,) = grant_rows(tx, "ada", every=False)
    assert grant.on == gold
    assert Action.DEFINE in grant.actions
    assert (row.user_name, row.role, row.on, row.granted_by) == ("ada", "engineer", "gold", "root")
    org.transact(lambda tx: revoke_grant(tx, granted, "left"))
    with org.read() as tx:
        assert standing_of(tx, ada).grants == ()
        assert grant_rows(tx, None, every=False) == []
        (row,) = grant_rows(tx, None, every=True)
    assert row.revoked_by == "root"
    with pytest.raises(UnknownGrant):
        org.transact(lambda tx: revoke_grant(tx, granted, "again"))
    again = org.transact(lambda tx: grant_role(tx, ada, Role.ENGINEER, gold, "back"))
    assert again != granted


def test_a_disabled_user_may_nothing_until_enabled(org: OrganisationState) -> None:
    ada = make_user(org)
    org.transact(lambda tx: grant_role(tx, ada, Role.VIEWER, EVERYTHING, ""))

    def standing() -> bool:
        with org.read() as tx:
            return standing_of(tx, ada).active

    assert standing()
    for active in (False, True):
        assert org.transact(lambda tx, to=active: set_active(tx, USER, ada, "", active=to))
        assert not org.transact(lambda tx, to=active: set_active(tx, USER, ada, "", active=to))
        assert standing() is active
        with org.read() as tx:
            assert [row.active for row in user_rows(tx)] == [active]
    org.transact(lambda tx: set_active(tx, ORGANISATION_ITSELF, tx.org_id, "", active=False))
    assert not standing()


def test_a_clock_that_was_wrong_brings_nobody_back(state: Database) -> None:
    clock = Clock()
    org = OrganisationState.of(state, new_id("state").lower(), clock, "root")
    ada = make_user(org)
    org.transact(lambda tx: set_active(tx, USER, ada, "", active=False))
    clock.pass_time(86_400)
    org.transact(lambda tx: set_active(tx, USER, ada, "", active=True))
    clock.pass_time(-86_400)
    assert org.transact(lambda tx: set_active(tx, USER, ada, "left", active=False))
    with org.read() as tx:
        assert not standing_of(tx, ada).active
        assert [row.active for row in user_rows(tx)] == [False]


def test_who_is_unknown_is_not_granted_anything(org: OrganisationState) -> None:
    with org.read() as tx, pytest.raises(UnknownUser):
        find_user(tx, "nobody")
    ada = make_user(org)
    with pytest.raises(NotRegistered):
        org.transact(lambda tx: grant_role(tx, ada, Role.VIEWER, parse_namespace("gold.x"), ""))


@pytest.mark.parametrize("text", ["platinum", "domain:", "gold.", "gold.*", "*", "domain:a\nb"])
def test_a_namespace_is_a_domain_a_layer_or_a_dataset(text: str) -> None:
    with pytest.raises(BadNamespace):
        parse_namespace(text)


@pytest.mark.parametrize("name", ["token:ci", "task:task_1"])
def test_no_user_has_the_name_of_a_program(org: OrganisationState, name: str) -> None:
    with pytest.raises(BadUserName):
        make_user(org, name)
