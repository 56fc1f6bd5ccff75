"""More grants never allow less, and a revocation never allows more."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lakeguard.access.authorise import ACTIONS, grant_of, may, may_anywhere, may_see_personal
from lakeguard.access.principal import (
    ORGANISATION,
    Action,
    Namespace,
    NamespaceKind,
    Principal,
    PrincipalKind,
    Role,
    Subject,
)
from lakeguard_sdk.core.dataset_name import DatasetName
from lakeguard_sdk.core.enums import Layer
from tests.support.examples import examples

DATASETS = [
    Subject(DatasetName(f"{layer}.d{number}"), f"domain{number}", f"id-{layer}-{number}")
    for layer in Layer
    for number in range(2)
]
SUBJECTS = st.sampled_from([ORGANISATION, *DATASETS])
NAMESPACES = st.sampled_from(
    [
        Namespace(),
        *(Namespace(NamespaceKind.DOMAIN, f"domain{number}") for number in range(3)),
        *(Namespace(NamespaceKind.LAYER, layer) for layer in Layer),
        *(Namespace(NamespaceKind.DATASET, each.dataset_id) for each in DATASETS),
    ]
)
GRANTS = st.lists(st.builds(grant_of, st.sampled_from(Role), NAMESPACES), max_size=6)


def user(grants: object) -> Principal:
    return replace(Principal("o", PrincipalKind.USER, "u", "ada"), grants=tuple(grants))  # type: ignore[call-overload]


def allowed(principal: Principal) -> set[object]:
    everything: set[object] = {
        (action, subject)
        for action in Action
        for subject in [ORGANISATION, *DATASETS]
        if may(principal, action, subject).allowed
    }
    return everything | {each for each in DATASETS if may_see_personal(principal, each)}


@examples(200)
@given(GRANTS, GRANTS)
def test_more_grants_never_allow_less(some: list[object], more: list[object]) -> None:
    assert allowed(user(some)) <= allowed(user([*some, *more]))
    assert allowed(user([*some, *more])) == allowed(user([*more, *some])), "in any order"


@examples(200)
@given(GRANTS, st.data())
def test_a_revocation_never_allows_more(grants: list[object], data: st.DataObject) -> None:
    kept = [grant for grant in grants if data.draw(st.booleans())]
    assert allowed(user(kept)) <= allowed(user(grants))


@examples(200)
@given(GRANTS, SUBJECTS, st.sampled_from(Action))
def test_a_verdict_says_why_not(grants: list[object], subject: Subject, action: Action) -> None:
    principal = user(grants)
    verdict = may(principal, action, subject)
    assert verdict.allowed == (verdict.reason == "")
    if verdict.allowed:
        assert may_anywhere(principal, action)
    if may_see_personal(principal, subject):
        assert may(principal, Action.READ, subject).allowed


def test_each_role_includes_those_before_it() -> None:
    *steps, personal = Role
    assert personal is Role.PII
    assert ACTIONS[personal] == frozenset()
    for lower, higher in pairwise(steps):
        assert ACTIONS[lower] < ACTIONS[higher]
    assert Action.ADMINISTER in ACTIONS[Role.ADMIN]
    assert [role for role in steps if Action.CURATE in ACTIONS[role]] == [Role.STEWARD, Role.ADMIN]


def test_without_grants_nothing_is_allowed() -> None:
    assert allowed(user([])) == set()
