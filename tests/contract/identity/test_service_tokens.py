"""Service tokens: made, used, rotated and revoked, on each kind of State."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy import select

from lakeguard.access.authenticate import Authenticator
from lakeguard.access.grants import ORGANISATION_ITSELF, set_active
from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import EVERYTHING, Action, PrincipalKind, parse_namespace
from lakeguard.access.service_tokens import (
    ShownToken,
    create_token,
    revoke_token,
    rotate_token,
    token_rows,
)
from lakeguard.access.session import FRESH_SECONDS, Session
from lakeguard.settings import IdentitySettings
from lakeguard.settings.settings import SecretReference
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard.state.schema import service_token_secrets
from lakeguard.state.transaction import Transaction
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import (
    BadToken,
    ServiceTokenInvalid,
    SettingsError,
    StateFull,
    UnknownServiceToken,
)
from lakeguard_sdk.security.secret_values import holds_secret, masked
from tests.support.projects.planes import Clock

T = TypeVar("T")


@dataclass
class Service:
    org: OrganisationState
    clock: Clock
    keys: IdentityKeys
    door: Authenticator
    """Of which every call reads the token again."""

    def trusting(self, ticks: Callable[[], float]) -> Service:
        """One that trusts a token for a while, by a clock of its own."""
        settings = IdentitySettings()
        door = Authenticator(settings, self.org.org_id, self.keys, self.org, ticks=ticks)
        return replace(self, door=door)

    def make(self, name: str = "ci", *actions: Action, seconds: float | None = None) -> ShownToken:
        at = None if seconds is None else self.clock() + timedelta(seconds=seconds)
        chosen = actions or (Action.READ,)
        return self.org.transact(
            lambda tx: create_token(tx, self.keys, name, chosen, [EVERYTHING], expires_at=at)
        )

    def rotate(self, seconds: float) -> ShownToken:
        overlap = timedelta(seconds=seconds)
        return self.org.transact(lambda tx: rotate_token(tx, self.keys, "ci", overlap))

    def lets_in(self, text: str) -> bool:
        try:
            self.door.authenticate(f"Bearer {text}")
        except BadToken:
            return False
        return True


@pytest.fixture
def service(state: Database) -> Service:
    clock, keys = Clock(), IdentityKeys()
    org = OrganisationState.of(state, new_id("state").lower(), clock, "root")
    passed = count(0.0, FRESH_SECONDS)
    door = Authenticator(IdentitySettings(), org.org_id, keys, org, ticks=lambda: next(passed))
    return Service(org, clock, keys, door)


def test_a_secret_is_shown_once_and_stored_as_a_keyed_hash(service: Service) -> None:
    shown = service.make()
    secret = shown.text.rpartition(".")[2]
    assert len(secret) == 43, "256 bits"
    with service.org.read() as tx:
        row = tx.execute(
            select(service_token_secrets).where(service_token_secrets.c.org_id == tx.org_id)
        ).one()
        (listed,) = token_rows(tx, every=False)
    assert secret not in str(row)
    assert row.keyed_hash == service.keys.keyed_hash(secret)
    assert row.keyed_hash != IdentityKeys().keyed_hash(secret), "another key, another hash"
    assert "keyed_hash" not in type(listed).model_fields
    assert holds_secret(f"sent {shown.text} along")
    assert secret not in masked(f"sent {shown.text} along")


def test_a_token_is_its_principal(service: Service) -> None:
    shown = service.make("ci", Action.RUN, Action.READ)
    principal = service.door.authenticate(f"bearer  {shown.text} ")
    assert (principal.kind, principal.id, principal.name) == (
        PrincipalKind.TOKEN,
        shown.token_id,
        "token:ci",
    )
    assert principal.grants[0].actions == {Action.READ, Action.RUN}


def test_nothing_else_is_one(service: Service) -> None:
    text = service.make().text
    name, public, secret = text.split(".")
    other = service.make("other").text.split(".")
    wrong = (
        "", "lgs1_", text[:-1], text + "A", f"{text}\n.", f"{name}.{public}.{other[2]}",
        f"{name}.{other[1]}.{secret}", f"{name}.{new_id('key')}.{secret}",
        f"lgs1_others.{public}.{secret}", text.upper(), f"{text}\u00e9", "A" * 100_000,
    )  # fmt: skip
    assert [each for each in wrong if service.lets_in(each)] == []
    assert service.lets_in(text)
    for header in (text, f"Basic {text}", "Bearer", f"Bearer{text}", ""):
        with pytest.raises(BadToken):
            service.door.authenticate(header)


def test_a_token_under_another_key_is_refused(service: Service) -> None:
    text = service.make().text
    service.door.keys = IdentityKeys()
    assert not service.lets_in(text)


def test_a_rotated_token_is_valid_for_the_overlap(service: Service) -> None:
    first = service.make().text
    second = service.rotate(60).text
    assert service.lets_in(first)
    assert service.lets_in(second)
    service.clock.pass_time(61)
    assert not service.lets_in(first)
    assert service.lets_in(second)
    third = service.rotate(0).text
    assert not service.lets_in(second), "at once"
    assert service.lets_in(third)


def test_a_token_ends_when_it_expires(service: Service) -> None:
    text = service.make(seconds=100).text
    assert service.lets_in(text)
    service.clock.pass_time(101)
    assert not service.lets_in(text)
    with pytest.raises(ServiceTokenInvalid, match="past"):
        service.make("late", seconds=-1)


def test_a_revoked_token_is_refused_when_it_is_read_again(service: Service) -> None:
    text = service.make().text
    assert service.lets_in(text)
    service.org.transact(lambda tx: revoke_token(tx, "ci", "leaked"))
    assert not service.lets_in(text)
    with service.org.read() as tx:
        assert token_rows(tx, every=False) == []
        assert [row.revoked_at is not None for row in token_rows(tx, every=True)] == [True]
    for again in (lambda: service.rotate(0), lambda: service.rotate(60)):
        with pytest.raises(UnknownServiceToken):
            again()


def test_a_token_is_trusted_for_a_while_after_it_was_read(service: Service) -> None:
    passed = [0.0]
    trusting = service.trusting(lambda: passed[0])
    texts = [service.make(name).text for name in ("ci", "other")]
    assert all(map(trusting.lets_in, texts))
    service.org.transact(lambda tx: revoke_token(tx, "ci", "leaked"))
    passed[0] += FRESH_SECONDS / 2
    assert all(map(trusting.lets_in, texts)), "being used does not prolong the trust"
    passed[0] += FRESH_SECONDS / 2
    assert [trusting.lets_in(text) for text in texts] == [False, True]


def test_trust_goes_no_further_than_the_token(service: Service) -> None:
    trusting = service.trusting(lambda: 0.0)
    text = service.make(seconds=100).text
    assert trusting.lets_in(text)
    assert not trusting.lets_in(text[:-1])
    service.clock.pass_time(101)
    assert not trusting.lets_in(text), "it is over, however short ago it was read"


def test_a_refusal_is_not_remembered(service: Service) -> None:
    trusting = service.trusting(lambda: 0.0)
    text = service.make().text
    service.org.transact(
        lambda tx: set_active(tx, ORGANISATION_ITSELF, tx.org_id, "", active=False)
    )
    assert not trusting.lets_in(text)
    service.org.transact(lambda tx: set_active(tx, ORGANISATION_ITSELF, tx.org_id, "", active=True))
    assert trusting.lets_in(text)


def test_a_session_notices_within_a_minute(service: Service) -> None:
    assert FRESH_SECONDS < 60
    passed = [0.0]
    principal = service.door.authenticate(f"Bearer {service.make().text}")
    session = Session(service.org, principal, lambda: passed[0])
    service.org.transact(lambda tx: revoke_token(tx, "ci", "leaked"))
    assert session.current() == principal, "read a moment ago"
    passed[0] += FRESH_SECONDS
    with pytest.raises(BadToken):
        session.current()


def test_a_name_is_given_once(service: Service) -> None:
    service.make()
    with pytest.raises(ServiceTokenInvalid, match="taken"):
        service.make()
    for name in ("", " ci", "c\0i", "x" * 101):
        with pytest.raises(ServiceTokenInvalid):
            service.make(name)
    with pytest.raises(ServiceTokenInvalid, match="allow some of"):
        service.make("admin", Action.ADMINISTER)


def test_the_minute_of_the_last_use_is_recorded(service: Service) -> None:
    text = service.make().text

    def used() -> object:
        with service.org.read() as tx:
            return token_rows(tx, every=False)[0].last_used_at

    assert used() is None
    for _ in range(2):
        assert service.lets_in(text)
        assert used() == service.clock.now.replace(second=0, microsecond=0)
        service.clock.pass_time(60)


class NoRoom(OrganisationState):
    """A State on a full disk."""

    def transact(self, work: Callable[[Transaction], T]) -> T:
        raise StateFull(place="there", reason="no space left on device")


def test_a_state_without_room_refuses_no_reader(service: Service) -> None:
    text = service.make().text
    org = NoRoom(service.org.database, service.org.org_id, service.clock, "root")
    assert replace(service, door=replace(service.door, state=org)).lets_in(text)


def test_a_scope_names_its_namespaces(service: Service) -> None:
    on = [parse_namespace("gold"), parse_namespace("domain:sales")]
    service.org.transact(lambda tx: create_token(tx, service.keys, "ci", [Action.READ], on))
    with service.org.read() as tx:
        (row,) = token_rows(tx, every=False)
    assert sorted(row.on) == ["domain:sales", "gold"]


# The key.


def test_a_key_file_is_made_once_and_for_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "below" / "identity.key"
    first = IdentityKeys(file=file).keyed_hash("x")
    assert file.stat().st_mode & 0o777 == 0o600
    assert IdentityKeys(file=file).keyed_hash("x") == first
    assert list(file.parent.iterdir()) == [file]
    file.write_bytes(b"short")
    with pytest.raises(SettingsError):
        IdentityKeys(file=file).keyed_hash("x")


def test_a_given_key_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = SecretReference(settings_file="x", key="identity.key", variable="IDENTITY_KEY")
    monkeypatch.setenv("IDENTITY_KEY", "k" * 43)
    assert IdentityKeys(reference).keyed_hash("x") == IdentityKeys(reference).keyed_hash("x")
    monkeypatch.setenv("IDENTITY_KEY", "short")
    with pytest.raises(SettingsError, match="at least 32"):
        IdentityKeys(reference).keyed_hash("x")
