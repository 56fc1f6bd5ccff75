"""``owner required``, ``owner in [team_a]``, ``description required``"""

from __future__ import annotations

import re
from typing import Literal

from lakeguard.gate.grammar.cursor import Cursor
from lakeguard.gate.grammar.pattern import matches_all_of
from lakeguard.gate.policy_types.policy_form import (
    FormReference,
    PolicyForm,
    PolicyInput,
    PolicyKind,
    PolicyResult,
)
from lakeguard.gate.policy_types.policy_tokens import (
    expect_list,
    expect_one_of,
    expect_pattern,
    list_text,
    quoted,
)
from lakeguard_sdk.core.dataset_name import WORD_PATTERN
from lakeguard_sdk.core.enums import PolicyType


class Required(PolicyForm):
    """The dataset has an owner or a description."""

    policy: Literal["required"] = "required"
    what: Literal["owner", "description"]

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        value = (
            policy_input.subject.owner if self.what == "owner" else policy_input.subject.description
        )
        if value.strip():
            return PolicyResult(
                True, f"it has an {self.what}" if self.what == "owner" else "described"
            )
        return PolicyResult(False, f"{policy_input.facts.dataset} has no {self.what}")

    def __str__(self) -> str:
        return f"{self.what} required"


class OwnerIn(PolicyForm):
    """The owner is one of the list, matched exactly."""

    policy: Literal["owner_in"] = "owner_in"
    owners: tuple[str, ...]

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        owner = policy_input.subject.owner
        if owner in self.owners:
            return PolicyResult(True, f"owned by {owner}")
        return PolicyResult(
            False, f"the owner is {owner or 'missing'}, not one of {len(self.owners):,}"
        )

    def __str__(self) -> str:
        return f"owner in {list_text(self.owners)}"


def _read(cursor: Cursor) -> PolicyForm:
    wanted = "owner required, owner in […] or description required"
    word = expect_one_of(cursor, wanted, "owner", "description")
    if word == "owner" and cursor.take_word("in"):
        return OwnerIn(owners=expect_list(cursor, "an owner"))
    expect_one_of(cursor, "required or in […]" if word == "owner" else "required", "required")
    return Required.model_validate({"what": word})


OWNERSHIP = PolicyKind(
    type=PolicyType.OWNERSHIP,
    summary="Who owns a dataset.",
    read=_read,
    forms=(
        FormReference(
            form="owner required",
            example="owner required",
            meaning="The dataset has an owner.",
            violated="it has none.",
        ),
        FormReference(
            form="owner in [<owner>, …]",
            example="owner in ['finance-team', platform]",
            meaning="The owner is one of these, matched exactly.",
            violated="the owner is another one or missing.",
        ),
        FormReference(
            form="description required",
            example="description required",
            meaning="The dataset has a description.",
            violated="it has none.",
        ),
    ),
)


# ``columns match '[a-z][a-z0-9_]*'``, ``dataset match '…'``

_POSSIBLE = {"columns": "[^\\x00-\\x1f\\x7f]+", "dataset": WORD_PATTERN}
"""Which names there may be at all: those of columns are printable and not empty."""


class NamesMatch(PolicyForm):
    """Every name matches the pattern in full."""

    policy: Literal["names_match"] = "names_match"
    of: Literal["columns", "dataset"]
    pattern: str

    def evaluate(self, policy_input: PolicyInput) -> PolicyResult:
        names = (
            policy_input.facts.declared.names
            if self.of == "columns"
            else (policy_input.facts.dataset.name,)
        )
        odd = [name for name in names if re.fullmatch(self.pattern, name, re.ASCII) is None]
        if odd:
            return PolicyResult(False, f"{', '.join(odd)} does not match {quoted(self.pattern)}")
        return PolicyResult(True, f"every name of {self.of} matches")

    def __str__(self) -> str:
        return f"{self.of} match {quoted(self.pattern)}"


def _read_naming(cursor: Cursor) -> NamesMatch:
    word = expect_one_of(cursor, "columns match '…' or dataset match '…'", "columns", "dataset")
    expect_one_of(cursor, "match", "match")
    place = cursor.token
    pattern = expect_pattern(cursor, "the pattern matches the whole name")
    if "\\p{" in pattern or "\\x{" in pattern:
        raise cursor.refuse(place, "use plain characters in a naming pattern")
    if matches_all_of(pattern, _POSSIBLE[word]):
        raise cursor.refuse(place, f"this always holds: every name of a {word.rstrip('s')} matches")
    return NamesMatch.model_validate({"of": word, "pattern": pattern})


NAMING = PolicyKind(
    type=PolicyType.NAMING,
    summary="Naming conventions.",
    read=_read_naming,
    forms=(
        FormReference(
            form="columns match '<pattern>'",
            example="columns match '[a-z][a-z0-9_]*'",
            meaning=("The whole name of every column matches the [pattern](rules.md#patterns)."),
            violated="a name does not match.",
        ),
        FormReference(
            form="dataset match '<pattern>'",
            example="dataset match '(dim|fact)_[a-z0-9_]+'",
            meaning="The whole name of the dataset, without its layer, matches the pattern.",
            violated="it does not match.",
        ),
    ),
)
