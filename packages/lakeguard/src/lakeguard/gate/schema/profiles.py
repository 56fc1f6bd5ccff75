"""The reactions of schema profiles to each class of change, in one table.

A custom profile blocks everything that its flags do not allow; its ``reactions`` override that.
Profiles cannot allow changes of keys or partitions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from pydantic import Field

from lakeguard_sdk.core.frozen_model import FrozenModel
from lakeguard_sdk.model.definitions import ProfileDefinition
from lakeguard_sdk.model.run import SchemaReaction
from lakeguard_sdk.model.schema_changes import Reaction, SchemaChange

Answers = Mapping[SchemaChange, Reaction]

_TABLE = """
                    DEFAULT     STRICT ADDITIVE BACKWARD FORWARD     FULL   PERMISSIVE
ADD_NULLABLE        LEFT_OUT    BLOCK  ACCEPT   ACCEPT   ACCEPT      ACCEPT ACCEPT
ADD_REQUIRED        LEFT_OUT    BLOCK  BLOCK    BLOCK    ACCEPT      BLOCK  ACCEPT
DROP_NULLABLE       BLOCK       BLOCK  BLOCK    ACCEPT   ACCEPT      ACCEPT ACCEPT
DROP_REQUIRED       BLOCK       BLOCK  BLOCK    ACCEPT   BLOCK       BLOCK  ACCEPT
RENAME              BLOCK       BLOCK  BLOCK    BLOCK    BLOCK       BLOCK  ACCEPT
CASE_RENAME         BLOCK       BLOCK  BLOCK    ACCEPT   ACCEPT      ACCEPT ACCEPT
WIDEN               BLOCK       BLOCK  BLOCK    ACCEPT   BLOCK       BLOCK  ACCEPT
NARROW              ACCEPT_CAST BLOCK  BLOCK    BLOCK    ACCEPT_CAST BLOCK  ACCEPT_CAST
DECIMAL_SIZE        BLOCK       BLOCK  BLOCK    BLOCK    BLOCK       BLOCK  QUARANTINE_ROW
TIMEZONE            BLOCK       BLOCK  BLOCK    BLOCK    BLOCK       BLOCK  ACCEPT_CAST
INCOMPATIBLE_TYPE   BLOCK       BLOCK  BLOCK    BLOCK    BLOCK       BLOCK  QUARANTINE_ROW
RELAX_NULLABILITY   ACCEPT      BLOCK  BLOCK    ACCEPT   BLOCK       BLOCK  ACCEPT
TIGHTEN_NULLABILITY ACCEPT      BLOCK  BLOCK    BLOCK    ACCEPT      BLOCK  ACCEPT
REORDER             ACCEPT      ACCEPT ACCEPT   ACCEPT   ACCEPT      ACCEPT ACCEPT
NESTED_ADD          BLOCK       BLOCK  ACCEPT   ACCEPT   ACCEPT      ACCEPT ACCEPT
NESTED_DROP         BLOCK       BLOCK  BLOCK    ACCEPT   ACCEPT      ACCEPT ACCEPT
NESTED_CASE_RENAME  BLOCK       BLOCK  BLOCK    ACCEPT   ACCEPT      ACCEPT ACCEPT
NESTED_WIDEN        BLOCK       BLOCK  BLOCK    ACCEPT   BLOCK       BLOCK  ACCEPT
NESTED_NARROW       ACCEPT_CAST BLOCK  BLOCK    BLOCK    ACCEPT_CAST BLOCK  ACCEPT_CAST
NESTED_TYPE         BLOCK       BLOCK  BLOCK    BLOCK    BLOCK       BLOCK  QUARANTINE_ROW
KEY_CHANGE          BLOCK       BLOCK  BLOCK    BLOCK    BLOCK       BLOCK  BLOCK
PARTITION_CHANGE    BLOCK       BLOCK  BLOCK    BLOCK    BLOCK       BLOCK  BLOCK
COMMENT             ACCEPT      ACCEPT ACCEPT   ACCEPT   ACCEPT      ACCEPT ACCEPT
TAG                 ACCEPT      ACCEPT ACCEPT   ACCEPT   ACCEPT      ACCEPT ACCEPT
"""

_FLAGS = """
auto_add_columns       ACCEPT       ADD_NULLABLE ADD_REQUIRED NESTED_ADD
allow_column_drop      ACCEPT       DROP_NULLABLE DROP_REQUIRED NESTED_DROP
allow_type_widen       ACCEPT       WIDEN NESTED_WIDEN
allow_type_narrow      ACCEPT_CAST  NARROW NESTED_NARROW
allow_nullable_change  ACCEPT       RELAX_NULLABILITY TIGHTEN_NULLABILITY
"""

_POSSIBLE = """
ACCEPT LEFT_OUT BLOCK                    ADD_NULLABLE ADD_REQUIRED NESTED_ADD
ACCEPT BLOCK                             DROP_NULLABLE DROP_REQUIRED NESTED_DROP RENAME
ACCEPT BLOCK                             CASE_RENAME NESTED_CASE_RENAME REORDER COMMENT TAG
ACCEPT BLOCK                             RELAX_NULLABILITY TIGHTEN_NULLABILITY
ACCEPT ACCEPT_CAST QUARANTINE_ROW BLOCK  WIDEN
ACCEPT QUARANTINE_ROW BLOCK              NESTED_WIDEN
ACCEPT_CAST BLOCK                        NARROW NESTED_NARROW
ACCEPT_CAST QUARANTINE_ROW BLOCK         DECIMAL_SIZE TIMEZONE INCOMPATIBLE_TYPE
QUARANTINE_ROW BLOCK                     NESTED_TYPE
BLOCK                                    KEY_CHANGE PARTITION_CHANGE
"""


def _rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


def _built_in() -> dict[str, Answers]:
    names, *rows = _rows(_TABLE)
    return {
        name.lower(): {SchemaChange(row[0]): Reaction(row[at]) for row in rows}
        for at, name in enumerate(names, start=1)
    }


def _possible() -> dict[SchemaChange, tuple[Reaction, ...]]:
    reactions, changes = set(Reaction), set(SchemaChange)
    return {
        SchemaChange(word): tuple(Reaction(one) for one in row if one in reactions)
        for row in _rows(_POSSIBLE)
        for word in row
        if word in changes
    }


BUILT_IN: dict[str, Answers] = _built_in()
"""By profile name, in lower case."""

POSSIBLE: dict[SchemaChange, tuple[Reaction, ...]] = _possible()
"""Reactions that are possible for each class of change."""

FLAGS: dict[str, dict[SchemaChange, Reaction]] = {
    flag: {SchemaChange(word): Reaction(reaction) for word in words}
    for flag, reaction, *words in _rows(_FLAGS)
}
"""Reactions that each flag enables."""

_FREE = (SchemaChange.REORDER, SchemaChange.COMMENT, SchemaChange.TAG)


def answers_of(profile: ProfileDefinition) -> Answers:
    """Reactions of a custom profile."""
    answers = dict.fromkeys(SchemaChange, Reaction.BLOCK)
    answers |= dict.fromkeys(_FREE, Reaction.ACCEPT)
    for flag, allowed in FLAGS.items():
        answers |= allowed if getattr(profile, flag) else {}
    return {**answers, **profile.reactions}


# SCHEMA policies, which override the dataset's profile.


def breaches(mode: str, differences: Iterable[SchemaReaction]) -> tuple[SchemaReaction, ...]:
    """Differences that the mode blocks."""
    answers = BUILT_IN[mode.lower()]
    return tuple(item for item in differences if answers[item.change] is Reaction.BLOCK)


def guaranteed(
    differences: Iterable[SchemaReaction], modes: Collection[str]
) -> Iterator[SchemaReaction]:
    """The differences, with BLOCK for everything that one of the modes blocks."""
    for item in differences:
        breached = any(breaches(mode, (item,)) for mode in modes)
        blocked = {"reaction": Reaction.BLOCK, "why": ""}
        yield item.model_copy(update=blocked) if breached else item


DEFAULT = "default"


class SchemaTerms(FrozenModel):
    """Reactions pinned when a run opens, from the profile and the definition."""

    profile: str = DEFAULT
    answers: dict[SchemaChange, Reaction] = Field(default_factory=lambda: dict(BUILT_IN[DEFAULT]))
    promised: tuple[str, ...] = ()
    """Columns that the source itself must declare not nullable."""
    leave_out: tuple[str, ...] = ()
