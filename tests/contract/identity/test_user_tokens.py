"""Tokens of an issuer: what is let in, and what never is."""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from lakeguard.access.authenticate import Authenticator
from lakeguard.access.grants import USER, grant_role, set_active, user_rows
from lakeguard.access.key_set import KeySet
from lakeguard.access.keys import IdentityKeys
from lakeguard.access.principal import EVERYTHING, Action, PrincipalKind, Role
from lakeguard.access.users import find_user
from lakeguard.settings import IdentitySettings
from lakeguard.state.database import Database
from lakeguard.state.organisation import OrganisationState
from lakeguard_sdk.core.ids import new_id
from lakeguard_sdk.errors import BadToken, IssuerUnavailable
from lakeguard_sdk.security.secret_values import masked
from tests.support.fakes.issuer import AUDIENCE, Issuer, issuing, packed, part, rsa_key


@dataclass
class Passed:
    """A clock of seconds."""

    seconds: float = 0.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Door:
    org: OrganisationState
    issuer: Issuer
    passed: Passed = field(default_factory=Passed)

    def open(self, **settings: Any) -> Authenticator:
        chosen = IdentitySettings(issuer=self.issuer.url, audience=AUDIENCE, **settings)
        keys = KeySet(chosen, self.passed)
        return Authenticator(chosen, self.org.org_id, IdentityKeys(), self.org, keys)


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with issuing() as made:
        yield made


@pytest.fixture
def door(state: Database, issuer: Issuer) -> Door:
    org = OrganisationState.of(state, new_id("state").lower(), lambda: datetime.now(UTC), "root")
    return Door(org, issuer)


def lets_in(authenticator: Authenticator, text: str) -> bool:
    try:
        authenticator.authenticate(f"Bearer {text}")
    except BadToken as refused:
        return bool(refused.fields)  # it does not tell why
    return True


def test_the_first_sign_in_creates_a_user_without_a_role(door: Door) -> None:
    ada = door.open().authenticate(f"Bearer {door.issuer.token('ada')}")
    assert (ada.kind, ada.name, ada.grants) == (PrincipalKind.USER, "ada", ())
    with door.org.read() as tx:
        (row,) = user_rows(tx)
    assert (row.user_name, row.origin, row.active) == ("ada", "member", True)


def test_grants_and_status_count_from_the_next_request(door: Door) -> None:
    authenticator, text = door.open(), door.issuer.token("ada")
    assert lets_in(authenticator, text)
    with door.org.read() as tx:
        user_id = find_user(tx, "ada")
    door.org.transact(lambda tx: grant_role(tx, user_id, Role.STEWARD, EVERYTHING, ""))
    (grant,) = authenticator.authenticate(f"Bearer {text}").grants
    assert Action.CURATE in grant.actions
    door.org.transact(lambda tx: set_active(tx, USER, user_id, "left", active=False))
    assert not lets_in(authenticator, text)


def test_claims_bring_roles_and_the_name(door: Door) -> None:
    authenticator = door.open(
        user_claim="email",
        roles_claim="groups",
        roles={"data": ("viewer", "engineer gold"), "dpo": ("pii domain:people",)},
    )
    text = door.issuer.token(
        email="ada@example.org", email_verified=True, groups=["data", "dpo", "others"]
    )
    ada = authenticator.authenticate(f"Bearer {text}")
    assert ada.name == "ada@example.org"
    assert [(grant.on.name, grant.pii) for grant in ada.grants] == [
        ("", False),
        ("gold", False),
        ("people", True),
    ]
    assert not lets_in(authenticator, door.issuer.token(email=None))


def test_an_address_that_nobody_verified_names_no_user(door: Door) -> None:
    """Else whoever may write an address into a profile signs in as its owner."""
    authenticator = door.open(user_claim="email")
    ada = {"email": "ada@example.org"}
    for claims in (ada, {**ada, "email_verified": False}, {**ada, "email_verified": "false"}):
        assert not lets_in(authenticator, door.issuer.token(**claims)), claims
    for verified in (True, "true"):
        assert lets_in(authenticator, door.issuer.token(**ada, email_verified=verified))
    assert lets_in(door.open(), door.issuer.token(**ada, email_verified=False)), "it names the sub"


def test_a_token_of_another_organisation_is_refused(door: Door) -> None:
    authenticator = door.open(organisation_claim="tenant")
    assert lets_in(authenticator, door.issuer.token(tenant=door.org.org_id))
    assert not lets_in(authenticator, door.issuer.token(tenant="others"))
    assert not lets_in(authenticator, door.issuer.token())


# What never is let in.


def forged(issuer: Issuer, header: dict[str, Any], secret: bytes = b"") -> str:
    """Signed with HMAC, or not at all."""
    text = f"{part(header)}.{part(issuer.claims())}"
    digest = hmac.new(secret, text.encode(), hashlib.sha256).digest() if secret else b""
    return f"{text}.{packed(digest)}"


