"""Every profile's answer to every class of difference, cell by cell."""

from __future__ import annotations

import pytest

from lakeguard.gate.schema.profiles import (
    BUILT_IN,
    FLAGS,
    POSSIBLE,
    answers_of,
)
from lakeguard_sdk.core.enums import BUILT_IN_PROFILES
from lakeguard_sdk.model.definitions import ProfileDefinition
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange

ACCEPT, CAST, OUT, QUARANTINE, BLOCK = Reaction

MODES = {
    SchemaChange.ADD_NULLABLE: "ABFU",
    SchemaChange.ADD_REQUIRED: "F",
    SchemaChange.DROP_NULLABLE: "BFU",
    SchemaChange.DROP_REQUIRED: "B",
    SchemaChange.RENAME: "",
    SchemaChange.CASE_RENAME: "BFU",
    SchemaChange.WIDEN: "B",
    SchemaChange.NARROW: "F",
    SchemaChange.DECIMAL_SIZE: "",
    SchemaChange.TIMEZONE: "",
    SchemaChange.INCOMPATIBLE_TYPE: "",
    SchemaChange.RELAX_NULLABILITY: "B",
    SchemaChange.TIGHTEN_NULLABILITY: "F",
    SchemaChange.REORDER: "SABFU",
    SchemaChange.NESTED_ADD: "ABFU",
    SchemaChange.NESTED_DROP: "BFU",
    SchemaChange.NESTED_CASE_RENAME: "BFU",
    SchemaChange.NESTED_WIDEN: "B",
    SchemaChange.NESTED_NARROW: "F",
    SchemaChange.NESTED_TYPE: "",
    SchemaChange.KEY_CHANGE: "",
    SchemaChange.PARTITION_CHANGE: "",
    SchemaChange.COMMENT: "SABFU",
    SchemaChange.TAG: "SABFU",
}
"""Which of S(trict), A(dditive), B(ackward), F(orward), (f)U(ll) let a difference in."""

LETTERS = {"strict": "S", "additive": "A", "backward": "B", "forward": "F", "full": "U"}
CASTS = {SchemaChange.NARROW, SchemaChange.NESTED_NARROW}

PERMISSIVE = {
    SchemaChange.KEY_CHANGE: BLOCK,
    SchemaChange.PARTITION_CHANGE: BLOCK,
    SchemaChange.NARROW: CAST,
    SchemaChange.NESTED_NARROW: CAST,
    SchemaChange.TIMEZONE: CAST,
    SchemaChange.DECIMAL_SIZE: QUARANTINE,
    SchemaChange.INCOMPATIBLE_TYPE: QUARANTINE,
    SchemaChange.NESTED_TYPE: QUARANTINE,
}
"""All else is accepted."""

DEFAULT = {
    SchemaChange.ADD_NULLABLE: OUT,
    SchemaChange.ADD_REQUIRED: OUT,
    SchemaChange.NARROW: CAST,
    SchemaChange.NESTED_NARROW: CAST,
    SchemaChange.RELAX_NULLABILITY: ACCEPT,
    SchemaChange.TIGHTEN_NULLABILITY: ACCEPT,
    SchemaChange.REORDER: ACCEPT,
    SchemaChange.COMMENT: ACCEPT,
    SchemaChange.TAG: ACCEPT,
}
"""All else blocks."""


def expected(profile: str, change: SchemaChange) -> Reaction:
    if profile == "permissive":
        return PERMISSIVE.get(change, ACCEPT)
    if profile == "default":
        return DEFAULT.get(change, BLOCK)
    if LETTERS[profile] not in MODES[change]:
        return BLOCK
    return CAST if change in CASTS else ACCEPT


@pytest.mark.parametrize("profile", BUILT_IN_PROFILES)
@pytest.mark.parametrize("change", SchemaChange)
def test_each_cell_of_the_table(profile: str, change: SchemaChange) -> None:
    assert BUILT_IN[profile][change] is expected(profile, change)


def test_every_profile_answers_every_class_and_only_what_is_possible() -> None:
    assert set(BUILT_IN) == set(BUILT_IN_PROFILES)
    assert set(POSSIBLE) == set(MODES) == set(SchemaChange)
    for answers in BUILT_IN.values():
        assert set(answers) == set(SchemaChange)
        assert all(answer in POSSIBLE[change] for change, answer in answers.items())
    assert all(BLOCK in possible for possible in POSSIBLE.values()), "one can always say no"


def test_full_is_what_backward_and_forward_both_accept() -> None:
    for change in SchemaChange:
        both = BUILT_IN["backward"][change] is BUILT_IN["forward"][change] is ACCEPT
        assert (BUILT_IN["full"][change] is ACCEPT) is both, change


ALL_OFF = dict.fromkeys(FLAGS, False)


@pytest.mark.parametrize(
    ("flag", "opens"),
    [
        (
            "auto_add_columns",
            {"ADD_NULLABLE": ACCEPT, "ADD_REQUIRED": ACCEPT, "NESTED_ADD": ACCEPT},
        ),
        (
            "allow_column_drop",
            {"DROP_NULLABLE": ACCEPT, "DROP_REQUIRED": ACCEPT, "NESTED_DROP": ACCEPT},
        ),
        ("allow_type_widen", {"WIDEN": ACCEPT, "NESTED_WIDEN": ACCEPT}),
        ("allow_type_narrow", {"NARROW": CAST, "NESTED_NARROW": CAST}),
        (
            "allow_nullable_change",
            {"RELAX_NULLABILITY": ACCEPT, "TIGHTEN_NULLABILITY": ACCEPT},
        ),
    ],
)
def test_each_flag_opens_its_own_classes_and_no_other(
    flag: str, opens: dict[str, Reaction]
) -> None:
    shut = answers_of(ProfileDefinition(profile="own", **ALL_OFF))
    free = {"REORDER", "COMMENT", "TAG"}
    assert {change for change in SchemaChange if shut[change] is not BLOCK} == free
    opened = answers_of(ProfileDefinition(profile="own", **{**ALL_OFF, flag: True}))
    assert {change: answer for change, answer in opened.items() if answer != shut[change]} == opens


def test_a_reaction_of_its_own_beats_a_flag() -> None:
    own = ProfileDefinition(
        profile="own",
        allow_type_widen=True,
        reactions={SchemaChange.WIDEN: BLOCK, SchemaChange.ADD_REQUIRED: OUT},
    )
    answers = answers_of(own)
    assert (answers[SchemaChange.WIDEN], answers[SchemaChange.ADD_REQUIRED]) == (BLOCK, OUT)
    assert answers[SchemaChange.NESTED_WIDEN] is ACCEPT