def attacks(issuer: Issuer) -> dict[str, str]:
    public = rsa_key(1).public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    now, text = int(time.time()), issuer.token()
    head, body, signature = text.split(".")
    mine = jwt.PyJWK(issuer.key_set()["keys"][0])
    strange = jwt.encode(issuer.claims(), rsa_key(99), "RS256", headers={"kid": "first"})
    return {
        "none": forged(issuer, {"alg": "none", "typ": "JWT", "kid": "first"}),
        "None": forged(issuer, {"alg": "None", "kid": "first"}),
        "HS256 with the public key": forged(issuer, {"alg": "HS256", "kid": "first"}, pem),
        "RS256 signed with HMAC": forged(issuer, {"alg": "RS256", "kid": "first"}, pem),
        "another algorithm of the key": jwt.encode(
            issuer.claims(), rsa_key(1), "PS256", headers={"kid": "first"}
        ),
        "another key": strange,
        "no signature": f"{head}.{body}.",
        "another body": f"{head}.{part(issuer.claims('root'))}.{signature}",
        "no exp": issuer.token(exp=None),
        "expired": issuer.token(exp=now - 3600),
        "no iat": issuer.token(iat=None),
        "of the future": issuer.token(iat=now + 3600),
        "beyond time": issuer.token(exp=10**30),
        "an exp that is no number": issuer.token(exp="soon"),
        "not yet": issuer.token(nbf=now + 3600),
        "no sub": issuer.token(sub=None),
        "no aud": issuer.token(aud=None),
        "wrong aud": issuer.token(aud="others"),
        "no iss": issuer.token(iss=None),
        "wrong iss": issuer.token(iss="https://issuer.example"),
        "longer iss": issuer.token(iss=f"{issuer.url}.example"),
        "kid is a path": issuer.token(headers={"kid": "../../etc/passwd"}),
        "kid is SQL": issuer.token(headers={"kid": "' OR '1'='1"}),
        "no kid": issuer.token(headers={"kid": None}),
        "jku": issuer.token(headers={"jku": f"{issuer.url}/evil"}),
        "jwk": issuer.token(headers={"jwk": mine._jwk_data}),
        "x5u": issuer.token(headers={"x5u": f"{issuer.url}/evil"}),
        "crit": issuer.token(headers={"crit": ["exp"]}),
        "a logout token": issuer.token(headers={"typ": "logout+jwt"}),
        "a name that hides something": issuer.token("ada\u202e"),
        "the name of a program": issuer.token("token:ci"),
        "too long": issuer.token(more="x" * 20_000),
        "two parts": f"{head}.{body}",
        "nonsense": "a.b.c",
    }


def test_no_forged_token_is_let_in_nor_makes_us_fetch(
    door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    authenticator = door.open(algorithms=("RS256",))
    assert lets_in(authenticator, door.issuer.token())
    door.issuer.asked.clear()
    wrong = attacks(door.issuer)
    with caplog.at_level(logging.WARNING, "lakeguard.access"):
        assert [name for name, text in wrong.items() if lets_in(authenticator, text)] == []
    assert len(caplog.messages) == len(wrong), "each is logged"
    assert [text for text in caplog.messages if masked(text) != text] == [], "with its reason"
    assert not any(text in caplog.text for text in wrong.values())
    assert door.issuer.asked == [], "unknown keys are asked for once in a while"
    with door.org.read() as tx:
        assert [row.user_name for row in user_rows(tx)] == ["ada"]


def test_an_id_is_required_where_settings_say_so(door: Door) -> None:
    authenticator = door.open(require_id=True)
    assert not lets_in(authenticator, door.issuer.token())
    assert lets_in(authenticator, door.issuer.token(jti="1"))


# Keys.


def test_keys_rotate(door: Door) -> None:
    authenticator = door.open(refetch_seconds=30)
    before = door.issuer.token()
    assert lets_in(authenticator, before)
    door.issuer.rotate("second", keep=True)
    after = door.issuer.token()
    assert not lets_in(authenticator, after), "asked a moment ago"
    door.passed.seconds += 30
    assert lets_in(authenticator, after)
    assert lets_in(authenticator, before)
    door.issuer.rotate("third")
    door.passed.seconds += 301
    assert lets_in(authenticator, door.issuer.token())
    assert not lets_in(authenticator, before), "a withdrawn key is known no more"


def test_unknown_keys_are_asked_for_once_in_a_while(door: Door) -> None:
    authenticator = door.open(refetch_seconds=30)
    for number in range(20):
        assert not lets_in(authenticator, door.issuer.token(headers={"kid": f"k{number}"}))
    assert len(door.issuer.asked) == 2, "discovery and keys"
    door.passed.seconds += 30
    assert not lets_in(authenticator, door.issuer.token(headers={"kid": "k"}))
    assert len(door.issuer.asked) == 4


def test_known_keys_outlive_an_issuer_that_is_away(door: Door) -> None:
    authenticator, text = door.open(), door.issuer.token()
    assert lets_in(authenticator, text)
    door.issuer.status = 503
    door.passed.seconds += 400
    assert lets_in(authenticator, text)
    door.passed.seconds += 4_000
    with pytest.raises(IssuerUnavailable):
        authenticator.authenticate(f"Bearer {text}")


def test_an_issuer_that_is_away_is_not_a_bad_token(door: Door) -> None:
    door.issuer.status = 500
    authenticator, text = door.open(), door.issuer.token()
    for _ in range(3):
        with pytest.raises(IssuerUnavailable):
            authenticator.authenticate(f"Bearer {text}")
    assert len(door.issuer.asked) == 1


@pytest.mark.parametrize("place", ["http://issuer.example/keys", "https://127.0.0.1/keys", "x"])
def test_keys_are_fetched_from_the_issuer_alone(door: Door, place: str) -> None:
    door.issuer.key_set_url = place
    with pytest.raises(IssuerUnavailable, match="at another address"):
        door.open().authenticate(f"Bearer {door.issuer.token()}")
    assert door.issuer.asked == ["/.well-known/openid-configuration"]


def test_a_redirect_is_not_followed(door: Door) -> None:
    door.issuer.status = 302
    with pytest.raises(IssuerUnavailable, match="302"):
        door.open().authenticate(f"Bearer {door.issuer.token()}")


def test_without_an_issuer_there_are_no_user_tokens(door: Door) -> None:
    settings = IdentitySettings()
    authenticator = Authenticator(settings, door.org.org_id, IdentityKeys(), door.org)
    assert not lets_in(authenticator, door.issuer.token())
